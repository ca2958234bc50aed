// Suppressions: addresses an account must not write to any more. Asked by delivery when a mail is
// handed over; written by feedback, unsubscribes and people.
import { addressKey, parseAddress } from '../addresses.ts';
import { type Fault, Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';

export const SUPPRESSION_REASONS = ['bounce', 'complaint', 'unsubscribe', 'manual'] as const;
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number];

export interface Suppression {
  accountId: number;
  address: string;
  reason: SuppressionReason;
  messageUuid: string | null;
}

/** Adds what is not there yet and answers which; the first reason stays. */
export async function suppress(
  client: Queryable,
  entries: readonly Suppression[],
): Promise<string[]> {
  if (entries.length === 0) return [];
  const added = await client.query<{ address: string }>(
    `INSERT INTO suppressions (account_id, address, reason, message_id)
     SELECT DISTINCT ON (s.account_id, s.address) s.*
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::uuid[]) AS s (account_id, address, reason, message_id)
     ORDER BY s.account_id, s.address
     ON CONFLICT DO NOTHING RETURNING address`,
    [
      entries.map((entry) => entry.accountId),
      entries.map((entry) => addressKey(entry.address)),
      entries.map((entry) => entry.reason),
      entries.map((entry) => entry.messageUuid),
    ],
  );
  return added.map(({ address }) => address);
}

/**
 * Which of the recipients are suppressed, as `account address` of their normalised form: see
 * `suppressionKey`.
 */
export async function suppressedAmong(
  database: Database,
  recipients: readonly { accountId: number; address: string }[],
): Promise<Set<string>> {
  const rows = await database.prepared<{ account_id: number; address: string }>(
    'suppressed-among',
    `SELECT s.account_id, s.address FROM suppressions s
     JOIN unnest($1::bigint[], $2::text[]) AS r (account_id, address)
       ON s.account_id = r.account_id AND s.address = r.address`,
    [
      recipients.map((recipient) => recipient.accountId),
      recipients.map((recipient) => addressKey(recipient.address)),
    ],
  );
  return new Set(rows.map((row) => `${row.account_id} ${row.address}`));
}

export const suppressionKey = (accountId: number, address: string): string =>
  `${accountId} ${addressKey(address)}`;

// ---- What the owner of an account sees and changes ----------------------------------------------

export interface ListedSuppression {
  address: string;
  reason: SuppressionReason;
  /** The mail that led to it. */
  messageId: string | null;
  createdAt: string;
}

/** By address; `after` is the address the last page ended with. */
export async function listSuppressions(
  database: Queryable,
  accountId: number,
  page: { search?: string | undefined; after?: string | undefined; limit: number },
): Promise<ListedSuppression[]> {
  const rows = await database.query<SuppressionRow>(
    `SELECT ${COLUMNS} FROM suppressions
     WHERE account_id = $1 AND ($2::text IS NULL OR address > $2) AND ($3::text IS NULL OR position($3 IN address) > 0)
     ORDER BY address LIMIT $4`,
    [accountId, page.after ?? null, page.search?.toLowerCase() ?? null, page.limit],
  );
  return rows.map(toListed);
}

export async function findSuppression(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<ListedSuppression> {
  const [row] = await database.query<SuppressionRow>(
    `SELECT ${COLUMNS} FROM suppressions WHERE account_id = $1 AND address = $2`,
    [accountId, readAddress(text)],
  );
  if (row === undefined) throw notSuppressed(text);
  return toListed(row);
}

/** By hand. An address that is there already stays with its reason. */
export async function addSuppression(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<ListedSuppression> {
  const address = readAddress(text);
  await suppress(database, [{ accountId, address, reason: 'manual', messageUuid: null }]);
  return await findSuppression(database, accountId, address);
}

/** Many by hand, all or none; answers those that were not there yet. */
export async function addSuppressions(
  database: Queryable,
  accountId: number,
  texts: readonly string[],
  reason: SuppressionReason,
): Promise<string[]> {
  const addresses: string[] = [];
  const faults: Fault[] = [];
  for (const [index, text] of texts.entries()) {
    const read = parseAddress(text.trim());
    if (!('fault' in read)) addresses.push(read.address);
    else faults.push({ path: `addresses[${index}]`, message: noAddress(text, read.fault) });
  }
  if (faults.length > 0) {
    const others = faults.length === 1 ? '' : ` ${faults.length - 1} more are not either.`;
    throw new Problem(
      'invalid',
      `${faults[0]!.path}: ${faults[0]!.message}${others} Nothing was added.`,
      { faults },
    );
  }
  const entries = addresses.map((address) => ({ accountId, address, reason, messageUuid: null }));
  return await suppress(database, entries);
}

/** From now on the account may write to the address again. */
export async function removeSuppression(
  database: Queryable,
  accountId: number,
  text: string,
): Promise<ListedSuppression> {
  const [row] = await database.query<SuppressionRow>(
    `WITH forgotten AS (DELETE FROM suppression_strikes WHERE account_id = $1 AND address = $2)
     DELETE FROM suppressions WHERE account_id = $1 AND address = $2 RETURNING ${COLUMNS}`,
    [accountId, readAddress(text)],
  );
  if (row === undefined) throw notSuppressed(text);
  return toListed(row);
}

const notSuppressed = (text: string): Problem =>
  new Problem('not-found', `${text.slice(0, 320)} is not on the suppression list.`);

const COLUMNS = 'address, reason, message_id AS uuid, created_at AS "createdAt"';

interface SuppressionRow {
  address: string;
  reason: SuppressionReason;
  uuid: string | null;
  createdAt: Date;
}

const toListed = ({ uuid, createdAt, ...row }: SuppressionRow): ListedSuppression => ({
  ...row,
  messageId: uuid && showUuid('msg_', uuid),
  createdAt: createdAt.toISOString(),
});

function readAddress(text: string): string {
  const mailbox = parseAddress(text.trim());
  if ('fault' in mailbox) {
    throw new Problem('invalid', noAddress(text, mailbox.fault));
  }
  return addressKey(mailbox.address);
}

const noAddress = (text: string, fault: string): string =>
  `"${text.slice(0, 200)}" is not an email address: ${fault}.`;
