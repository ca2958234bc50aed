// sandmartin serve --sandbox: a service for the duration of a test run, in a temporary folder, with
// an account and a test key. Prints its URL and key, ends with the process that started it, and
// leaves nothing behind. Before it: serve.ts.
import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../accounts/accounts.ts';
import { addIdentity } from '../accounts/identities.ts';
import { createKey } from '../accounts/keys.ts';
import { TEST_SCOPES } from '../accounts/scopes.ts';
import { systemClock } from '../process/clock.ts';
import { stopLeftover } from '../store/embedded/cluster.ts';
import type { Database } from '../store/pool.ts';
import { isAlive } from './caller.ts';

/** The sender that exists without being named. */
const DEFAULT_SENDER = 'demo.example';

/** Settings that would point outside the folder, or take a port that another run uses. */
const NOT_OURS = [
  ...['DATABASE_URL', 'RELAY_URL', 'BASE_URL', 'TRACKING_URL', 'MCP_PORT', 'METRICS_PORT'],
  ...['ROLES', 'SECRET_KEY', 'SYSTEM_SENDER', 'HOST'],
];

export interface TemporaryFolder {
  path: string;
  remove(): void;
}

const PREFIX = 'sandmartin-sandbox-';

/** Named after its process, so that a later run recognises what a killed one left behind. */
export async function makeTemporaryFolder(): Promise<TemporaryFolder> {
  await removeLeftovers();
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Under root the database runs as another user, who needs access.
  chmodSync(path, 0o755);
  return {
    path: join(path, 'data'),
    remove: () => removeAll(path),
  };
}

/**
 * Folders of runs that were killed before they could clean up. Those in use, or of other users,
 * stay.
 */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number.parseInt(name.slice(PREFIX.length), 10) : 0;
    const path = join(tmpdir(), name);
    if (!(pid > 0) || isAlive(pid) || !isOwn(path)) continue;
    const data = join(path, 'data/postgres/data');
    if (existsSync(data)) await stopLeftover(data, () => undefined);
    removeAll(path);
  }
}

/** Other users may write to the folder for temporary files too. */
function isOwn(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid);
}

const removeAll = (path: string): void =>
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });

/** The environment of a run that shares nothing with any other. */
export function sandboxEnv(env: NodeJS.ProcessEnv, folder: TemporaryFolder): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !NOT_OURS.includes(name));
  return {
    LOG_LEVEL: 'warn',
    ...Object.fromEntries(own),
    ...{ PORT: '0', FEEDBACK_PORT: '0', DATA_DIR: folder.path },
  };
}

/** Created at every start; the key may also manage the account, so tests can set it up. */
export async function makeTestAccount(
  database: Database,
  senders: readonly string[] = [DEFAULT_SENDER],
): Promise<{ api_key: string; senders: readonly string[] }> {
  const account = await createAccount(database, { name: 'Tests', plan: 'paid' });
  for (const sender of senders) await addIdentity(database, account.id, sender, true);
  const { key } = await createKey(database, systemClock, {
    ...{ accountId: account.id, name: 'tests', limits: { sandboxOnly: true } },
    scopes: [...TEST_SCOPES, 'admin'],
  });
  return { api_key: key, senders };
}
