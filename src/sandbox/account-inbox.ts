// An account's part of the sandbox's inbox: its mailbox for tests. Before it: operations/sandbox.ts
// and waiting.ts.
import { Problem } from '../errors.ts';
import { firstUuidAt, readUuid, showUuid } from '../ids.ts';
import { type LargeValue, readInPieces } from '../store/pieces.ts';
import type { Database } from '../store/pool.ts';
import type { EmailLink } from './links.ts';

export interface OwnCapturedEmail {
  id: string;
  capturedAt: string;
  from: string;
  recipients: string[];
  subject: string;
  messageId: string;
  /** The door through which its message came. */
  door: string | null;
  size: number;
  codes: string[];
  links: EmailLink[];
}

/** Which of the account's emails; a null field matches any. */
export interface Wanted {
  /** A recipient of the envelope, case-insensitive. */
  to: string | null;
  /** A part of it, case-insensitive. */
  subject: string | null;
  /** Captured later than the email with this uuid. */
  afterUuid: string | null;
}

interface OwnRow extends Omit<OwnCapturedEmail, 'id' | 'capturedAt' | 'messageId'> {
  uuid: string;
  capturedAt: Date;
  messageUuid: string;
}

const COLUMNS = `s.id AS uuid, s.captured_at AS "capturedAt", s.header_from AS "from", s.recipients,
  s.subject, s.message_id AS "messageUuid", s.door, octet_length(s.raw) AS size, s.codes, s.links`;

/** For a row `s`, and the values `to`, `subject` and `after` of `w`. */
export const IS_WANTED = `(w."to" IS NULL OR lower(w."to") = ANY (lower(s.recipients::text)::text[]))
  AND (w.subject IS NULL OR strpos(lower(s.subject), lower(w.subject)) > 0)
  AND (w.after IS NULL OR s.id > w.after)`;

const ONE_WISH = `(SELECT $2::text AS "to", $3::text AS subject, $4::uuid AS after) w`;

const valuesOf = ({ to, subject, afterUuid }: Wanted) => [to, subject, afterUuid];

/** Newest first; `beforeId` is the last id on the previous page. */
export async function listOwnCaptured(
  database: Database,
  accountId: number,
  wanted: Wanted,
  page: { beforeId?: string | undefined; limit: number },
): Promise<OwnCapturedEmail[]> {
  const before = page.beforeId === undefined ? null : (readUuid('sbx_', page.beforeId) ?? null);
  const rows = await database.query<OwnRow>(
    `SELECT ${COLUMNS} FROM sandbox_mails s, ${ONE_WISH}
     WHERE s.account_id = $1 AND ${IS_WANTED} AND ($5::uuid IS NULL OR s.id < $5)
     ORDER BY s.id DESC LIMIT $6`,
    [accountId, ...valuesOf(wanted), before, page.limit],
  );
  return rows.map(toOwn);
}

/** By its own id, or by that of the message (then the newest). */
export async function getOwnCaptured(
  database: Database,
  accountId: number,
  id: string,
): Promise<OwnCapturedEmail & { raw: Buffer }> {
  const [row] = await database.query<OwnRow>(
    `SELECT ${COLUMNS} FROM sandbox_mails s
     WHERE s.account_id = $1 AND (s.id = $2 OR s.message_id = $3) ORDER BY s.id DESC LIMIT 1`,
    [accountId, readUuid('sbx_', id) ?? null, readUuid('msg_', id) ?? null],
  );
  const raw =
    row && (await readInPieces(database, rawOf(accountId, row), { at: 0, length: row.size }));
  if (raw === undefined) {
    throw new Problem('not-found', `The sandbox has no email ${id.slice(0, 64)} of this account.`);
  }
  return { ...toOwn(row!), raw };
}

const rawOf = (accountId: number, { uuid }: OwnRow): LargeValue => ({
  ...{ table: 'sandbox_mails', column: 'raw', key: 'id', accountId, uuid },
});

export async function clearOwnCaptured(
  database: Database,
  accountId: number,
  to: string | null,
): Promise<number> {
  const rows = await database.query(
    `DELETE FROM sandbox_mails s USING ${ONE_WISH}
     WHERE s.account_id = $1 AND ${IS_WANTED} RETURNING s.id`,
    [accountId, ...valuesOf({ to, subject: null, afterUuid: null })],
  );
  return rows.length;
}

/** What `after` may be: the id of a captured email or of a message, or an instant. */
export function readAfter(text: string): string | undefined {
  const uuid = readUuid('sbx_', text) ?? readUuid('msg_', text);
  if (uuid !== undefined) return uuid;
  const instant = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(instant) ? undefined : firstUuidAt(instant);
}

const toOwn = ({ uuid, capturedAt, messageUuid, ...row }: OwnRow): OwnCapturedEmail => ({
  ...row,
  id: showUuid('sbx_', uuid),
  capturedAt: capturedAt.toISOString(),
  messageId: showUuid('msg_', messageUuid),
});
