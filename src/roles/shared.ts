// What the roles of a process share: database, clock, secret, threads, guards and caches, each
// opened once. Before it: main.ts. After it: each role takes what it needs from here.
import type { Agent } from 'undici';
import { createDns, type Dns } from '../accounts/dns.ts';
import type { Config } from '../config/config.ts';
import { createMatcher, type Matcher } from '../feedback/match.ts';
import { openReportRecorder, type ReportRecorder } from '../feedback/record.ts';
import type { MakingDeps } from '../mail/making.ts';
import { openSenders } from '../mail/senders.ts';
import { type Asking, createAsking } from '../process/asked.ts';
import type { Clock } from '../process/clock.ts';
import type { Log } from '../process/log.ts';
import { type LoopWatch, startLoopWatch } from '../process/loop-watch.ts';
import { createMetrics, type Metrics } from '../process/metrics.ts';
import { probeDomain } from '../relays/probing.ts';
import { knownRelays, openRelayList, type RelayList, withAddress } from '../relays/relay-list.ts';
import { type Secret, watchSecret } from '../store/installation.ts';
import { createReadiness, type Readiness } from '../store/readiness.ts';
import { ownCatalogFiles } from '../templates/catalog.ts';
import type { LargeEmailJobs } from '../threads/large-emails.ts';
import { openPool, type Pool } from '../threads/pool.ts';
import type { ServiceJobs } from '../threads/worker.ts';
import { LARGE_MAILS_FILE, WORKER_FILE } from '../threads/worker-file.ts';
import { type AddressGuard, addressGuard, guardedAgent } from '../webhooks/address-guard.ts';
import { openStore, type Store } from './database.ts';
import { type ProcessHealth, watchHealth } from './health.ts';
import { startMaintenance } from './maintenance.ts';
import type { Opened } from './opened.ts';
import { openSecret } from './secrets.ts';

export interface Shared extends Store {
  config: Config;
  log: Log;
  opened: Opened;
  clock: Clock;
  metrics: Metrics;
  loopWatch: LoopWatch;
  secret: Secret;
  threads: Pool<ServiceJobs>;
  dns: Dns;
  /** The relays as operators have configured them. */
  relays: RelayList;
  /** Checks whether reports come back through the return path of a domain. */
  probeReturnPath: (of: { accountId: number; domain: string }) => Promise<void>;
  /** Checks those that are due, without waiting for the next maintenance. */
  checkDomains: () => void;
  readiness: Readiness;
  health: ProcessHealth;
  /** Records what reports from mail servers and receivers say. */
  recorder: ReportRecorder;
  matcher: Matcher;
  /** What emails are composed with. */
  making: MakingDeps;
  /** Where webhooks may be posted, and the connections used for that. */
  webhooks: { guard: AddressGuard; agent: Agent };
  /**
   * The address at which people reach the service; with PORT=0 it is known once the API listens.
   */
  address: {
    baseUrl: string;
    /** Where signed-in people open the dashboard, as their browsers say; null: nobody has. */
    openedAt: string | null;
    /** Where programs send by SMTP; null: nowhere. */
    smtp: { host: string; port: number | null; securePort: number | null } | null;
  };
  /** What requests say about where this process is reached. */
  asking: Asking;
  /** Settles with the reason when the process cannot continue: the secret was changed. */
  unfit: Promise<string>;
}

export async function openShared(
  config: Config,
  log: Log,
  opened: Opened,
  testClock: Clock | undefined,
): Promise<Shared> {
  const metrics = createMetrics();
  const loopWatch = opened(startLoopWatch({ metrics, log }), async (it) => it.stop());
  const store = await openStore(config, log, opened);
  const { database, upkeep } = store;
  const clock = testClock ?? store.heartbeat;
  // First: with a wrong SECRET_KEY nothing is touched.
  const secret = await openSecret(database, config.secretKey, 'start');
  const unfit = new Promise<string>((resolve) => {
    opened(watchSecret(database, secret, resolve), (it) => it.close());
  });
  const threads = opened(
    openPool<ServiceJobs>({
      ...{ file: WORKER_FILE, given: ownCatalogFiles() },
      ...{ threads: config.threads, log, metrics },
    }),
    (it) => it.close(),
  );
  const largeEmails = opened(openLargeEmails(log, metrics), (it) => it.close());
  const { bounceDomain } = config;
  const dns = createDns(config.dnsServers);
  const { relayUrl } = config;
  const relays = opened(
    await openRelayList({ database, vault: secret.vault, log, relayUrl }),
    (it) => it.close(),
  );
  const sender = config.systemSender?.address;
  const relaysNow = async () =>
    withAddress(await knownRelays(database, secret.vault, relayUrl), relayUrl);
  const probing = { database, bounceDomain, sender, relays: relaysNow, relayUrl };
  const probeReturnPath: Shared['probeReturnPath'] = (of) => probeDomain(probing, of);
  const upkeepDeps = { database: upkeep, clock, log, retention: config, dns, bounceDomain };
  const maintenance = opened(await startMaintenance({ ...upkeepDeps, probeReturnPath }), (it) =>
    it.stop(),
  );
  const { checkDomains } = maintenance;
  relays.onChange(checkDomains);
  const readiness = createReadiness(database);
  const returnPathKeys = secret.tokenKeys('return-path');
  const guard = addressGuard(config.webhookAllow);
  const address = { baseUrl: config.baseUrl, openedAt: null, smtp: null };
  return {
    ...store,
    ...{ config, log, opened, clock, metrics, loopWatch, secret, unfit, threads, dns, readiness },
    ...{ relays, probeReturnPath, checkDomains },
    health: watchHealth({ config, database, clock, log, metrics, readiness, secret }),
    recorder: opened(openReportRecorder({ database, metrics, nowMs: () => clock.nowMs() }), (it) =>
      it.drain(),
    ),
    matcher: createMatcher({ database, clock, returnPathKeys }),
    making: {
      returnPathKey: returnPathKeys[0],
      senders: openSenders({
        ...{ database, vault: secret.vault, bounceDomain },
        operatorDomain: config.operatorDomain,
      }),
      tracker: {
        key: secret.tokenKeys('tracking')[0],
        url: () => config.trackingUrl ?? address.baseUrl,
      },
      // The sandbox follows links on this machine.
      isPublic: () => config.isPublic || relays.isSandbox(),
      assembleLarge: (order) =>
        largeEmails.run('assemble-large', order, {
          share: `account ${order.accountId}`,
          size: Number.POSITIVE_INFINITY,
          transfer: Object.values(order.own ?? {}).map(({ buffer }) => buffer as ArrayBuffer),
        }),
    },
    webhooks: { guard, agent: opened(guardedAgent(guard), (it) => it.close()) },
    asking: createAsking([config.baseUrl, config.trackingUrl ?? config.baseUrl]),
    address,
  };
}

/**
 * A large email waits as long as it must: nobody waits for it at a door, and it must not be given
 * up.
 */
const openLargeEmails = (log: Log, metrics: Metrics): Pool<LargeEmailJobs> =>
  openPool<LargeEmailJobs>({
    ...{ file: LARGE_MAILS_FILE, threads: 2, startAhead: false, log, metrics },
    ...{ memoryMb: 512, deadlineMs: 60_000, longestWaitMs: Number.POSITIVE_INFINITY },
  });
