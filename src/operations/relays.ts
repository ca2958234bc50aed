// Relays: the servers that emails are handed over to, for operators. Each is tested before it is
// saved, and a change takes effect in every process within a second or two.
import { z } from 'zod';
import { addressKey } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { conditionsOf } from '../relays/choice.ts';
import { usedToday } from '../relays/limits.ts';
import { addressOf, knownRelays } from '../relays/relay-list.ts';
import {
  DEFAULT_RELAY,
  deleteRelay,
  lockRelays,
  PLAIN_SETTINGS,
  type RelayRule,
  type RelaySettings,
  saveRelay,
} from '../relays/stored-relays.ts';
import { probeRelay } from '../smtp/probe.ts';
import { type RelayState, readRelayStates } from '../smtp/relay-state.ts';
import { parseRelayUrl, shownRelayUrl } from '../smtp/relay-url.ts';
import type { OperationDeps } from './deps.ts';
import { listOf, pageOfFew, pageOutOf } from './lists.ts';
import { operation } from './operation.ts';

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'use lower-case letters, digits and hyphens, such as ses-eu')
  .describe('Name of the relay. `default` is the one of RELAY_URL.')
  .meta({ example: 'ses-eu' });

const url = z
  .string()
  .max(2000)
  .describe('smtp://user:password@host:port, or smtps:// for TLS from the first byte.');

const domain = z.string().min(1).max(255);

const rule = z
  .strictObject({
    from_domain: domain.optional().describe('The sender’s domain.'),
    stream: z.string().min(1).max(64).optional().describe('The stream.'),
    account_id: z.number().int().min(1).optional().describe('The account.'),
    tag: z.string().min(1).max(128).optional().describe('One of the tags.'),
    recipient_domain: domain.optional().describe('The recipient’s domain.'),
  })
  .refine((one) => conditionsOf(one) > 0, 'give at least one condition')
  .describe('Which email the relay is for: every condition given must hold.');

const limit = (most: number) => z.number().int().min(1).max(most).nullable();
const settings = {
  weight: z
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .describe(
      'Its share of the email that no rule sends elsewhere, relative to the other weights. 0: only by rule, or when no other relay can take it.',
    ),
  connections: limit(1000).describe(
    'Connections of one delivery process; null: as RELAY_CONNECTIONS says.',
  ),
  rate_per_second: limit(1_000_000).describe(
    'Emails per second, across all processes; null: no limit.',
  ),
  daily_limit: limit(2_000_000_000).describe(
    'Emails per UTC day, across all processes; null: no limit.',
  ),
  enabled: z.boolean().describe('Whether email goes through it.'),
  rules: z
    .array(rule)
    .max(500)
    .describe(
      'Email that matches one of them goes to this relay, and to others only when it cannot take it. The rule with the most conditions wins; equal ones share by weight.',
    ),
};

const change = {
  weight: settings.weight.optional(),
  connections: settings.connections.optional(),
  rate_per_second: settings.rate_per_second.optional(),
  daily_limit: settings.daily_limit.optional(),
  enabled: settings.enabled.optional(),
  rules: settings.rules.optional(),
  untested: z
    .boolean()
    .optional()
    .describe('Saves the address even if the relay cannot be reached now.'),
};

const relay = z
  .object({
    name: z.string().describe('Its name.'),
    url: z
      .string()
      .nullable()
      .describe('Its address without the password; null: RELAY_URL is unset.'),
    from_settings: z.boolean().describe('Whether its address is that of RELAY_URL.'),
    ...settings,
    rules: z
      .array(
        z.object({
          from_domain: z.string().optional().describe('The sender’s domain.'),
          stream: z.string().optional().describe('The stream.'),
          account_id: z.number().int().optional().describe('The account.'),
          tag: z.string().optional().describe('One of the tags.'),
          recipient_domain: z.string().optional().describe('The recipient’s domain.'),
        }),
      )
      .describe('Which email it is for; none: what its weight brings.'),
    used_today: z
      .number()
      .int()
      .nullable()
      .describe('Emails that delivery processes took of the daily limit; null: it has none.'),
    state: z
      .enum(['up', 'down', 'mixed', 'unknown', 'disabled'])
      .describe(
        'Its state as delivery processes see it. mixed: they disagree. unknown: none is running.',
      ),
    detail: z.string().nullable().describe('Why it is down.'),
  })
  .meta({ id: 'Relay' });

type Shown = z.output<typeof relay>;

const tested = z
  .object({
    ok: z.boolean().describe('Whether it can be reached and accepts our login.'),
    detail: z.string().describe('What was found, in a sentence.'),
    dsn: z
      .boolean()
      .nullable()
      .describe(
        'Whether it reports deliveries (DSN, RFC 3461). Without it, no email becomes `delivered` unless the provider notifies us. null: it could not be asked.',
      ),
    tls: z.boolean().nullable().describe('Whether the connection is encrypted.'),
  })
  .meta({ id: 'RelayTest' });

export const relayOperations = [
  operation({
    name: 'list_relays',
    title: 'List relays',
    summary: 'Where emails are handed over, and the state of each relay. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject(pageOfFew),
    output: listOf('relays', relay),
    rest: { method: 'GET', path: '/v1/relays' },
    client: 'relays.list',
    run: async (deps, _, wanted) => pageOutOf(await readAll(deps), wanted, ({ name }) => name),
  }),

  operation({
    name: 'get_relay',
    title: 'Read a relay',
    summary: 'One relay: its address, its settings and its state. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({ name }),
    output: relay,
    rest: { method: 'GET', path: '/v1/relays/{name}' },
    client: 'relays.get',
    run: (deps, _, wanted) => read(deps, wanted.name),
  }),

  operation({
    name: 'add_relay',
    title: 'Add a relay',
    summary:
      'Connects and logs in to test it, then saves it. Email goes through it at once, according to its rules or weight. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ name, url, ...change }),
    output: relay,
    rest: { method: 'POST', path: '/v1/relays', status: 201 },
    client: 'relays.add',
    before: (deps, _, wish) => requireWorking(deps, wish),
    async run(deps, _, wish, via) {
      await lockRelays(deps.database);
      if ((await find(deps, wish.name)) !== undefined) {
        throw new Problem('conflict', `There is already a relay called ${wish.name}. Change it.`);
      }
      if (wish.name === DEFAULT_RELAY) {
        throw new Problem('invalid', 'name: default is the relay of RELAY_URL. Use another name.', {
          at: 'name',
        });
      }
      const added = { name: wish.name, url: wish.url, ...PLAIN_SETTINGS, ...changeOf(wish) };
      await saveRelay(deps.database, deps.vault, added);
      const after = await read(deps, wish.name);
      via.note({ target: wish.name, after: audited(after) });
      return after;
    },
  }),

  operation({
    name: 'update_relay',
    title: 'Change a relay',
    summary:
      'Changes the fields you give; a new address is tested before it is saved. Emails the relay is working on are finished; the rest follow the new settings. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ name, url: url.optional(), ...change }),
    output: relay,
    rest: { method: 'PATCH', path: '/v1/relays/{name}' },
    client: 'relays.update',
    before: (deps, _, wish) => requireWorking(deps, wish),
    async run(deps, _, wish, via) {
      await lockRelays(deps.database);
      const known = await require(deps, wish.name);
      const before = await read(deps, wish.name);
      if (wish.url !== undefined && wish.name === DEFAULT_RELAY) {
        throw new Problem('invalid', 'url: the address of default is RELAY_URL. Change it there.', {
          at: 'url',
        });
      }
      const address = wish.url === undefined ? {} : { url: wish.url };
      await saveRelay(deps.database, deps.vault, { ...known, ...address, ...changeOf(wish) });
      const after = await read(deps, wish.name);
      via.note({ target: wish.name, before: audited(before), after: audited(after) });
      return after;
    },
  }),

  operation({
    name: 'remove_relay',
    title: 'Remove a relay',
    summary:
      'No more email goes through it; what it has not started goes to the others. The last one is removed only with `into_sandbox`: from then on the sandbox captures all email and nothing is delivered. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({
      name,
      into_sandbox: z
        .boolean()
        .optional()
        .describe('Removes the last relay too: email is then captured and not delivered.'),
    }),
    output: relay,
    rest: { method: 'DELETE', path: '/v1/relays/{name}' },
    client: 'relays.remove',
    async run(deps, _, wish, via) {
      await lockRelays(deps.database);
      const removed = await read(deps, wish.name);
      const others = (await readAll(deps)).filter(({ name }) => name !== wish.name);
      if (others.length === 0 && deps.relayUrl === undefined && wish.into_sandbox !== true) {
        throw new Problem(
          'conflict',
          `${wish.name} is the only relay. Without it the sandbox would capture all email, and nothing would be delivered. Add another one first or disable this one; or set into_sandbox.`,
        );
      }
      await deleteRelay(deps.database, wish.name);
      via.note({ target: wish.name, before: audited(removed) });
      return removed;
    },
  }),

  operation({
    name: 'test_relay',
    title: 'Test a relay',
    summary:
      'Connects, logs in and disconnects; no email is sent. Says whether it reports deliveries. For operators only.',
    effect: 'talks',
    scope: 'accounts:write',
    input: z.strictObject({ name }),
    output: tested,
    rest: { method: 'POST', path: '/v1/relays/{name}/test' },
    client: 'relays.test',
    async run(deps, _, wish, via) {
      const known = await require(deps, wish.name);
      const address = addressOf(known, deps.relayUrl);
      if (address === undefined) throw new Problem('conflict', 'RELAY_URL is unset.');
      const found = await test(deps, address);
      via.note({ target: wish.name, after: { ok: found.ok } });
      return found;
    },
  }),
];

async function test(deps: OperationDeps, address: string): Promise<z.output<typeof tested>> {
  const found = await probeRelay(address, deps.bounceDomain);
  if (!found.ok) return { ok: false, detail: `${found.fault}.`, dsn: null, tls: null };
  const { dsn, tls } = found;
  const detail = dsn
    ? 'The relay answers, accepts our login and reports deliveries.'
    : 'The relay answers and accepts our login. It offers no DSN: no email becomes `delivered` unless its provider notifies us.';
  return { ok: true, detail, dsn, tls };
}

/** Nobody saves a relay that does not work without knowing that it does not. */
async function requireWorking(
  deps: OperationDeps,
  { url, untested }: { url?: string | undefined; untested?: boolean | undefined },
): Promise<void> {
  if (url === undefined) return;
  try {
    parseRelayUrl(url);
  } catch (error) {
    throw new Problem('invalid', `url: ${(error as Error).message}.`, { at: 'url' });
  }
  if (untested) return;
  const { ok, detail } = await test(deps, url);
  if (ok) return;
  throw new Problem(
    'invalid',
    `url: the relay was tested and does not work: ${detail} Nothing was saved. Correct the address, or save it untested.`,
    { at: 'url' },
  );
}

const find = async (deps: OperationDeps, wanted: string): Promise<RelaySettings | undefined> =>
  (await knownRelays(deps.database, deps.vault, deps.relayUrl)).find((it) => it.name === wanted);

async function require(deps: OperationDeps, wanted: string): Promise<RelaySettings> {
  const found = await find(deps, wanted);
  if (found !== undefined) return found;
  throw new Problem('not-found', `There is no relay called ${wanted}.`, { see: 'list_relays' });
}

async function read(deps: OperationDeps, wanted: string): Promise<Shown> {
  await require(deps, wanted);
  return (await readAll(deps)).find((it) => it.name === wanted)!;
}

async function readAll(deps: OperationDeps): Promise<Shown[]> {
  const known = await knownRelays(deps.database, deps.vault, deps.relayUrl);
  const states = await readRelayStates(deps.database);
  const used = await usedToday(deps.database);
  return known.map((one) => {
    const address = addressOf(one, deps.relayUrl);
    return {
      name: one.name,
      url: address === undefined ? null : shownRelayUrl(address),
      from_settings: one.url === null,
      weight: one.weight,
      connections: one.connections,
      rate_per_second: one.ratePerSecond,
      daily_limit: one.dailyLimit,
      used_today: one.dailyLimit === null ? null : (used.get(one.name) ?? 0),
      enabled: one.enabled,
      rules: one.rules,
      ...stateOf(one.enabled, states.get(one.name) ?? []),
    };
  });
}

function stateOf(enabled: boolean, found: readonly RelayState[]): Pick<Shown, 'state' | 'detail'> {
  const down = found.filter((it) => it.down);
  const detail = down[0]?.detail ?? null;
  if (!enabled) return { state: 'disabled', detail: null };
  if (found.length === 0) return { state: 'unknown', detail: null };
  if (down.length === 0) return { state: 'up', detail: null };
  return { state: down.length === found.length ? 'down' : 'mixed', detail };
}

function changeOf(wish: z.output<z.ZodObject<typeof change>>): Partial<RelaySettings> {
  const given = {
    weight: wish.weight,
    connections: wish.connections,
    ratePerSecond: wish.rate_per_second,
    dailyLimit: wish.daily_limit,
    enabled: wish.enabled,
    rules: wish.rules?.map(comparable),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Domains as they are in envelopes. */
function comparable({ from_domain, recipient_domain, ...rest }: RelayRule): RelayRule {
  const asKey = (text: string): string => addressKey(text.replace(/^@/, ''));
  return {
    ...rest,
    ...(from_domain && { from_domain: asKey(from_domain) }),
    ...(recipient_domain && { recipient_domain: asKey(recipient_domain) }),
  };
}

/** For the audit: what operators set, without the password. */
const audited = ({ state: _, detail: __, used_today: ___, from_settings: ____, ...rest }: Shown) =>
  rest;
