// sandmartin identity: addresses and domains an account may send from.
import type { Command } from 'commander';
import {
  addIdentity,
  type Identity,
  listIdentities,
  removeIdentity,
  verifyIdentity,
} from '../accounts/identities.ts';
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
      withDatabase(async (database) => {
        const added = await addIdentity(
          database,
          options.account,
          value,
          options.verified ?? false,
        );
        print(options.json, added, () => [describe(added)]);
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
              it.verified ? 'verified' : 'not verified',
            ]),
          ),
        );
      }),
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
