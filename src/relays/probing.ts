// Sends a probe of a return path through every relay: a small email to ourselves. Called after a
// domain's CNAME was seen, and by `doctor`. After it: inbound/feedback-smtp.ts records that it came
// back (feedback/return-path-probes.ts).
import { randomUUID } from 'node:crypto';
import { returnPathHost } from '../accounts/domain-records.ts';
import { proveReturnPath } from '../accounts/return-path-proof.ts';
import { noteProbe, noteProbeFault, type ProbedHost } from '../feedback/return-path-probes.ts';
import { createRelay } from '../smtp/relay.ts';
import type { Database } from '../store/pool.ts';
import type { NamedRelay } from './relay-list.ts';
import { isRelayUrlInUse } from './stored-relays.ts';

export interface ProbingDeps {
  database: Database;
  bounceDomain: string;
  /** The address that the service sends from, if there is one. */
  sender: string | undefined;
  /** The current relays: a probe that skips one proves nothing. */
  relays: () => readonly NamedRelay[] | Promise<readonly NamedRelay[]>;
}

export interface DomainProbingDeps extends ProbingDeps {
  relayUrl: string | undefined;
}

/** Short, since a person may be waiting. */
const TIMEOUTS = { connectMs: 5_000, greetingMs: 10_000, mailMs: 10_000, rcptMs: 10_000 };

/**
 * The return path of an account's domain. In the sandbox, reports always come back. A command or a
 * process whose RELAY_URL differs from that of the processes that hand email over, or is unset, can
 * prove nothing.
 */
export async function probeDomain(
  deps: DomainProbingDeps,
  of: { accountId: number; domain: string },
): Promise<void> {
  if (!(await isRelayUrlInUse(deps.database, deps.relayUrl))) return;
  const relays = await deps.relays();
  const enabled = relays.filter((relay) => relay.enabled);
  if (relays.length === 0) {
    await proveReturnPath(deps.database, of.accountId, of.domain);
  } else await sendProbes(deps, enabled, { host: returnPathHost(of.domain), of });
}

/** Returns the id of the batch of probes, which may or may not come back. */
export async function sendProbes(
  deps: ProbingDeps,
  relays: readonly NamedRelay[],
  probed: ProbedHost,
): Promise<string> {
  const batch = randomUUID();
  // All are recorded before the first is sent: one that comes back at once must not count for all.
  const probes = [];
  for (const relay of relays) {
    probes.push({ relay, ...(await noteProbe(deps.database, batch, probed, relay.name)) });
  }
  await Promise.all(
    probes.map(async ({ relay, id, address }) => {
      const fault = await hand(deps, relay.url, address);
      if (fault !== undefined) await noteProbeFault(deps.database, id, fault);
    }),
  );
  return batch;
}

/** Why the relay did not accept it. */
async function hand(
  { bounceDomain, sender }: ProbingDeps,
  url: string,
  to: string,
): Promise<string | undefined> {
  const from = sender ?? `probe@${bounceDomain}`;
  const relay = createRelay({ url, name: bounceDomain, maxConnections: 1, timeouts: TIMEOUTS });
  const email = [
    ...[`From: Sandmartin <${from}>`, `To: <${to}>`, 'Subject: Do reports reach us?'],
    ...[`Date: ${new Date().toUTCString().replace('GMT', '+0000')}`],
    ...[`Message-ID: <${randomUUID()}@${bounceDomain}>`, 'Auto-Submitted: auto-generated'],
    ...['MIME-Version: 1.0', 'Content-Type: text/plain; charset=us-ascii', ''],
    'The service sends this to itself. When it comes back, reports about emails will too.',
    '',
  ].join('\r\n');
  const envelope = { from, recipients: [to], envelopeId: 'probe', smtputf8: false };
  const { recipients } = await relay.hand(envelope, [Buffer.from(email)]);
  await relay.close();
  const [{ result, text } = { result: 'refused', text: '' }] = recipients;
  return result === 'accepted' ? undefined : text;
}
