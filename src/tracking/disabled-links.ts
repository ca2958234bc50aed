// Links that an operator switched off: one target of a message, all links of a message, or a host
// for everyone. Written by `sandmartin link`; link-switch.ts checks on every click.
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Queryable } from '../store/pool.ts';

/** `url` null: every link of the message. */
export type DisabledTarget =
  | { messageId: string; accountId?: number | undefined; url: string | null }
  | { host: string };

export interface DisabledLink {
  accountId: number | null;
  messageId: string | null;
  /** Null: all links of the message, or all of the host. */
  url: string | null;
  host: string | null;
  reason: string;
  disabledAt: string;
}

export async function disableLink(
  database: Queryable,
  target: DisabledTarget,
  reason: string,
): Promise<void> {
  if ('host' in target) {
    await database.query(
      `INSERT INTO disabled_link_hosts (host, reason) VALUES ($1, $2)
       ON CONFLICT (host) DO UPDATE SET reason = excluded.reason`,
      [readHost(target.host), reason],
    );
    return;
  }
  const uuid = uuidOf(target.messageId);
  await database.query(
    `INSERT INTO disabled_links (account_id, message_id, url, reason) VALUES ($1, $2, $3, $4)
     ON CONFLICT (account_id, message_id, url) DO UPDATE SET reason = excluded.reason`,
    [
      target.accountId ?? (await accountOf(database, target.messageId, uuid)),
      uuid,
      target.url === null ? '' : readUrl(target.url),
      reason,
    ],
  );
}

/** The same target that was disabled. */
export async function enableLink(database: Queryable, target: DisabledTarget): Promise<void> {
  const rows =
    'host' in target
      ? await database.query('DELETE FROM disabled_link_hosts WHERE host = $1 RETURNING host', [
          readHost(target.host),
        ])
      : await database.query(
          'DELETE FROM disabled_links WHERE message_id = $1 AND url = $2 RETURNING url',
          [uuidOf(target.messageId), target.url === null ? '' : readUrl(target.url)],
        );
  if (rows.length === 0) {
    throw new Problem('not-found', 'Nothing like that is switched off.', {
      see: 'list_disabled_links',
    });
  }
}

/** Newest first. */
export async function listDisabled(database: Queryable): Promise<DisabledLink[]> {
  const rows = await database.query<{
    accountId: number | null;
    uuid: string | null;
    url: string | null;
    host: string | null;
    reason: string;
    at: Date;
  }>(
    `SELECT account_id AS "accountId", message_id AS uuid, nullif(url, '') AS url, NULL AS host, reason, disabled_at AS at
     FROM disabled_links
     UNION ALL SELECT NULL, NULL, NULL, host, reason, disabled_at FROM disabled_link_hosts
     ORDER BY at DESC LIMIT 1000`,
  );
  return rows.map(({ uuid, at, ...row }) => ({
    ...row,
    messageId: uuid && showUuid('msg_', uuid),
    disabledAt: at.toISOString(),
  }));
}

function uuidOf(messageId: string): string {
  const uuid = readUuid('msg_', messageId);
  if (uuid !== undefined) return uuid;
  throw new Problem(
    'invalid',
    `"${messageId.slice(0, 64)}" is not a message id; they begin with msg_.`,
  );
}

async function accountOf(database: Queryable, messageId: string, uuid: string): Promise<number> {
  const [row] = await database.query<{ account_id: number }>(
    'SELECT account_id FROM messages WHERE id = $1',
    [uuid],
  );
  if (row !== undefined) return row.account_id;
  throw new Problem(
    'not-found',
    `There is no message ${messageId}. If it is older than RETENTION_DAYS, say whose it was with --account.`,
  );
}

/** As a browser would write it, so that two spellings of one URL are equal. */
function readUrl(text: string): string {
  if (URL.canParse(text)) return new URL(text).href;
  throw new Problem(
    'invalid',
    `"${text.slice(0, 200)}" is not a URL. Give it as it is in the email.`,
  );
}

function readHost(text: string): string {
  const url = `https://${text}/`;
  // A trailing dot does not change where a link leads.
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : '';
  if (host !== '' && !/[/:@?#]/.test(text)) return host;
  throw new Problem('invalid', `"${text.slice(0, 200)}" is not a host name such as evil.example.`);
}
