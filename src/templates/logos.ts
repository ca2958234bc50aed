// Uploaded logos: checked by their bytes and stored under their hash, so that an address always
// means the same image. Before it: operations/branding.ts. After it: inbound/logo.ts serves it to
// email programs, or rendering.ts puts it into the email if the branding says so.
import { createHash } from 'node:crypto';
import { readStrictBase64 } from '../bytes/base64.ts';
import { Problem } from '../errors.ts';
import type { Queryable } from '../store/pool.ts';
import type { Branding } from './branding-fields.ts';
import type { CarriedImage } from './carried-file.ts';
import { type ImageKind, readImageKind } from './image-kinds.ts';
import { LOGO_PATH, type LogoName, logoNameIn, MOST_LOGO_BYTES } from './logo-names.ts';

const MOST_PIXELS = 4000;
/** Emails already sent show the old ones; beyond this number the oldest is lost. */
const MOST_LOGOS = 50;

export interface Logo {
  hash: string;
  contentType: ImageKind['contentType'];
  content: Buffer;
}

/** A Problem says why it cannot be a logo. */
export function readLogo(base64: string): Logo & ImageKind {
  const content = readStrictBase64(base64);
  if (content === undefined) throw refused('is not base64 in the standard alphabet with padding');
  if (content.length > MOST_LOGO_BYTES) {
    const size = Math.ceil(content.length / 1024);
    throw refused(
      `is ${size} KB; a logo may be at most ${MOST_LOGO_BYTES / 1024}. Make it smaller`,
    );
  }
  const kind = readImageKind(content);
  if (kind === undefined) throw refused('is not a PNG, JPEG, GIF or WebP image. Give one of these');
  if (kind.width > MOST_PIXELS || kind.height > MOST_PIXELS) {
    throw refused(
      `is ${kind.width} × ${kind.height} pixels; a logo may be at most ${MOST_PIXELS} in each direction. Make it smaller`,
    );
  }
  const hash = createHash('sha256').update(content).digest('hex');
  return { hash, content, ...kind };
}

const refused = (why: string): Problem =>
  new Problem('invalid', `content_base64: the file ${why}.`, { at: 'content_base64' });

/** The caller holds the account's row. */
export async function keepLogo(
  client: Queryable,
  accountId: number,
  { hash, contentType, content }: Logo,
): Promise<void> {
  await client.query(
    `INSERT INTO logos (account_id, hash, content_type, content) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, hash) DO UPDATE SET created_at = excluded.created_at`,
    [accountId, hash, contentType, content],
  );
  await client.query(
    `DELETE FROM logos WHERE account_id = $1 AND hash IN (
       SELECT hash FROM logos WHERE account_id = $1 ORDER BY created_at DESC, hash OFFSET $2)`,
    [accountId, MOST_LOGOS],
  );
}

export async function findLogo(
  database: Queryable,
  { accountId, hash }: LogoName,
): Promise<Logo | undefined> {
  const [logo] = await database.prepared<Logo>(
    'logo',
    `SELECT hash, content_type AS "contentType", content FROM logos
     WHERE account_id = $1 AND hash = $2`,
    [accountId, hash],
  );
  return logo;
}

export const logoUrl = (
  baseUrl: string,
  accountId: number,
  { hash, extension }: Logo & ImageKind,
): string => `${baseUrl}${LOGO_PATH}${accountId}/${hash}.${extension}`;

/** What emails carry; null: their logo is fetched from its address, or they have none. */
export async function carriedLogo(
  database: Queryable,
  accountId: number,
  { logo_inline, logo_url = '' }: Branding,
): Promise<CarriedImage | null> {
  const name = logo_inline ? logoNameIn(logo_url) : undefined;
  if (name?.accountId !== accountId) return null;
  const logo = await findLogo(database, name);
  if (logo === undefined) return null;
  return {
    contentId: `logo-${logo.hash.slice(0, 20)}`,
    filename: `logo${/\.\w+$/.exec(logo_url)![0]}`,
    contentType: logo.contentType,
    content: logo.content,
  };
}
