// sandmartin identity: addresses and domains an account may send from.
import type { Command } from 'commander';
import { openDirectory } from '../accounts/directory.ts';
import { createDns } from '../accounts/dns.ts';
import {
  accountsWithDomain,
  addDomain,
  checkDomain,
  type Domain,
  getDomain,
} from '../accounts/domains.ts';
import {
  addIdentity,
  getIdentity,
  type Identity,
  listIdentities,
  normaliseIdentity,
  removeIdentity,
  verifyIdentity,
} from '../accounts/identities.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { Problem } from '../errors.ts';
import { createLog } from '../log.ts';
import { createMetrics } from '../metrics.ts';
import { sendVerificationMail } from '../notices/verification-mail.ts';
import { openSecret } from '../secrets.ts';
import { openBatcher } from '../sending/batch.ts';
import type { Database } from '../store/pool.ts';
import { accountNumber, print, table, withDatabase, withJson } from './command.ts';

interface IdentityOptions {
  account: number;
  verified?: boolean;
  json?: boolean;
}

export function registerIdentity(program: Command): void {
  const identity = program.command('identity').description('addresses and domains to send from');

  ofAccount(identity.command('add <value>').description('add a domain or an address'))
    .option('--verified', 'it is known to belong to the account')
    .action((value: string, options: IdentityOptions) =>
      withDatabase((database, config) =>
        value.includes('@')
          ? addAddress(database, config, value, options)
          : addWithKeys(database, config, value, options),
      ),
    );

  withJson(identity.command('check <domain>').description('ask DNS for the records of a domain'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((value: string, options: Partial<IdentityOptions>) =>
      withDatabase(async (database, config) => {
        const deps = {
          database,
          bounceDomain: config.bounceDomain,
          dns: createDns(config.dnsServers),
        };
        const checked: Domain[] = [];
        for (const account of await accountsOf(database, value, options.account)) {
          checked.push(await checkDomain(deps, account, value));
        }
        print(options.json, checked.length === 1 ? checked[0] : checked, () =>
          checked.flatMap(showFindings),
        );
        if (checked.some((domain) => !domain.verified)) process.exitCode = 1;
      }),
    );

  withJson(identity.command('records <domain>').description('the DNS records of a domain'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((value: string, options: Partial<IdentityOptions>) =>
      withDatabase(async (database, { bounceDomain }) => {
        for (const account of await accountsOf(database, value, options.account)) {
          const domain = await getDomain({ database, bounceDomain }, account, value);
          print(options.json, domain, () => showRecords(domain));
        }
      }),
    );

  ofAccount(identity.command('verify <value>').description('mark it as verified')).action(
    (value: string, options: IdentityOptions) =>
      withDatabase(async (database) => {
        const verified = await verifyIdentity(database, options.account, value);
        print(options.json, verified, () => [describe(verified)]);
      }),
  );

  ofAccount(identity.command('remove <value>').description('no longer send from it')).action(
    (value: string, options: IdentityOptions) =>
      withDatabase(async (database) => {
        const removed = await removeIdentity(database, options.account, value);
        print(options.json, removed, () => [`${removed.value} is removed.`]);
      }),
  );

  withJson(identity.command('list').description('what accounts may send from'))
    .option('--account <id>', 'of one account only', accountNumber)
    .action((options: Partial<IdentityOptions>) =>
      withDatabase(async (database) => {
        const identities = await listIdentities(database, options.account);
        print(options.json, identities, () =>
          table(
            ['ACCOUNT', 'IDENTITY', 'KIND', 'STATE'],
            identities.map((it) => [
              String(it.accountId),
              it.value,
              it.kind,
              it.verified ? `verified by ${it.verifiedBy}` : 'not verified',
            ]),
          ),
        );
      }),
    );
}

async function addWithKeys(
  database: Database,
  config: Config,
  value: string,
  options: IdentityOptions,
): Promise<void> {
  const { vault } = await openSecret(database, config.secretKey);
  const domain = await addDomain(
    { database, bounceDomain: config.bounceDomain, vault },
    options.account,
    value,
    options.verified ?? false,
  );
  const added = await getIdentity(database, options.account, domain.domain);
  print(options.json, { ...added, records: domain.records }, () => [
    describe(added),
    ...showRecords(domain),
  ]);
}

async function addAddress(
  database: Database,
  config: Config,
  value: string,
  options: IdentityOptions,
): Promise<void> {
  const added = await addIdentity(database, options.account, value, options.verified ?? false);
  const sent = added.verified ? null : await askTheAddress(database, config, added);
  print(options.json, sent === null ? added : { ...added, ...sent }, () => [
    describe(added),
    ...(sent === null ? [] : [sent.verification]),
  ]);
}

/** The mail with the link goes out through the running service; when it cannot, the address stays and is told why. */
async function askTheAddress(
  database: Database,
  config: Config,
  { accountId, value }: Identity,
): Promise<{ verification: string; verificationMail?: string }> {
  const metrics = createMetrics();
  const log = createLog('silent');
  const directory = openDirectory({ database, clock: systemClock, log });
  const batcher = openBatcher({
    database,
    metrics,
    relayIsDown: () => false,
    onCommitted: () => undefined,
  });
  try {
    const id = await sendVerificationMail(
      {
        database,
        clock: systemClock,
        directory,
        batcher,
        render: () => Promise.reject(new Error('no template is used')),
        relayRetryAfterSeconds: () => 1,
        allowedHeaders: config.allowedHeaders,
        systemSender: config.systemSender,
        inSandbox: () => config.relayUrl === undefined,
        baseUrl: () => config.baseUrl,
      },
      accountId,
      value,
    );
    return { verification: `A link to verify it is on its way to ${value}.`, verificationMail: id };
  } catch (error) {
    if (error instanceof Problem) return { verification: error.detail };
    throw error;
  } finally {
    await directory.close();
  }
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

const ofAccount = (command: Command): Command =>
  withJson(command).requiredOption('--account <id>', 'the account', accountNumber);

function describe(identity: Identity): string {
  const state = identity.verified
    ? `is verified: account ${identity.accountId} may send from it`
    : 'is not verified yet';
  return `${identity.value} ${state}.`;
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

function showFindings(domain: Domain): string[] {
  return [
    `${domain.domain} (account ${domain.accountId}) is ${domain.verified ? 'verified' : 'not verified'}.`,
    ...(domain.findings ?? []).flatMap((finding) => [
      '',
      `${finding.ok ? 'ok   ' : 'FAULT'}  ${finding.purpose}  ${finding.name} ${finding.type}`,
      ...(finding.ok
        ? []
        : [
            `       ${finding.note}`,
            `       expected  ${finding.expected}`,
            ...finding.seen.map((seen) => `       seen      ${seen}`),
          ]),
    ]),
  ];
}
