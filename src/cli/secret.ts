// sandmartin secret: changing SECRET_KEY. The secrets come from environment variables, never from
// arguments: other users can see arguments.
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { rotateSecret } from '../roles/secrets.ts';
import { listing, OLD_LINKS_DAYS } from '../store/installation.ts';
import { print, wholeNumber, withDatabase, withJson } from './command.ts';

interface RotateOptions {
  fromEnv: string;
  oldLinks: number;
  lost?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

export function registerSecret(program: Command): void {
  const secret = program
    .command('secret')
    .description('the secret that encrypts keys and signs links');

  withJson(
    secret
      .command('rotate')
      .description('switch to the SECRET_KEY in this environment and re-encrypt everything'),
  )
    .option('--from-env <name>', 'the variable that holds the old secret', 'OLD_SECRET_KEY')
    .option(
      '--old-links <days>',
      'how long links and return paths signed with the old secret keep working; 0 if it leaked',
      wholeNumber('--old-links', 0, 3650),
      OLD_LINKS_DAYS,
    )
    .option('--lost', 'the old secret is lost: give up what only it can decrypt')
    .option('--dry-run', 'show what would happen, and change nothing')
    .action(rotate);
}

async function rotate({ fromEnv, oldLinks, lost, dryRun, json }: RotateOptions): Promise<void> {
  await withDatabase(async (database, { secretKey }) => {
    if (secretKey === undefined) {
      throw new Problem('invalid', 'Put the new secret into SECRET_KEY: at least 32 characters.');
    }
    const rotation = await rotateSecret(database, {
      to: secretKey,
      from: process.env[fromEnv] || undefined,
      lost: lost ?? false,
      oldLinksDays: oldLinks,
      dryRun: dryRun ?? false,
    });
    const { resealed, stranded, oldLinksUntil } = rotation;
    print(json, { ...rotation, dryRun: dryRun ?? false }, () => [
      `${resealed} sealed ${resealed === 1 ? 'value' : 'values'} ${dryRun ? 'would be' : 'are'} sealed with the new secret.`,
      ...(stranded.length > 0 ? [`${listing(stranded)} They must be created again.`] : []),
      oldLinksUntil === null
        ? 'Links and return paths signed with the old secret no longer work.'
        : `Links and return paths signed with the old secret work until ${oldLinksUntil}.`,
      dryRun
        ? 'Nothing was changed.'
        : 'Processes with the old secret stop on their own within seconds: start them with the new one.',
    ]);
  });
}
