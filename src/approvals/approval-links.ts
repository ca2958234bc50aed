// The people who are asked for an approval, and the one-time link each of them gets by email. Only
// a hash of a link is stored. The link shows the email as it is when someone looks, the decision
// names the fingerprint of what they saw, and a decision removes all links of the email. Emailed by
// notices/deliver-notices.ts, used at inbound/approval.ts.
import { makeToken, readToken } from '../accounts/one-time-token.ts';
import { readUuid, showUuid } from '../ids.ts';
import { among } from '../store/places.ts';
import type { Database, Queryable } from '../store/pool.ts';

/** Under BASE_URL, followed by the token. */
export const APPROVAL_PATH = '/approve/';

/**
 * Emails to the approvers of one account within an hour; the page shows everything that is waiting.
 */
const MOST_TOLD_AN_HOUR = 20;

interface Untold {
  accountId: number;
  uuid: string;
}

/** Records a notice for everyone who may approve an email that nobody has been told of yet. */
export async function tellApprovers(database: Database): Promise<void> {
  const looks = await Promise.allSettled(
    database.nodes().map(async (node) => {
      for (const held of await findUntold(node.database)) await tellOf(database, held);
    }),
  );
  // One that is away does not hold up the others.
  for (const look of looks) if (look.status === 'rejected') throw look.reason;
}

async function findUntold(node: Database): Promise<Untold[]> {
  const homes = await node.prepared<{ home: number[] | null }>(
    'untold-homes',
    'SELECT homes_here($1::regclass, $2) AS home',
    ['approvals', UNTOLD],
  );
  const found = homes.map(({ home }) =>
    node.prepared<Untold>(
      'untold-approvals',
      `SELECT a.account_id AS "accountId", a.message_id AS uuid FROM approvals a
       WHERE ${UNTOLD} AND ${among('a.account_id', 1)}
         AND (SELECT count(*) FROM approvals o WHERE o.account_id = a.account_id
              AND o.told_at > now() - interval '1 hour' AND ${among('o.account_id', 1)}) < ${MOST_TOLD_AN_HOUR}
       ORDER BY a.message_id LIMIT 20`,
      [home],
    ),
  );
  return (await Promise.all(found)).flat();
}

const UNTOLD = `state = 'waiting' AND told_at IS NULL AND expires_at > now()`;

/** Several processes may have noticed it: only one sends the notice. */
async function tellOf(database: Database, { accountId, uuid }: Untold): Promise<void> {
  await database.transaction(async (client) => {
    const mine = await client.query(
      `UPDATE approvals SET told_at = now()
       WHERE account_id = $1 AND message_id = $2 AND told_at IS NULL RETURNING 1`,
      [accountId, uuid],
    );
    if (mine.length === 0) return;
    const approvers = await client.query<{ id: string }>(
      `SELECT user_id AS id FROM members WHERE account_id = $1 AND role IN ('owner', 'developer')`,
      [accountId],
    );
    await client.query(
      `INSERT INTO notices (user_id, kind, detail)
       SELECT unnest($1::uuid[]), 'approval', jsonb_build_object('accountId', $2::bigint, 'uuid', $3::uuid)`,
      [approvers.map(({ id }) => id), accountId, uuid],
    );
  });
}

/** A link for this person; undefined: the email is no longer waiting. */
export async function makeApprovalLink(
  database: Queryable,
  accountId: number,
  uuid: string,
  userId: string,
): Promise<string | undefined> {
  const { token, hash } = makeToken(accountId);
  const made = await database.query(
    `INSERT INTO approval_links (account_id, token_hash, message_id, user_id, sha256)
     SELECT account_id, $3, message_id, $4, sha256 FROM approvals
     WHERE account_id = $1 AND message_id = $2 AND state = 'waiting' RETURNING 1`,
    [accountId, uuid, hash, readUuid('usr_', userId)],
  );
  return made.length === 0 ? undefined : token;
}

export interface ApprovalLink {
  accountId: number;
  messageId: string;
  /** What was held when the link was emailed. */
  sha256: string;
  person: { id: string; email: string };
}

/** Undefined: not ours, already decided, or its reader may no longer approve. */
export async function findApprovalLink(
  database: Queryable,
  token: string,
): Promise<ApprovalLink | undefined> {
  const key = readToken(token);
  if (key === undefined) return undefined;
  const [row] = await database.query<{
    uuid: string;
    sha256: string;
    userUuid: string;
    email: string;
  }>(
    `SELECT l.message_id AS uuid, encode(l.sha256, 'hex') AS sha256, u.id AS "userUuid", u.email
     FROM approval_links l
     JOIN approvals a ON a.account_id = l.account_id AND a.message_id = l.message_id
     JOIN members m ON m.account_id = l.account_id AND m.user_id = l.user_id
     JOIN users u ON u.id = l.user_id
     WHERE l.account_id = $1 AND l.token_hash = $2 AND a.state = 'waiting' AND a.expires_at > now()
       AND m.role IN ('owner', 'developer')`,
    [key.accountId, key.hash],
  );
  return (
    row && {
      accountId: key.accountId,
      messageId: showUuid('msg_', row.uuid),
      sha256: row.sha256,
      person: { id: showUuid('usr_', row.userUuid), email: row.email },
    }
  );
}

export async function dropLinks(client: Queryable, accountId: number, uuid: string): Promise<void> {
  await client.query('DELETE FROM approval_links WHERE account_id = $1 AND message_id = $2', [
    accountId,
    uuid,
  ]);
}
