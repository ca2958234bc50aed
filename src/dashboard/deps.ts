// What the dashboard's routes work with; built once by main.ts.
import type { IncomingMessage } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Directory } from '../accounts/directory.ts';
import type { Dns } from '../accounts/dns.ts';
import type { Mailbox } from '../addresses.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { AcceptDeps } from '../sending/accept.ts';
import type { Database } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import type { Catalog } from '../templates/catalog.ts';
import type { Making } from '../templates/making.ts';
import type { EndpointDeps } from '../webhooks/endpoint.ts';
import type { Service } from './views/session.ts';

export interface DashboardDeps extends AcceptDeps {
  database: Database;
  directory: Directory;
  clock: Clock;
  log: Log;
  catalog: Catalog;
  /** Where previews are rendered. */
  making: Making;
  dns: Dns;
  /** Seals the private keys of domains and the secrets of webhooks. */
  vault: Vault;
  /** Signs links for a new password. */
  resetKey: Buffer;
  /** From which the service itself writes; undefined: it cannot. */
  systemSender: Mailbox | undefined;
  inSandbox: () => boolean;
  /** Under which address people reach the service. */
  baseUrl: () => string;
  service: () => Service;
  relayIsDown: () => boolean;
  webhooks: EndpointDeps & { agent: Dispatcher };
  /** A message as it goes or went over the wire; undefined: there is none, or its content is gone. */
  sourceOf: (accountId: number, uuid: string) => Promise<Buffer | undefined>;
  /** IP address, also behind a proxy, and program of who asks. */
  requesterOf: (request: IncomingMessage) => { ipAddress: string; userAgent: string };
  /** First day's quota of new accounts; undefined: no ramp. */
  rampStart: number | undefined;
  /** What the first owner must know: the end of the link that the service prints while nobody can sign in. */
  setUpToken: string;
  /** Where the built pages are. */
  pagesFolder: string;
}
