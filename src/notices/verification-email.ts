// The email that verifies an address: a one-time link, sent like any email by the account that
// SYSTEM_SENDER belongs to. Requested by the CLI and the dashboard when an address is added; the
// link leads to inbound/verify.ts.
import { makeAddressToken, VERIFY_PATH } from '../accounts/address-verification.ts';
import { findSandboxSender, normaliseIdentity } from '../accounts/identities.ts';
import { addressKey, formatMailbox, type Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { type AcceptDeps, acceptSend } from '../sending/accept.ts';
import type { Database } from '../store/pool.ts';

export interface VerificationDeps extends AcceptDeps {
  database: Database;
  /** SYSTEM_SENDER. */
  systemSender: Mailbox | undefined;
  /** No email is delivered, so any verified sender may be used if SYSTEM_SENDER is not set. */
  inSandbox: () => boolean;
  baseUrl: () => string;
}

/** Returns the id of the email that carries the link. */
export async function sendVerificationEmail(
  deps: VerificationDeps,
  accountId: number,
  text: string,
): Promise<string> {
  const address = normaliseIdentity(text);
  const sender = await chooseSender(deps, accountId);
  const link = `${deps.baseUrl()}${VERIFY_PATH}${await makeAddressToken(deps.database, accountId, address)}`;
  const caller = await deps.directory.member(
    await accountOfSender(deps.database, sender, accountId),
  );
  const { answer } = await acceptSend(
    deps,
    caller,
    {
      from_email: formatMailbox(sender),
      to: [address],
      subject: `Verify ${address}`,
      text: `We received a request to send email from ${address}.\n\nIf that was you, open this link and confirm:\n${link}\n\nThe link works once, for two days. If it was not you, ignore this email.\n`,
      html: `<p>We received a request to send email from ${address}.</p><p>If that was you, <a href="${link}" data-sm-track="off">open this link and confirm</a>.</p><p>The link works once, for two days. If it was not you, ignore this email.</p>`,
    },
    { door: 'system' },
  );
  return answer.id;
}

async function chooseSender(deps: VerificationDeps, accountId: number): Promise<Mailbox> {
  const sandboxSender = () =>
    deps.inSandbox() ? findSandboxSender(deps.database, accountId) : undefined;
  const sender = deps.systemSender ?? (await sandboxSender());
  if (sender !== undefined) return sender;
  throw new Problem(
    'unavailable',
    'No verification email was sent: SYSTEM_SENDER is not set. The operator of the service can set it to a verified address, or mark this address as verified.',
    { see: 'verify_identity' },
  );
}

/**
 * The account that sends from SYSTEM_SENDER; also used for invitations. If several share the
 * domain, it is the one that asks, so that its emails are not in another's lists.
 */
export async function accountOfSender(
  database: Database,
  sender: Mailbox,
  asking: number,
): Promise<number> {
  const [row] = await database.query<{ id: number }>(
    `SELECT a.id FROM accounts a JOIN identities i ON i.account_id = a.id
     WHERE i.value IN ($1, $2) AND i.verified_at IS NOT NULL AND a.plan = 'paid'
     ORDER BY a.id <> $3, a.id LIMIT 1`,
    [addressKey(sender.address), sender.domain, asking],
  );
  if (row !== undefined) return row.id;
  throw new Problem(
    'unavailable',
    `No verification email was sent: SYSTEM_SENDER is ${sender.address}, which is not a verified identity of a paying account. Verify it first.`,
  );
}
