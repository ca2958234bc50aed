// The mail that proves an address: a one-time link, sent through our own path by the account that SYSTEM_SENDER belongs to.
// Asked for by the CLI and the dashboard when an address is added; inbound/verify.ts is where the link leads.
import { makeAddressToken, VERIFY_PATH } from '../accounts/address-verification.ts';
import { normaliseIdentity } from '../accounts/identities.ts';
import { addressKey, formatMailbox, type Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Database } from '../store/pool.ts';
import { type AcceptDeps, acceptSend } from './accept.ts';

export interface VerificationDeps extends AcceptDeps {
  database: Database;
  /** SYSTEM_SENDER. */
  systemSender: Mailbox | undefined;
  baseUrl: () => string;
}

/** Answers the id of the mail that carries the link. */
export async function sendVerificationMail(
  deps: VerificationDeps,
  accountId: number,
  text: string,
): Promise<string> {
  const address = normaliseIdentity(text);
  const { sender, senderAccount } = await findSender(deps);
  const link = `${deps.baseUrl()}${VERIFY_PATH}${await makeAddressToken(deps.database, accountId, address)}`;
  const caller = await deps.directory.member(senderAccount);
  const { answer } = await acceptSend(
    deps,
    caller,
    {
      from_email: formatMailbox(sender),
      to: [address],
      subject: `Verify ${address}`,
      text: `Somebody asked to send mail from ${address}.\n\nIf that was you, open this link and confirm:\n${link}\n\nIt works once, for two days. If it was not you, do nothing.\n`,
      html: `<p>Somebody asked to send mail from ${address}.</p><p>If that was you, <a href="${link}" data-sm-track="off">open this link and confirm</a>.</p><p>It works once, for two days. If it was not you, do nothing.</p>`,
    },
    { door: 'system' },
  );
  return answer.id;
}

/** Also of invitations. */
export async function findSender(
  deps: VerificationDeps,
): Promise<{ sender: Mailbox; senderAccount: number }> {
  const sender = deps.systemSender;
  if (sender === undefined) {
    throw new Problem(
      'unavailable',
      'No verification mail was sent: SYSTEM_SENDER is not set. Set it to an address the service may write from, or mark the address as verified with "sandmartin identity verify".',
    );
  }
  const [row] = await deps.database.query<{ id: number }>(
    `SELECT a.id FROM accounts a JOIN identities i ON i.account_id = a.id
     WHERE i.value IN ($1, $2) AND i.verified_at IS NOT NULL AND a.plan = 'paid' ORDER BY a.id LIMIT 1`,
    [addressKey(sender.address), sender.domain],
  );
  if (row === undefined) {
    throw new Problem(
      'unavailable',
      `No verification mail was sent: SYSTEM_SENDER is ${sender.address}, which is no verified identity of a paying account. Verify it first.`,
    );
  }
  return { sender, senderAccount: row.id };
}
