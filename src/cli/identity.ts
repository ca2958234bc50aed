// sandmartin identity: addresses and domains an account may send from.
import type { Command } from 'commander';
import { accountsWithDomain } from '../accounts/domains.ts';
import { listIdentities, normaliseIdentity } from '../accounts/identities.ts';
import type { Domain, Operations, SenderAddress } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import type { Database } from '../store/pool.ts';
import { accountNumber, ofAccount, print, table, withJson } from './command.ts';
import { type Here, operating, withOperations } from './operations.ts';

interface IdentityOptions {
  account: number;
  verified?: boolean;
  json?: boolean;
}

export function registerIdentity(program: Command): void {
  const identity = program.command('identity').description('addresses and domains to send from');
  registerChanges(identity);
  registerLooks(identity);
}

function registerChanges(identity: Command): void {
  ofAccount(identity.command('add <value>').description('add a domain or an address'))
    .option('--verified', 'it is known to belong to the account')
    .action((value: string, options: IdentityOptions) =>
      withOperations(options.account, (api) =>
        isAddress(value) ? addAddress(api, value, options) : addDomain(api, value, options),
      ),
    );

  ofAccount(identity.command('verify <value>').description('mark it as verified')).action(
    (value: string, { account, json }: IdentityOptions) =>
      withOperations(account, async (api) => {
        // Must exist already: `put` would create it, and a typo must not add an identity.
        await getOne(api, value);
        const verified = isAddress(value)
          ? await api.addresses.put({ address: value, vouched: true })
          : await api.domains.put({ domain: value, vouched: true });
        print(json, verified, () => [describe(account, verified)]);
      }),
  );

  ofAccount(identity.command('rotate <domain>').description('change its signing keys')).action(
    (domain: string, { account, json }: IdentityOptions) =>
      withOperations(account, async (api) => {
        const rotated = await api.domains.rotate({ domain });
        print(json, rotated, () => [
          ...(rotated.rotation ? [rotated.rotation.note] : []),
          ...showRecords({
            ...rotated,
            records: rotated.records.filter(({ purpose }) => purpose.endsWith('-next')),
          }),
        ]);
      }),
  );

  ofAccount(identity.command('remove <value>').description('stop sending from it')).action(
    (value: string, { account, json }: IdentityOptions) =>
      withOperations(account, async (api) => {
        const removed = isAddress(value)
          ? await api.addresses.remove({ address: value })
          : await api.domains.remove({ domain: value });
        print(json, removed, () => [`${nameOf(removed)} is removed.`]);
      }),
  );
}

function registerLooks(identity: Command): void {
  withJson(identity.command('check <domain>').description('check the DNS records of a domain'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((domain: string, options: Partial<IdentityOptions>) =>
      operating(async (here) => {
        const checked: (Domain & { account: number })[] = [];
        for (const account of await accountsOf(here.database, domain, options.account)) {
          checked.push({ account, ...(await (await here.as(account)).domains.check({ domain })) });
        }
        print(options.json, checked.length === 1 ? checked[0] : checked, () =>
          checked.flatMap(showFindings),
        );
        if (checked.some(({ verified }) => !verified)) process.exitCode = 1;
      }),
    );

  withJson(identity.command('records <domain>').description('the DNS records of a domain'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((value: string, options: Partial<IdentityOptions>) =>
      operating(async (here) => {
        for (const account of await accountsOf(here.database, value, options.account)) {
          const domain = await (await here.as(account)).domains.get({ domain: value });
          print(options.json, { account, ...domain }, () => showRecords(domain));
        }
      }),
    );

  withJson(identity.command('list').description('what accounts may send from'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: Partial<IdentityOptions>) =>
      operating(async (here) => {
        const found = await sendersOf(here, options.account);
        print(options.json, found, () =>
          table(
            ['ACCOUNT', 'IDENTITY', 'KIND', 'STATE'],
            found.map((it) => [
              String(it.account),
              nameOf(it),
              'domain' in it ? 'domain' : 'address',
              it.verified ? `verified by ${it.verified_by}` : 'not verified',
            ]),
          ),
        );
      }),
    );
}

type Sender = Domain | SenderAddress;

const isAddress = (value: string): boolean => value.includes('@');
const nameOf = (sender: Sender): string => ('domain' in sender ? sender.domain : sender.address);

const getOne = (api: Operations, value: string): Promise<Sender> =>
  isAddress(value) ? api.addresses.get({ address: value }) : api.domains.get({ domain: value });

async function addDomain(
  api: Operations,
  domain: string,
  { account, verified, json }: IdentityOptions,
): Promise<void> {
  const added = await api.domains.put({ domain, vouched: verified });
  print(json, added, () => [describe(account, added), ...showRecords(added)]);
}

/**
 * The email with the link goes out through the running service; if it cannot, the address is kept
 * and the output says why.
 */
async function addAddress(
  api: Operations,
  address: string,
  { account, verified, json }: IdentityOptions,
): Promise<void> {
  const added = await api.addresses.put({ address, vouched: verified });
  print(json, added, () => [
    describe(account, added),
    ...(added.verification_message
      ? [`A link to verify it is on its way to ${added.address}.`]
      : []),
    ...(added.note ? [added.note] : []),
  ]);
}

/** Those of one account or, for the operator, of all. */
async function sendersOf(
  here: Here,
  account: number | undefined,
): Promise<(Sender & { account: number })[]> {
  const all = account === undefined ? await listIdentities(here.database) : [];
  const accounts = account === undefined ? new Set(all.map((it) => it.accountId)) : [account];
  const found = [];
  for (const account of accounts) {
    const api = await here.as(account);
    for await (const domain of api.domains.list({ limit: 100 })) found.push({ account, ...domain });
    for await (const address of api.addresses.list({ limit: 100 })) {
      found.push({ account, ...address });
    }
  }
  return found;
}

async function accountsOf(
  database: Database,
  value: string,
  account: number | undefined,
): Promise<number[]> {
  if (account !== undefined) return [account];
  const accounts = await accountsWithDomain(database, value);
  if (accounts.length > 0) return accounts;
  throw new Problem(
    'not-found',
    `No account has the domain ${normaliseIdentity(value)} with keys. Add it: npx sandmartin identity add ${value} --account ID`,
  );
}

function describe(account: number, sender: Sender): string {
  const state = sender.verified
    ? `is verified: account ${account} may send from it`
    : 'is not verified yet';
  return `${nameOf(sender)} ${state}.`;
}

function showRecords({ domain, records }: Domain): string[] {
  return [
    '',
    'Publish these records, exactly as they are:',
    ...records.flatMap(({ purpose, type, name, value }) => [
      '',
      `${purpose}`,
      `  ${name}  ${type}`,
      `  ${value}`,
    ]),
    '',
    `Then: npx sandmartin identity check ${domain}`,
  ];
}

function sayAlignment(domain: string, of: NonNullable<Domain['alignment']>): string {
  const { dkim, spf, policy, policy_domain: at } = of;
  const ways = [...(dkim ? ['DKIM'] : []), ...(spf ? ['SPF'] : [])];
  const aligned =
    ways.length > 0 ? `Its email aligns by ${ways.join(' and ')}` : 'Its email cannot pass DMARC';
  const asked = policy === null ? 'no DMARC policy' : `policy ${policy}`;
  return `${aligned}; ${asked}${at === null || at === domain ? '' : `, of ${at}`}.`;
}

function showFindings(domain: Domain & { account: number }): string[] {
  return [
    `${domain.domain} (account ${domain.account}) is ${domain.verified ? 'verified' : 'not verified'}.`,
    ...(domain.alignment ? [sayAlignment(domain.domain, domain.alignment)] : []),
    ...(domain.rotation ? ['', domain.rotation.note] : []),
    ...domain.records.flatMap(({ purpose, name, type, value, check }) => [
      '',
      `${check?.state === 'ok' ? 'ok   ' : 'FAULT'}  ${purpose}  ${name} ${type}`,
      ...(check?.note ? [`       ${check.note}`] : []),
      ...(check?.state === 'ok'
        ? []
        : [
            `       expected  ${value}`,
            ...(check?.seen ?? []).map((seen) => `       seen      ${seen}`),
          ]),
    ]),
  ];
}
