// sandmartin user: who can sign in to the dashboard.

import type { Command } from 'commander';
import { getAccount } from '../accounts/accounts.ts';
import { MEMBER_ROLES, type MemberRole } from '../accounts/scopes.ts';
import { Problem } from '../errors.ts';
import { hasFactor, resetFactors } from '../people/factors.ts';
import { createInvitation, INVITATION_DAYS, invitationLink } from '../people/invitations.ts';
import { generatePassword } from '../people/passwords.ts';
import { endSessions } from '../people/sessions.ts';
import {
  addMember,
  addUser,
  changeRole,
  findUser,
  listUsers,
  prepareUser,
  removeUser,
  setOperator,
  setPassword,
  type User,
} from '../people/users.ts';
import { systemClock } from '../process/clock.ts';
import type { Queryable } from '../store/pool.ts';
import { accountNumber, print, readTextFile, table, withDatabase, withJson } from './command.ts';

interface UserOptions {
  account?: number;
  role: MemberRole;
  name?: string;
  operator?: boolean;
  passwordFile?: string;
  json?: boolean;
}

export function registerUser(program: Command): void {
  const user = program.command('user').description('who can sign in to the dashboard');
  registerCreate(user);
  registerInvite(user);
  registerPassword(user);
  registerResetFactors(user);
  registerRights(user);
}

function registerCreate(user: Command): void {
  withJson(
    user.command('create <email>').description('create a login; its password is shown only once'),
  )
    .option('--account <id>', 'a member of this account', accountNumber)
    .option('--role <role>', MEMBER_ROLES.join(', '), readRole, 'owner')
    .option('--name <name>', 'their name; by default the address')
    .option('--operator', 'sees and changes all accounts')
    .option('--password-file <file>', 'read the password from this file; - is standard input')
    .action((email: string, options: UserOptions) =>
      withDatabase(async (database) => {
        if (options.account === undefined && !options.operator) {
          throw new Problem('invalid', 'Give --account, --operator or both.');
        }
        if (options.account !== undefined) await getAccount(database, options.account);
        const password = givenPassword(options) ?? generatePassword();
        const prepared = await prepareUser({
          ...{ email, name: options.name ?? email, password },
          operator: options.operator ?? false,
        });
        const made = await database.transaction(async (client) => {
          const added = await addUser(client, systemClock, prepared);
          if (options.account !== undefined) {
            await addMember(client, options.account, added, options.role);
          }
          return added;
        });
        printPassword(options, made, password);
      }),
    );

  withJson(user.command('list').description('all logins')).action((options: UserOptions) =>
    withDatabase(async (database) => {
      const users = await listUsers(database);
      print(options.json, users, () =>
        table(
          ['EMAIL', 'NAME', 'OPERATOR', 'SINCE'],
          users.map((it) => [it.email, it.name, it.operator ? 'yes' : 'no', it.createdAt]),
        ),
      );
    }),
  );
}

/**
 * For services that cannot send email themselves; anyone with access to this machine could create
 * the login anyway.
 */
function registerInvite(user: Command): void {
  withJson(
    user
      .command('invite <email>')
      .description('create a link for choosing a password and joining an account'),
  )
    .requiredOption('--account <id>', 'the account', accountNumber)
    .option('--role <role>', MEMBER_ROLES.join(', '), readRole, 'owner')
    .action((email: string, options: UserOptions & { account: number }) =>
      withDatabase(async (database, { baseUrl }) => {
        const { invitation, token } = await createInvitation(database, systemClock, {
          ...{ accountId: options.account, email, role: options.role },
          invitedBy: 'The operator of this service',
        });
        const link = invitationLink(baseUrl, token);
        print(options.json, { ...invitation, link }, () => [
          link,
          `Give it to ${invitation.email} and to nobody else: whoever has it becomes ${invitation.role} of ${invitation.accountName}.`,
          `It works once, for ${INVITATION_DAYS} days, and is not shown again.`,
        ]);
      }),
    );
}

function registerPassword(user: Command): void {
  withJson(
    user
      .command('password <email>')
      .description(
        'set a new password, shown only once; everyone signed in with the old one is signed out',
      ),
  )
    .option('--password-file <file>', 'read the password from this file; - is standard input')
    .action((email: string, options: UserOptions) =>
      withDatabase(async (database) => {
        const found = await requireUser(database, email);
        const password = givenPassword(options) ?? generatePassword();
        await setPassword(database, found, password);
        await endSessions(database, found.id);
        printPassword(options, found, password);
      }),
    );
}

/**
 * For someone who lost phone, passkeys and recovery codes; the operator has verified who they are.
 */
function registerResetFactors(user: Command): void {
  withJson(
    user
      .command('reset-factors <email>')
      .description(
        'remove someone’s authenticator app, passkeys and recovery codes; the password alone then signs them in',
      ),
  ).action((email: string, options: UserOptions) =>
    withDatabase(async (database) => {
      const found = await requireUser(database, email);
      const before = await database.transaction(async (client) => {
        const removed = await resetFactors(client, systemClock, found);
        await endSessions(client, found.id);
        return removed;
      });
      print(options.json, { ...found, removed: before }, () => [
        hasFactor(before)
          ? `${found.email} now signs in with the password alone, and is signed out everywhere. They were notified by email.`
          : `${found.email} had no second factor.`,
      ]);
    }),
  );
}

function registerRights(user: Command): void {
  withJson(user.command('operator <email>').description('let someone see and change all accounts'))
    .option('--off', 'take this right away again')
    .action((email: string, options: UserOptions & { off?: boolean }) =>
      withDatabase(async (database) => {
        const found = await requireUser(database, email);
        await setOperator(database, found, !options.off);
        print(options.json, { ...found, operator: !options.off }, () => [
          `${found.email} is ${options.off ? 'no longer' : 'now'} an operator.`,
        ]);
      }),
    );

  withJson(user.command('join <email>').description('make someone a member of an account'))
    .requiredOption('--account <id>', 'the account', accountNumber)
    .option('--role <role>', MEMBER_ROLES.join(', '), readRole, 'developer')
    .action((email: string, options: UserOptions & { account: number }) =>
      withDatabase(async (database) => {
        const found = await requireUser(database, email);
        await database.transaction((client) =>
          addMember(client, options.account, found, options.role),
        );
        await changeRole(database, options.account, found.id, options.role);
        print(options.json, { ...found, account: options.account, role: options.role }, () => [
          `${found.email} is now ${options.role} of account ${options.account}.`,
        ]);
      }),
    );

  withJson(user.command('remove <email>').description('remove the login')).action(
    (email: string, options: UserOptions) =>
      withDatabase(async (database) => {
        const found = await requireUser(database, email);
        await removeUser(database, found);
        print(options.json, found, () => [`${found.email} can no longer sign in.`]);
      }),
  );
}

async function requireUser(database: Queryable, email: string): Promise<User> {
  const found = await findUser(database, email);
  if (found !== undefined) return found;
  throw new Problem(
    'not-found',
    `${email} has no login. "npx sandmartin user list" shows who has one.`,
  );
}

function readRole(text: string): MemberRole {
  const role = MEMBER_ROLES.find((it) => it === text);
  if (role !== undefined) return role;
  throw new Problem('invalid', `--role must be ${MEMBER_ROLES.join(', ')}, not "${text}".`);
}

const givenPassword = ({ passwordFile }: UserOptions): string | undefined =>
  passwordFile && readTextFile('--password-file', passwordFile).replace(/\r?\n$/, '');

function printPassword(options: UserOptions, user: User, password: string): void {
  const shown = options.passwordFile === undefined ? { ...user, password } : user;
  print(options.json, shown, () => [
    options.passwordFile === undefined
      ? `${user.email} signs in with the password ${password}   (shown only once)`
      : `${user.email} signs in with the password in ${options.passwordFile}.`,
  ]);
}
