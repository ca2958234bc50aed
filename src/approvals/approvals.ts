// Approvals: emails that wait for a person, and what the person decides. Before it: accept_sends
// wrote the row for what holding.ts held. After it: the due row of an approved one is found by any
// worker; the others are cancelled.
//
// The message's row lock comes first, as in delivery/recall.ts, then the approval's. Whoever holds
// them decides; the due row is made in the same transaction, so an email is released once or never.
import { giveBackQuota } from '../accounts/usage.ts';
import { Problem } from '../errors.ts';
import { showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { dropLinks } from './approval-links.ts';
import { envelopePart } from './fingerprint.ts';
import type { HeldReason } from './holding.ts';

export type ApprovalState = 'waiting' | 'approved' | 'declined' | 'expired' | 'cancelled';

export interface Approval {
  uuid: string;
  state: ApprovalState;
  reason: HeldReason;
  sha256: string;
  expiresAt: Date;
  decidedAt: Date | null;
  decidedBy: string | null;
  /** The key it came through. */
  keyId: string | null;
}

const UNCHANGING = `message_id AS uuid, reason, encode(sha256, 'hex') AS sha256,
  expires_at AS "expiresAt", decided_by AS "decidedBy", key_id AS "keyId"`;

/** An email that is past its time counts as expired at once, even before that is recorded. */
const COLUMNS = `${UNCHANGING},
  CASE WHEN state = 'waiting' AND expires_at <= now() THEN 'expired' ELSE state END AS state,
  CASE WHEN state = 'waiting' AND expires_at <= now() THEN expires_at ELSE decided_at END AS "decidedAt"`;

/** Undefined: it was never held. */
export async function findApproval(
  database: Queryable,
  accountId: number,
  uuid: string,
): Promise<Approval | undefined> {
  const [row] = await database.query<Approval>(
    `SELECT ${COLUMNS} FROM approvals WHERE account_id = $1 AND message_id = $2`,
    [accountId, uuid],
  );
  return row;
}

/** Those of these that wait for a person. */
export async function waitingAmong(
  database: Queryable,
  accountId: number,
  uuids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (uuids.length === 0) return new Set();
  const rows = await database.query<{ uuid: string }>(
    `SELECT message_id AS uuid FROM approvals WHERE account_id = $1 AND message_id = ANY ($2::uuid[])
       AND state = 'waiting' AND expires_at > now()`,
    [accountId, uuids],
  );
  return new Set(rows.map(({ uuid }) => uuid));
}

/** Those that wait, oldest first; `after` is the last id on the previous page. */
export async function listWaiting(
  database: Queryable,
  accountId: number,
  {
    after,
    limit,
    keyId = null,
  }: { after?: string | undefined; limit: number; keyId?: string | null },
): Promise<Approval[]> {
  return await database.query<Approval>(
    `SELECT ${COLUMNS} FROM approvals
     WHERE account_id = $1 AND state = 'waiting' AND expires_at > now()
       AND ($2::uuid IS NULL OR message_id > $2) AND ($4::uuid IS NULL OR key_id = $4)
     ORDER BY message_id LIMIT $3`,
    [accountId, after ?? null, limit, keyId],
  );
}

/** Who decides: what is in the audit and on the message. */
export interface Decider {
  /** Of the key, where it is one. */
  keyId: string | null;
  name: string;
}

interface HeldMessage {
  uuid: string;
  accountId: number;
  from: string;
  recipients: string[];
  subject: string;
  keyId: string | null;
  scheduledAt: Date | null;
}

/**
 * Releases the email that has this fingerprint, and no other. Approving again what was approved
 * changes nothing.
 */
export const approve = decide('approved', async (client, message, approval, by) => {
  await requireUnchanged(client, message, approval);
  await client.query(
    `INSERT INTO due_messages (account_id, message_id, due_at, state, size, class)
     SELECT account_id, message_id, greatest($3::timestamptz, clock_timestamp()),
       CASE WHEN $3::timestamptz > clock_timestamp() THEN 'waiting' ELSE 'ready' END::due_state,
       size, class
     FROM approvals WHERE account_id = $1 AND message_id = $2`,
    [message.accountId, message.uuid, message.scheduledAt],
  );
  return await settle(client, message, 'approved', by.name);
});

/** Nobody receives it. Declining again what was declined changes nothing. */
export const decline = decide('declined', (client, message, _approval, by) =>
  withdraw(client, message, 'declined', by.name),
);

/** Someone other than the sender decides, once, about what they saw. */
function decide(
  state: 'approved' | 'declined',
  act: (
    client: Queryable,
    message: HeldMessage,
    approval: Approval,
    by: Decider,
  ) => Promise<Approval>,
) {
  return async function decided(
    client: Queryable,
    accountId: number,
    uuid: string,
    sha256: string,
    by: Decider,
  ): Promise<Approval> {
    const { message, approval } = await lockHeld(client, accountId, uuid);
    requireOther(message, by);
    requireSame(approval, sha256);
    if (approval.state === state) return approval;
    requireWaiting(approval);
    return await act(client, message, approval, by);
  };
}

/**
 * Records what nobody decided in time; returns how many. One at a time, so that none holds up
 * another.
 */
export async function lapseApprovals(database: Database): Promise<number> {
  const over = await database.query<{ accountId: number; uuid: string }>(
    `SELECT account_id AS "accountId", message_id AS uuid FROM approvals
     WHERE state = 'waiting' AND expires_at <= now() ORDER BY expires_at LIMIT 1000`,
  );
  for (const { accountId, uuid } of over) {
    await database.transaction(async (client) => {
      const { message, approval } = await lockHeld(client, accountId, uuid);
      if (approval.decidedAt !== null && approval.state !== 'expired') return;
      await withdraw(client, message, 'expired', null);
    });
  }
  return over.length;
}

/** What is decided is kept as long as its message. */
export async function pruneApprovals(database: Database, retentionDays: number): Promise<void> {
  await database.query(
    `DELETE FROM approvals WHERE state <> 'waiting' AND decided_at < now() - make_interval(days => $1)`,
    [retentionDays + 31],
  );
}

/** An email that waits is called back or gets another time (delivery/recall.ts). */
export async function cancelHeld(client: Queryable, message: Owned): Promise<void> {
  await dropLinks(client, message.accountId, message.uuid);
  await client.query(
    `UPDATE approvals SET state = 'cancelled', decided_at = now()
     WHERE account_id = $1 AND message_id = $2 AND state = 'waiting'`,
    [message.accountId, message.uuid],
  );
}

/** Its scheduled time is part of what is approved: whoever saw another time has to look again. */
export async function renewFingerprint(client: Queryable, message: Owned): Promise<void> {
  const { message: held } = await lockHeld(client, message.accountId, message.uuid);
  await client.query('UPDATE approvals SET sha256 = $3 WHERE account_id = $1 AND message_id = $2', [
    message.accountId,
    message.uuid,
    Buffer.from(await fingerprintOf(client, held), 'hex'),
  ]);
}

type Owned = Pick<HeldMessage, 'accountId' | 'uuid'>;

async function lockHeld(
  client: Queryable,
  accountId: number,
  uuid: string,
): Promise<{ message: HeldMessage; approval: Approval }> {
  const [message] = await client.query<HeldMessage>(
    `SELECT id AS uuid, account_id AS "accountId", from_email AS "from", recipients, subject,
            key_id AS "keyId", scheduled_at AS "scheduledAt"
     FROM messages WHERE account_id = $1 AND id = $2 FOR UPDATE`,
    [accountId, uuid],
  );
  const [approval] = await client.query<Approval>(
    `SELECT ${COLUMNS} FROM approvals WHERE account_id = $1 AND message_id = $2 FOR UPDATE`,
    [accountId, uuid],
  );
  if (message === undefined || approval === undefined) throw notHeld(uuid);
  return { message, approval };
}

export const notHeld = (uuid: string): Problem =>
  new Problem('not-found', `No email ${showUuid('msg_', uuid)} is waiting for approval.`, {
    see: 'list_approvals',
  });

/** Whoever wrote it cannot be the one to review it. */
function requireOther({ keyId }: HeldMessage, by: Decider): void {
  if (by.keyId === null || by.keyId !== keyId) return;
  throw new Problem(
    'forbidden',
    'An API key cannot decide on an email it sent itself. A person has to look at it.',
  );
}

function requireSame({ uuid, sha256 }: Approval, named: string): void {
  if (named.toLowerCase() === sha256) return;
  throw new Problem(
    'conflict',
    `${showUuid('msg_', uuid)} is not what you saw: its SHA-256 is ${sha256}. Nothing was decided. Look at it again.`,
    { see: 'get_approval' },
  );
}

function requireWaiting({ uuid, state, decidedAt }: Approval): void {
  if (state === 'waiting') return;
  const at = decidedAt?.toISOString() ?? '';
  throw new Problem(
    'conflict',
    `${showUuid('msg_', uuid)} is no longer waiting: it ${BECAME[state]} at ${at}. Nothing was changed.`,
    { see: 'get_approval' },
  );
}

const BECAME: Record<Exclude<ApprovalState, 'waiting'>, string> = {
  approved: 'was approved',
  declined: 'was declined',
  expired: 'expired',
  cancelled: 'was cancelled',
};

/** The bytes themselves are hashed again: the hash of something else must not release them. */
async function requireUnchanged(
  client: Queryable,
  message: HeldMessage,
  { uuid, sha256 }: Approval,
): Promise<void> {
  if ((await fingerprintOf(client, message)) === sha256) return;
  throw new Problem(
    'conflict',
    `The stored content of ${showUuid('msg_', uuid)} has changed since it was held, so it is not sent.`,
  );
}

async function fingerprintOf(client: Queryable, message: HeldMessage): Promise<string> {
  const { accountId, uuid, scheduledAt, ...about } = message;
  const envelope = envelopePart({ ...about, scheduledAtMs: scheduledAt?.getTime() ?? null });
  const parts = ['head', 'html', 'text', 'attachments'].map(
    (name) =>
      `coalesce(convert_to(octet_length(${name}) || E'\\n', 'UTF8') || ${name}, 'absent\\012')`,
  );
  // By the database: up to 25 MB need not come here.
  const [row] = await client.query<{ sha256: string }>(
    `SELECT encode(sha256($3::bytea || ${parts.join(' || ')}), 'hex') AS sha256
     FROM contents WHERE account_id = $1 AND message_id = $2`,
    [accountId, uuid, Buffer.from(envelope)],
  );
  if (row === undefined) throw notHeld(uuid);
  return row.sha256;
}

async function withdraw(
  client: Queryable,
  message: HeldMessage,
  state: 'declined' | 'expired',
  by: string | null,
): Promise<Approval> {
  await client.query('UPDATE messages SET cancelled_at = now() WHERE account_id = $1 AND id = $2', [
    message.accountId,
    message.uuid,
  ]);
  await giveBackQuota(client, message);
  return await settle(client, message, state, by);
}

async function settle(
  client: Queryable,
  { accountId, uuid }: Owned,
  state: ApprovalState,
  by: string | null,
): Promise<Approval> {
  await dropLinks(client, accountId, uuid);
  const [row] = await client.query<Approval>(
    `UPDATE approvals SET state = $3, decided_at = now(), decided_by = $4
     WHERE account_id = $1 AND message_id = $2
     RETURNING ${UNCHANGING}, state, decided_at AS "decidedAt"`,
    [accountId, uuid, state, by],
  );
  return row!;
}
