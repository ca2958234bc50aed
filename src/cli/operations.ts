// Operations for commands: the same that programs, agents and pages call, performed directly on the
// database, with the types of the client. Before it: a command's own file. After it:
// operations/perform.ts.
import { randomUUID } from 'node:crypto';
import { getAccount } from '../accounts/accounts.ts';
import { type Directory, openDirectory } from '../accounts/directory.ts';
import { createDns } from '../accounts/dns.ts';
import { ALL_SCOPES, OPERATOR_SCOPES } from '../accounts/scopes.ts';
import { type Page, pagesOf } from '../client/calls.ts';
import type { Operations } from '../client/operations.ts';
import type { Config } from '../config/config.ts';
import { openTimelines } from '../events/timeline.ts';
import { htmlToPlainText } from '../html/plain-text.ts';
import { lint } from '../lint/lint.ts';
import { assembleLarge, type CopyOrder } from '../mail/assembling.ts';
import { sourceOf } from '../mail/making.ts';
import { openSenders } from '../mail/senders.ts';
import { loadEmail } from '../mail/stored-email.ts';
import { OPERATIONS } from '../operations/all.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { itemsOf } from '../operations/lists.ts';
import type { Operation } from '../operations/operation.ts';
import { perform } from '../operations/perform.ts';
import { createWholeEmails } from '../operations/whole-emails.ts';
import { systemClock } from '../process/clock.ts';
import { createLog } from '../process/log.ts';
import { createMetrics } from '../process/metrics.ts';
import { probeDomain } from '../relays/probing.ts';
import { knownRelays, withAddress } from '../relays/relay-list.ts';
import { openSecret } from '../roles/secrets.ts';
import { openWaiting } from '../sandbox/waiting.ts';
import { openBatcher } from '../sending/batch.ts';
import type { Database } from '../store/pool.ts';
import { loadStreams } from '../streams/streams.ts';
import { catalogFolder, loadCatalog } from '../templates/catalog.ts';
import { makeHere } from '../templates/making.ts';
import { createOffering } from '../templates/offering.ts';
import { createRenderer } from '../templates/rendering.ts';
import { openResolution } from '../templates/resolution.ts';
import { addressGuard, guardedAgent } from '../webhooks/address-guard.ts';
import { withDatabase } from './command.ts';

/** What a command uses if the account is not known from the start. */
export interface Here {
  database: Database;
  config: Config;
  /**
   * As the operator of the machine, who may do everything: in one account or, without one, in all
   * of them.
   */
  as(account?: number): Promise<Operations>;
}

/** For one account; undefined: for the service as a whole. */
export const withOperations = <Result>(
  account: number | undefined,
  work: (api: Operations, here: Here) => Promise<Result>,
): Promise<Result> => operating(async (here) => work(await here.as(account), here));

export const operating = <Result>(work: (here: Here) => Promise<Result>): Promise<Result> =>
  withDatabase(async (database, config) => {
    const log = createLog('silent');
    const directory = openDirectory({
      ...{ database, clock: systemClock, log },
      bounceDomain: config.bounceDomain,
    });
    const agent = guardedAgent(addressGuard(config.webhookAllow));
    try {
      const deps = await depsOf(database, config, directory, agent);
      return await work({
        database,
        config,
        async as(account) {
          if (account !== undefined) await getAccount(database, account);
          return callsOf(deps, account ?? 0);
        },
      });
    } finally {
      await agent.close();
      await directory.close();
    }
  });

/**
 * The names and types are those of the client; a list can be awaited for a page or looped over for
 * everything.
 */
function callsOf(deps: OperationDeps, accountId: number): Operations {
  const calls: Record<string, unknown> = {};
  for (const operation of OPERATIONS) {
    const path = operation.client.split('.');
    const last = path.pop()!;
    let at = calls;
    for (const part of path) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[last] = callOf(deps, operation, accountId);
  }
  return calls as unknown as Operations;
}

const scopes = new Set([...ALL_SCOPES, ...OPERATOR_SCOPES]);

function callOf(deps: OperationDeps, operation: Operation, accountId: number) {
  function call(input: Record<string, unknown>): Promise<unknown> {
    const caller = { accountId, keyId: null, scopes, limits: null, paused: null };
    const given = Object.entries(input).filter(([, value]) => value !== undefined);
    const via = { door: 'cli' as const, requestId: `req_${randomUUID()}`, person: null };
    return perform(deps, operation, caller, Object.fromEntries(given), via);
  }
  return (input: Record<string, unknown> = {}) =>
    itemsOf(operation.output) === undefined
      ? call(input)
      : pagesOf(
          (cursor) => call({ ...input, cursor }) as Promise<Page<unknown>>,
          input.cursor as string | undefined,
        );
}

async function depsOf(
  database: Database,
  config: Config,
  directory: Directory,
  agent: ReturnType<typeof guardedAgent>,
): Promise<OperationDeps> {
  const { bounceDomain } = config;
  const secret = await openSecret(database, config.secretKey);
  const { vault } = secret;
  const clock = systemClock;
  const metrics = createMetrics();
  const catalog = onceUsed(() => loadCatalog(catalogFolder));
  const making = onceUsed(() => makeHere(catalog));
  const resolve = openResolution({ database, catalog, perAccount: directory.perAccount });
  const render = createRenderer(resolve, making);
  const { relayUrl } = config;
  const known = await knownRelays(database, vault, relayUrl);
  const inSandbox = () => known.length === 0;
  const relays = () => withAddress(known, relayUrl);
  const sender = config.systemSender?.address;
  const composing = {
    returnPathKey: secret.tokenKeys('return-path')[0],
    senders: openSenders({ database, vault, bounceDomain, operatorDomain: config.operatorDomain }),
    tracker: {
      key: secret.tokenKeys('tracking')[0],
      url: () => config.trackingUrl ?? config.baseUrl,
    },
    isPublic: () => config.isPublic || inSandbox(),
    // Without a thread: nobody else waits for a command.
    assembleLarge: async (order: CopyOrder) => assembleLarge(order),
  };
  return {
    ...{ database, directory, clock, metrics, catalog, making, render, vault, bounceDomain },
    rampStart: config.rampStart,
    log: createLog('silent'),
    loopWatch: { note: () => undefined, stop: () => undefined },
    // What a command queues is delivered by the running service.
    batcher: openBatcher({
      ...{ database, metrics },
      relayIsDown: () => false,
      onCommitted: () => undefined,
    }),
    templates: createOffering({ database, catalog, resolve, render }),
    streams: directory.perAccount((accountId) => loadStreams(database, accountId)),
    relayRetryAfterSeconds: () => 1,
    scheduledFullness: () => undefined,
    allowedHeaders: config.allowedHeaders,
    lint: async (_, email) => lint(email),
    textOf: async (_, html) => htmlToPlainText(html),
    dns: createDns(config.dnsServers),
    webhooks: { guard: addressGuard(config.webhookAllow), clock, vault, agent },
    systemSender: config.systemSender,
    timelineOf: openTimelines(database),
    mailbox: openWaiting({ database, log: createLog('silent') }),
    ...{ inSandbox, relayUrl },
    probeReturnPath: (of) => probeDomain({ database, bounceDomain, sender, relays, relayUrl }, of),
    // Only the running service knows the state of the relay.
    relayIsDown: () => false,
    linksWork: composing.isPublic,
    baseUrl: () => config.baseUrl,
    wholeEmails: createWholeEmails(),
    sourceOf: async (accountId, uuid) => {
      const email = await loadEmail(database, accountId, uuid);
      return email && (await sourceOf(composing, email));
    },
  };
}

/** Reading the catalogue takes half a second, which most commands do not need. */
function onceUsed<Thing extends object>(make: () => Thing): Thing {
  let made: Thing | undefined;
  return new Proxy({} as Thing, {
    get(_, name) {
      made ??= make();
      return Reflect.get(made, name);
    },
  });
}
