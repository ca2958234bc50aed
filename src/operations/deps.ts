// What operations work with: built once by main.ts, the same for every door.
import type { Dispatcher } from 'undici';
import type { Directory } from '../accounts/directory.ts';
import type { Dns } from '../accounts/dns.ts';
import type { Mailbox } from '../addresses.ts';
import type { Chunk } from '../bytes/chunks.ts';
import type { TimelineOf } from '../events/timeline.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import type { LoopWatch } from '../process/loop-watch.ts';
import type { Metrics } from '../process/metrics.ts';
import type { MailboxWaiting } from '../sandbox/waiting.ts';
import type { AcceptDeps } from '../sending/accept.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { Catalog } from '../templates/catalog.ts';
import type { Making } from '../templates/making.ts';
import type { Offering } from '../templates/offering.ts';
import type { EndpointDeps } from '../webhooks/endpoint.ts';
import type { WholeEmails } from './whole-emails.ts';

export interface OperationDeps extends AcceptDeps {
  database: Database;
  directory: Directory;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  timelineOf: TimelineOf;
  catalog: Catalog;
  /** The system's templates and the account's own, as the account sees them. */
  templates: Offering;
  dns: Dns;
  bounceDomain: string;
  /** Checks whether reports come back through the return path of a domain. */
  probeReturnPath: (of: { accountId: number; domain: string }) => Promise<void>;
  /** First day's quota of new accounts; undefined: no ramp. */
  rampStart: number | undefined;
  /** Seals the private keys of domains and the secrets of webhooks. */
  vault: Vault;
  /** Where drafts are compiled and templates rendered. */
  making: Making;
  /** The text part for HTML, if a door promises one; undefined: it would have taken too long. */
  textOf: (accountId: number, html: string) => Promise<string | undefined>;
  loopWatch: LoopWatch;
  webhooks: EndpointDeps & { agent: Dispatcher };
  /** The address that the service itself sends from; undefined: it cannot send. */
  systemSender: Mailbox | undefined;
  /** Where tests wait for email. */
  mailbox: MailboxWaiting;
  /** There is no relay: the sandbox captures everything. */
  inSandbox: () => boolean;
  /** RELAY_URL, the relay named `default`. */
  relayUrl: string | undefined;
  relayIsDown: () => boolean;
  /** The address at which people reach the service. */
  baseUrl: () => string;
  /** Turns at reading stored emails whole. */
  wholeEmails: WholeEmails;
  /** A message as it goes or went over the wire; undefined: none, or its content is gone. */
  sourceOf: (accountId: number, uuid: string) => Promise<Chunk[] | undefined>;
}
