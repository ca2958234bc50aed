// sandmartin serve --sandbox: a service for the time of a test run, in a temporary folder, with an
// account and a test key. Prints where it is and how to get in, ends with whoever started it, and
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

/** The one that may send without being named. */
const DEFAULT_SENDER = 'demo.example';

/** What would lead out of the folder, or take a port that another run has. */
const NOT_OURS = [
  ...['DATABASE_URL', 'RELAY_URL', 'BASE_URL', 'TRACKING_URL', 'MCP_PORT', 'METRICS_PORT'],
  ...['ROLES', 'SECRET_KEY', 'SYSTEM_SENDER', 'HOST'],
];

export interface TemporaryFolder {
  path: string;
  remove(): void;
}

const PREFIX = 'sandmartin-sandbox-';

/** Named after its process, so that a later run knows what a killed one left behind. */
export async function makeTemporaryFolder(): Promise<TemporaryFolder> {
  await removeLeftovers();
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // Under root the database runs as another user, who has to get in.
  chmodSync(path, 0o755);
  return {
    path: join(path, 'data'),
    remove: () => removeAll(path),
  };
}

/** Of runs that were killed and could not tidy up. What is in use, or somebody else's, stays. */
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

/** Others may write into the folder for temporary files as well. */
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

/** Made again with every start; the key manages the account as well, so tests can set it up. */
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
