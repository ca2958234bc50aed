// Strikes: refusals that make an address doubtful, at most one a day. After three on different days
// within 30 days, with no delivery in between, the account no longer sends there. Counted by
// feedback and delivery with the events that report them.
import { addressKey } from '../addresses.ts';
import { bytesToUuid } from '../ids.ts';
import { among } from '../store/places.ts';
import type { Queryable } from '../store/pool.ts';
import { suppress } from './suppressions.ts';

const STRIKES_OUT = 3;
const WITHIN_DAYS = 30;

export interface Refusal {
  accountId: number;
  address: string;
  messageId: Buffer;
  /** `suppress`: the address does not work. `strike`: it is doubtful. */
  consequence: 'suppress' | 'strike';
}

/**
 * Counts strikes and suppresses addresses that do not work or have three. Returns for each refusal
 * whether its address is now suppressed.
 */
export async function judgeRefusals(
  client: Queryable,
  refusals: readonly Refusal[],
  nowMs: number,
): Promise<boolean[]> {
  const struckOut = await strike(
    client,
    refusals.filter(({ consequence }) => consequence === 'strike'),
    nowMs,
  );
  const isOut = (refusal: Refusal): boolean =>
    refusal.consequence === 'suppress' || struckOut.has(keyOf(refusal));
  await suppress(
    client,
    refusals.filter(isOut).map(({ accountId, address, messageId }) => ({
      ...{ accountId, address, reason: 'bounce' as const },
      messageUuid: bytesToUuid(messageId),
    })),
    'report',
  );
  return refusals.map(isOut);
}

/** One per day and address, however many emails bounced. Returns those that have three. */
async function strike(
  client: Queryable,
  refusals: readonly Refusal[],
  nowMs: number,
): Promise<ReadonlySet<string>> {
  if (refusals.length === 0) return new Set();
  const accounts = refusals.map(({ accountId }) => accountId);
  const addresses = refusals.map(({ address }) => addressKey(address));
  const today = new Date(nowMs).toISOString().slice(0, 10);
  await client.query(
    `INSERT INTO suppression_strikes (account_id, address, day)
     SELECT DISTINCT r.account_id, r.address, $3::date FROM unnest($1::bigint[], $2::text[]) AS r (account_id, address)
     ORDER BY r.account_id, r.address
     ON CONFLICT DO NOTHING`,
    [accounts, addresses, today],
  );
  const out = await client.query<{ account_id: number; address: string }>(
    `SELECT s.account_id, s.address FROM suppression_strikes s
     JOIN (SELECT DISTINCT * FROM unnest($1::bigint[], $2::text[])) AS r (account_id, address) USING (account_id, address)
     WHERE s.day > $3::date - ${WITHIN_DAYS} AND ${among('s.account_id', 4)}
     GROUP BY s.account_id, s.address HAVING count(*) >= ${STRIKES_OUT}`,
    [accounts, addresses, today, client.home(accounts)],
  );
  return new Set(out.map((row) => `${row.account_id} ${row.address}`));
}

const keyOf = ({ accountId, address }: Refusal): string => `${accountId} ${addressKey(address)}`;

/** The address accepts email again: a delivery, or a person who knows better. */
export async function forgetStrikes(
  client: Queryable,
  delivered: readonly { accountId: number; address: string }[],
): Promise<void> {
  if (delivered.length === 0) return;
  await client.query(
    `DELETE FROM suppression_strikes s USING unnest($1::bigint[], $2::text[]) AS d (account_id, address)
     WHERE s.account_id = d.account_id AND s.address = d.address AND ${among('s.account_id', 3)}`,
    [
      delivered.map(({ accountId }) => accountId),
      delivered.map(({ address }) => addressKey(address)),
      client.home(delivered.map(({ accountId }) => accountId)),
    ],
  );
}

export async function pruneStrikes(client: Queryable): Promise<void> {
  await client.query(`DELETE FROM suppression_strikes WHERE day <= current_date - ${WITHIN_DAYS}`);
}
