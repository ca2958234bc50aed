// Emails of the service itself to its people: invitations, links for a new password, notices. Sent
// from SYSTEM_SENDER, otherwise from one of their accounts. Always with the catalogue's own
// template: one that an account changed could send the link to someone else.
import { findSandboxSender } from '../accounts/identities.ts';
import { formatMailbox, type Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import { acceptSend } from '../sending/accept.ts';
import type { Catalog } from '../templates/catalog.ts';
import type { Making } from '../templates/making.ts';
import { createRenderer } from '../templates/rendering.ts';
import { openSystemResolution } from '../templates/resolution.ts';
import { ownSender } from './own-sender.ts';
import { accountOfSender, type VerificationDeps } from './verification-email.ts';

export interface NoticeDeps extends VerificationDeps {
  clock: Clock;
  log: Log;
  catalog: Catalog;
  making: Making;
}

/** A template of the catalogue, or our own text. */
export type SystemWords =
  | { template: string; variables: Record<string, unknown> }
  | { subject: string; text: string };

export interface SystemEmail {
  to: string;
  words: SystemWords;
  tag: string;
  /** Accounts whose sender may be used if SYSTEM_SENDER is not set. */
  accountIds: readonly number[];
  /** The email is sent once, however often it is tried. */
  idempotencyKey?: string;
}

/** A Problem if there is no sender, or the sending account may not send. */
export async function sendSystemEmail(deps: NoticeDeps, email: SystemEmail): Promise<void> {
  const { from, accountId } = await senderOf(deps, email.accountIds);
  const caller = await deps.directory.member(accountId);
  const render = createRenderer(openSystemResolution(deps.catalog), deps.making);
  const request = {
    from_email: from,
    to: [email.to],
    ...email.words,
    tags: [email.tag],
  };
  await acceptSend({ ...deps, render }, caller, request, {
    door: 'system',
    idempotencyKey: email.idempotencyKey,
  });
}

interface Sender {
  from: string;
  accountId: number;
}

async function senderOf(deps: NoticeDeps, accountIds: readonly number[]): Promise<Sender> {
  const asking = accountIds[0] ?? 0;
  if (deps.systemSender !== undefined) return await sentBy(deps, deps.systemSender, asking);
  for (const accountId of accountIds) {
    const own = await ownSender(deps.database, accountId);
    if (own !== undefined) return { from: own, accountId };
  }
  // No email leaves the sandbox, so any verified sender may be used.
  const any = deps.inSandbox() ? await findSandboxSender(deps.database, asking) : undefined;
  if (any !== undefined) return await sentBy(deps, any, asking);
  throw new Problem(
    'forbidden',
    'SYSTEM_SENDER is not set and the account has no verified sender.',
  );
}

async function sentBy(deps: NoticeDeps, sender: Mailbox, asking: number): Promise<Sender> {
  const accountId = await accountOfSender(deps.database, sender, asking);
  return { from: formatMailbox(sender), accountId };
}
