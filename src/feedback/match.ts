// Which email of ours a report is about, if the address it came to does not say: complaints, and
// reports of Amazon SES. Before: report.ts or ses.ts read it. After: record.ts. A token of ours in
// the returned copy is proof, whoever sends it. Without one a report counts only if the operator
// trusts its reporter; then each step is a better guess than none.
import { addressKey } from '../addresses.ts';
import { firstUuidAt, readId, uuidToBytes } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import { readWith, type TokenKeys } from '../store/token-keys.ts';
import type { Report } from './report.ts';
import { readCopyToken, type Subject } from './return-path.ts';

const HOUR_MS = 3_600_000;
/** An email may wait a day in our queue and some more in the relay's. */
const SENT_BEFORE_MS = 30 * HOUR_MS;
const CLOCK_SKEW_MS = 10 * 60_000;
/** SES reports opens and complaints days later. */
const RELAY_ID_MS = 72 * HOUR_MS;
/**
 * Searches without the account cannot use its index. Anyone may send complaints, so these searches
 * are short and run one at a time.
 */
const SEARCH_MS = 3000;

export interface Matcher {
  /** What a token of ours in the report proves. */
  prove(report: Report): Subject | undefined;
  /** The email that a trusted reporter refers to. */
  guess(report: Report, hints: { relayMessageId?: string }): Promise<Subject | undefined>;
}

export function createMatcher(deps: {
  database: Database;
  clock: Clock;
  returnPathKeys: TokenKeys;
}): Matcher {
  let last: Promise<unknown> = Promise.resolve();

  function search(text: string, values: unknown[]): Promise<Subject | undefined> {
    const mine = last.then(() => searchOne(deps.database, text, values));
    last = mine.catch(() => undefined);
    return mine;
  }

  return {
    prove({ original: { token } }) {
      if (token === null) return undefined;
      const nowMs = deps.clock.nowMs();
      return readWith(deps.returnPathKeys, (key) => readCopyToken(key, token, nowMs));
    },

    async guess(report, { relayMessageId }) {
      const { original } = report;
      const receivedAtMs = deps.clock.nowMs();
      for (const id of ownIds(report)) {
        const found = await search('SELECT account_id, id FROM messages WHERE id = $1', [id]);
        if (found) return found;
      }
      if (relayMessageId !== undefined) {
        return await search(BY_RELAY_ID, [relayMessageId, ...between(receivedAtMs, RELAY_ID_MS)]);
      }
      const recipients = namedRecipients(report);
      if (recipients.length === 0) return undefined;
      return await search(BY_RECIPIENT, [
        recipients,
        original.senders.map(addressKey),
        ...between(original.arrivedAt?.getTime() ?? receivedAtMs, SENT_BEFORE_MS),
      ]);
    },
  };
}

/** A relay chooses its own ids; one that it used twice identifies nothing. */
const BY_RELAY_ID = `
  SELECT min(account_id) AS account_id, (array_agg(id))[1] AS id FROM messages
  WHERE relay_message_id = $1 AND id BETWEEN $2 AND $3 HAVING count(*) = 1`;

/**
 * The newest email to this recipient, from this sender if the report names one; none if two
 * accounts sent to them.
 */
const BY_RECIPIENT = `
  SELECT min(account_id) AS account_id, (array_agg(id ORDER BY id DESC))[1] AS id FROM messages
  WHERE id BETWEEN $3 AND $4
    AND EXISTS (SELECT FROM unnest(recipients) r WHERE lower(r) = ANY ($1::text[]))
    AND ($2::text[] = '{}' OR lower(from_email) = ANY ($2))
  HAVING count(DISTINCT account_id) = 1`;

async function searchOne(
  database: Database,
  text: string,
  values: unknown[],
): Promise<Subject | undefined> {
  try {
    const [row] = await database.transaction(async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${SEARCH_MS}`);
      return await client.query<{ account_id: number; id: string }>(text, values);
    });
    return (
      row && {
        email: { accountId: row.account_id, messageId: uuidToBytes(row.id) },
        about: 'named',
      }
    );
  } catch (error) {
    // query_canceled: it would have taken too long.
    if ((error as { code?: unknown }).code === '57014') return undefined;
    throw error;
  }
}

/**
 * Our header, the envelope id (RFC 3461) and the left part of our Message-ID are all the message's
 * id.
 */
function ownIds({ original }: Report): string[] {
  const written = [original.ourId, original.envelopeId, original.messageId?.split('@')[0]];
  const ids = written.flatMap((text) => {
    const bytes = text ? readId('msg_', text) : undefined;
    return bytes ? [bytes.toString('hex')] : [];
  });
  return [...new Set(ids)];
}

function namedRecipients(report: Report): string[] {
  const named = report.recipients.flatMap(({ address }) => (address === null ? [] : [address]));
  return [...new Set(named.map(addressKey))];
}

const between = (timeMs: number, beforeMs: number): [string, string] => [
  firstUuidAt(timeMs - beforeMs),
  firstUuidAt(timeMs + CLOCK_SKEW_MS),
];
