// Streams: the kinds of email an account sends, each of which its recipients can leave separately.
// sending/accept.ts asks for every send that names one; recipients see them on the preference page;
// who left which is in suppressions/unsubscribes.ts.
import { lockAccount } from '../accounts/accounts.ts';
import { raiseVersion } from '../accounts/version.ts';
import { Problem } from '../errors.ts';
import { DEFAULT_STREAM, type StreamKind } from '../messages/stream.ts';
import { nearest } from '../nearest.ts';
import type { Database, Queryable } from '../store/pool.ts';

export interface Stream {
  name: string;
  kind: StreamKind;
  /** The name that recipients see. */
  title: string;
  /** What they get if they stay. */
  description: string;
  /** Whether recipients can leave it: List-Unsubscribe, and a place on the preference page. */
  unsubscribe: boolean;
  createdAt: string | null;
  /** Sends that name it have been refused since then. */
  archivedAt: string | null;
}

export interface StreamChange {
  kind?: StreamKind | undefined;
  title?: string | undefined;
  description?: string | undefined;
  unsubscribe?: boolean | undefined;
}

/** Each is a choice on the preference page: with more, nobody could choose. */
const MOST_STREAMS = 50;

// ---- For sends and templates --------------------------------------------------------------------

export type KnownStreams = ReadonlyMap<string, StreamKind>;

/** Those that accept email, by name; cached until the account changes. */
export async function loadStreams(database: Queryable, accountId: number): Promise<KnownStreams> {
  const rows = await database.prepared<{ name: string; kind: StreamKind }>(
    'streams-in-use',
    'SELECT name, kind FROM streams WHERE account_id = $1 AND archived_at IS NULL',
    [accountId],
  );
  return new Map([
    [DEFAULT_STREAM, 'transactional'],
    ...rows.map(({ name, kind }) => [name, kind] as const),
  ]);
}

/** The kind of the stream, or a Problem that names the closest existing one. */
export function requireStream(known: KnownStreams, name: string): StreamKind {
  const kind = known.get(name);
  if (kind !== undefined) return kind;
  const near = nearest(name, [...known.keys()]);
  const advice =
    near === undefined ? `It has ${[...known.keys()].join(', ')}.` : `Did you mean ${near}?`;
  const message = `stream: the account has no stream "${name.slice(0, 64)}" in use. ${advice}`;
  throw new Problem('invalid', message, { at: 'stream', see: 'list_streams' });
}

/** Emails that people need to get into their account cannot be left; a broadcast always can. */
export function unfitStream(name: string, category: string | null): Problem {
  const message = `stream: ${name} is a broadcast stream, which recipients can leave; emails of the category ${category} must reach them. Use a transactional stream.`;
  return new Problem('invalid', message, { at: 'stream' });
}

// ---- What the owner of an account sees and changes ----------------------------------------------

/** The default stream first, then by name; archived ones too. */
export async function listStreams(database: Queryable, accountId: number): Promise<Stream[]> {
  const [account] = await database.query<{ oneClick: boolean }>(
    'SELECT one_click_unsubscribe AS "oneClick" FROM accounts WHERE id = $1',
    [accountId],
  );
  const oneClick = account?.oneClick ?? false;
  const rows = await database.query<StreamRow>(
    `SELECT name, kind, title, description, unsubscribe, created_at AS "createdAt", archived_at AS "archivedAt"
     FROM streams WHERE account_id = $1 ORDER BY name`,
    [accountId],
  );
  const streams = rows.map((row) => toStream(row, oneClick));
  const own = streams.find(({ name }) => name === DEFAULT_STREAM);
  return [own ?? impliedStream(oneClick), ...streams.filter((it) => it !== own)];
}

export async function findStream(
  database: Queryable,
  accountId: number,
  name: string,
): Promise<Stream> {
  const found = (await listStreams(database, accountId)).find((it) => it.name === name);
  if (found !== undefined) return found;
  throw new Problem('not-found', `The account has no stream "${name.slice(0, 64)}".`, {
    see: 'list_streams',
  });
}

/**
 * Creates it, or changes the given fields; an archived one comes back into use. Its kind cannot
 * change: people stayed in a stream for what it was.
 */
export async function putStream(
  database: Database,
  accountId: number,
  name: string,
  change: StreamChange,
): Promise<Stream> {
  checkName(name);
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    const streams = await listStreams(client, accountId);
    const before = streams.find((it) => it.name === name);
    const kind = checkKind(name, change, before);
    if (before === undefined && streams.length >= MOST_STREAMS) {
      throw new Problem(
        'invalid',
        `An account can have at most ${MOST_STREAMS} streams, archived ones included. Reuse one of those.`,
        { at: 'name' },
      );
    }
    await client.query(
      `INSERT INTO streams AS s (account_id, name, kind, title, description, unsubscribe)
       VALUES ($1, $2, $3, coalesce($4, $7), coalesce($5, ''), CASE WHEN $3 = 'broadcast' THEN true ELSE $6 END)
       ON CONFLICT (account_id, name) DO UPDATE SET title = coalesce($4, s.title),
         description = coalesce($5, s.description), unsubscribe = coalesce($6, s.unsubscribe), archived_at = NULL`,
      [
        accountId,
        name,
        kind,
        change.title || null,
        change.description ?? null,
        change.unsubscribe ?? null,
        titleOf(name),
      ],
    );
    await raiseVersion(client, accountId);
    return await findStream(client, accountId, name);
  });
}

/**
 * Takes it out of use: sends that name it are refused. People who left it stay out, even if it
 * comes back.
 */
export async function archiveStream(
  database: Database,
  accountId: number,
  name: string,
): Promise<Stream> {
  if (name === DEFAULT_STREAM) {
    throw new Problem(
      'invalid',
      `The stream ${DEFAULT_STREAM} belongs to every account and cannot be removed: email that names no stream goes through it.`,
      { at: 'name' },
    );
  }
  return await database.transaction(async (client) => {
    await lockAccount(client, accountId);
    await findStream(client, accountId, name);
    const using = await client.query<{ slug: string }>(
      `SELECT slug FROM account_templates
       WHERE account_id = $1 AND stream = $2 AND archived_at IS NULL ORDER BY slug LIMIT 4`,
      [accountId, name],
    );
    if (using.length > 0) {
      const slugs = using.slice(0, 3).map(({ slug }) => slug);
      const more = using.length > 3 ? ' and more' : '';
      throw new Problem(
        'conflict',
        `Templates send through the stream ${name}: ${slugs.join(', ')}${more}. Give them another stream first.`,
      );
    }
    await client.query(
      `UPDATE streams SET archived_at = least(archived_at, now())
       WHERE account_id = $1 AND name = $2`,
      [accountId, name],
    );
    await raiseVersion(client, accountId);
    return await findStream(client, accountId, name);
  });
}

function checkName(name: string): void {
  if (name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)) return;
  throw new Problem(
    'invalid',
    'name must be lower-case letters, digits and single hyphens, at most 64, such as product-news.',
    { at: 'name' },
  );
}

function checkKind(name: string, wanted: StreamChange, before: Stream | undefined): StreamKind {
  const kind = wanted.kind ?? before?.kind;
  if (kind === undefined) {
    throw new Problem('invalid', 'kind is missing: say transactional or broadcast.', {
      at: 'kind',
    });
  }
  if (before !== undefined && kind !== before.kind) {
    throw new Problem(
      'invalid',
      `kind: the stream ${name} is ${before.kind} and its kind cannot change, since its recipients chose that. Create another stream.`,
      { at: 'kind' },
    );
  }
  if (kind === 'broadcast' && wanted.unsubscribe === false) {
    throw new Problem(
      'invalid',
      'unsubscribe: recipients can always leave a broadcast stream. Leave it out, or make the stream transactional.',
      { at: 'unsubscribe' },
    );
  }
  return kind;
}

interface StreamRow extends Omit<Stream, 'unsubscribe' | 'createdAt' | 'archivedAt'> {
  unsubscribe: boolean | null;
  createdAt: Date;
  archivedAt: Date | null;
}

const toStream = (row: StreamRow, oneClick: boolean): Stream => ({
  ...row,
  unsubscribe: row.unsubscribe ?? oneClick,
  createdAt: row.createdAt.toISOString(),
  archivedAt: row.archivedAt?.toISOString() ?? null,
});

const impliedStream = (unsubscribe: boolean): Stream => ({
  name: DEFAULT_STREAM,
  kind: 'transactional',
  title: titleOf(DEFAULT_STREAM),
  description: '',
  unsubscribe,
  createdAt: null,
  archivedAt: null,
});

/** `product-news` → `Product news`, until someone gives it a title. */
const titleOf = (name: string): string =>
  name === DEFAULT_STREAM
    ? 'Service emails'
    : `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('-', ' ')}`;

/** Over all accounts, for the operator. */
export async function countBroadcasts(database: Queryable): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM streams
     WHERE kind = 'broadcast' AND archived_at IS NULL`,
  );
  return row?.count ?? 0;
}
