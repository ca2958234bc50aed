// Loads a claimed group: emails and which of their recipients are suppressed, in two round trips.
// Before: worker.ts claimed them. After: each is attempted separately. An email that breaks the
// loading of all is found by loading each alone.

import { Problem } from '../errors.ts';
import { bytesToUuid } from '../ids.ts';
import { asked, loadEmails, type StoredEmail, type UnreadableEmail } from '../mail/stored-email.ts';
import { isConnectionFault } from '../process/connection-fault.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import type { Database } from '../store/pool.ts';
import { SecretChanged } from '../store/vault.ts';
import { suppressedAmong } from '../suppressions/suppressions.ts';

export interface Loaded {
  claimed: ClaimedMessage;
  /** Undefined without a fault: its content is gone. */
  email?: StoredEmail;
  suppressed: ReadonlySet<string>;
  fault?: Error;
}

export async function loadGroup(
  database: Database,
  group: ClaimedMessage[],
  onFault: (error: unknown) => void,
): Promise<Loaded[]> {
  try {
    return await load(database, group);
  } catch (error) {
    onFault(error);
    if (group.length > 1 && isOwnFault(error)) {
      const each: Loaded[] = [];
      for (const claimed of group) each.push(...(await loadGroup(database, [claimed], onFault)));
      return each;
    }
    return group.map((claimed) => ({ claimed, suppressed: NONE, fault: error as Error }));
  }
}

const NONE: ReadonlySet<string> = new Set();

async function load(all: Database, group: ClaimedMessage[]): Promise<Loaded[]> {
  const database = all.near(group[0]!.accountId);
  const emails = await loadEmails(database, group);
  const suppressed = await suppressedAmong(database, recipientsOf(group, emails));
  const loaded: Loaded[] = [];
  for (const claimed of group) {
    const email = emails.get(bytesToUuid(claimed.messageId));
    if (email === undefined) {
      // Its content is gone, or its shard was split a moment ago and it is in the other part.
      loaded.push(...(group.length > 1 ? await load(all, [claimed]) : [{ claimed, suppressed }]));
    } else if (isUnreadable(email)) loaded.push({ claimed, suppressed, fault: email.fault });
    else loaded.push({ claimed, suppressed, email });
  }
  return loaded;
}

function recipientsOf(group: ClaimedMessage[], emails: Map<string, StoredEmail | UnreadableEmail>) {
  return group.flatMap((claimed) => {
    const email = emails.get(bytesToUuid(claimed.messageId));
    if (email === undefined || isUnreadable(email)) return [];
    return (claimed.remaining ?? email.recipients).map((address) => asked(email, address));
  });
}

const isUnreadable = (email: StoredEmail | UnreadableEmail): email is UnreadableEmail =>
  'fault' in email;

/**
 * SQLSTATE: 22 (data), 23 (constraints), 54 (limits), XX (corrupted). Every other database error is
 * temporary, or about all emails.
 */
const OWN_STATES = /^(22|23|54|XX)...$/;

/** The fault lies in this email alone: retrying would not help, and others are unaffected. */
export function isOwnFault(error: unknown): boolean {
  // This process is out of date and about to end; the next one can open the keys.
  if (error instanceof SecretChanged) return false;
  if (error instanceof Problem) return true;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return OWN_STATES.test(code);
  return !isConnectionFault(error);
}
