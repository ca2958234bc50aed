// Whether an email has to wait for a person, by the rule `approval` of its key. Before it:
// sending/accept.ts has checked a send. After it: it is stored like any other, but without a due
// row; approvals.ts releases it.
import type { ApprovalRule } from '../accounts/agent-limits.ts';
import type { Caller, Directory } from '../accounts/directory.ts';
import { parseMailbox } from '../addresses.ts';
import { readUuid } from '../ids.ts';
import type { Message } from '../messages/message.ts';
import { searchMessages } from '../messages/search.ts';
import type { Database } from '../store/pool.ts';

export interface HoldingDeps {
  database: Database;
  directory: Directory;
}

/** Why it is held: the name of the rule. Null: it is sent. */
export type HeldReason = Exclude<ApprovalRule, 'never'>;

export async function whyHeld(
  deps: HoldingDeps,
  caller: Caller,
  envelope: readonly string[],
): Promise<HeldReason | null> {
  const rule = caller.limits?.approval ?? 'never';
  switch (rule) {
    case 'never':
      return null;
    case 'always':
      return rule;
    case 'outside_domain':
      return (await allOwn(deps.directory, caller, envelope)) ? null : rule;
    case 'first_contact':
      return (await allKnown(deps.database, caller.accountId, envelope)) ? null : rule;
  }
}

/** The account's own senders count as inside. */
async function allOwn(
  directory: Directory,
  caller: Caller,
  envelope: readonly string[],
): Promise<boolean> {
  for (const address of envelope) {
    const mailbox = parseMailbox(address);
    if (!('address' in mailbox)) return false;
    if ((await directory.senderOf(caller, mailbox)) === undefined) return false;
  }
  return true;
}

const REACHED = ['sent', 'delivered', 'opened', 'clicked'];
const LOOKED_AT = 20;

/**
 * Each recipient got an email of this account before that neither bounced nor led to a complaint.
 * What went to the sandbox reached nobody. A message to several recipients of which one bounced
 * says nothing about any of them, and the search is bounded: when in doubt, a person is asked.
 */
async function allKnown(
  database: Database,
  accountId: number,
  envelope: readonly string[],
): Promise<boolean> {
  for (const recipient of envelope) {
    const { messages } = await searchMessages(database, accountId, { recipient, limit: LOOKED_AT });
    const reached = messages.filter(({ status }) => REACHED.includes(status));
    if (!(await anyLeft(database, accountId, reached))) return false;
  }
  return true;
}

/** Whether one of them came through a key whose email really leaves. */
async function anyLeft(
  database: Database,
  accountId: number,
  messages: readonly Message[],
): Promise<boolean> {
  if (messages.length === 0) return false;
  const rows = await database.query(
    `SELECT FROM messages m LEFT JOIN api_keys k ON k.account_id = m.account_id AND k.id = m.key_id
     WHERE m.account_id = $1 AND m.id = ANY ($2::uuid[]) AND k.sandbox_only IS NOT TRUE LIMIT 1`,
    [accountId, messages.map(({ id }) => readUuid('msg_', id))],
  );
  return rows.length > 0;
}
