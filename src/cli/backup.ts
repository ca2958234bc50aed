// sandmartin backup and restore: everything the service stores in one file, and back. The
// passphrase comes from an environment variable, never from an argument: other users can see
// arguments.
import { existsSync, statSync } from 'node:fs';
import type { Command } from 'commander';
import { Problem } from '../errors.ts';
import { checkSealed, openSecret } from '../roles/secrets.ts';
import { alreadyThere } from '../store/backup/file.ts';
import { restoreBackup } from '../store/backup/restore.ts';
import { writeBackup } from '../store/backup/write.ts';
import { listing } from '../store/installation.ts';
import { print, withDatabase, withJson, withOpened } from './command.ts';

const SHORTEST_PASSPHRASE = 12;

export function registerBackup(program: Command): void {
  withJson(
    program
      .command('backup')
      .argument('<file>', 'where to write it')
      .description(
        'write everything to one file, while the service runs; secrets only with BACKUP_PASSPHRASE',
      ),
  ).action(backUp);

  withJson(
    program
      .command('restore')
      .argument('<file>', 'a backup')
      .description('restore a backup into an empty database (DATA_DIR or DATABASE_URL)'),
  ).action(restore);
}

async function backUp(file: string, { json }: { json?: boolean }): Promise<void> {
  const passphrase = readPassphrase();
  if (existsSync(file)) throw alreadyThere(file);
  await withDatabase(async (_database, _config, url) => {
    const report = await writeBackup(url, file, passphrase);
    const bytes = statSync(file).size;
    print(json, { file, bytes, ...report }, () => [
      `${file}: ${report.rows.toLocaleString('en')} rows, ${inMegabytes(bytes)}, as of ${report.at}.`,
      ABOUT_SECRET.written[report.secret],
    ]);
  });
}

async function restore(file: string, { json }: { json?: boolean }): Promise<void> {
  const passphrase = readPassphrase();
  await withOpened(async (database, { secretKey }, url) => {
    const report = await restoreBackup({ database, url }, file, { secretKey, passphrase });
    const secretInForce = report.secret === 'SECRET_KEY' ? secretKey : undefined;
    const { stranded } = await checkSealed(database, await openSecret(database, secretInForce));
    print(json, { ...report, stranded }, () => [
      `Restored ${report.rows.toLocaleString('en')} rows of Sandmartin ${report.version}, as of ${report.at}.`,
      ...(report.queued > 0 ? [aboutQueued(report.queued)] : []),
      ...(stranded.length > 0 ? [`${listing(stranded)} ${ABOUT_STRANDED}`] : []),
      'Start the service.',
    ]);
  });
}

function readPassphrase(): string | undefined {
  const passphrase = process.env.BACKUP_PASSPHRASE || undefined;
  if (passphrase !== undefined && passphrase.length < SHORTEST_PASSPHRASE) {
    const detail = `BACKUP_PASSPHRASE has ${passphrase.length} characters; at least ${SHORTEST_PASSPHRASE} are needed, because whoever has the file can try as many as they like.`;
    throw new Problem('invalid', detail);
  }
  return passphrase;
}

const ABOUT_SECRET = {
  written: {
    SECRET_KEY: 'A restore needs the SECRET_KEY of this installation, which is not in the file.',
    sealed: 'Its secrets are sealed: a restore needs the same BACKUP_PASSPHRASE.',
    'left out':
      'Without secrets: after a restore, DKIM keys and webhook secrets must be created again. Set BACKUP_PASSPHRASE to include them, sealed.',
  },
};

const ABOUT_STRANDED =
  'The backup was written without secrets. Remove such a domain and add it again (its DNS records change), and rotate such a webhook secret.';

const aboutQueued = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'email was' : 'emails were'} queued when the backup was taken and will be sent when the service starts, even if that already happened after the backup was taken.`;

const inMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
