// A real PostgreSQL in the data folder when DATABASE_URL is unset. Before it: main.ts and cli/ ask
// for it. After it: store/pool.ts connects to its url.
//
// Layout of DATA_DIR/postgres: data/ (PGDATA), connection.json (port and password), server.log,
// lock/ (lock.ts), verified (verified.ts), binaries-VERSION/ (only if the programs in node_modules
// cannot be run in place).

import { randomBytes, randomInt } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { Problem } from '../../errors.ts';
import { checkPlatform, findBinaries } from './binaries.ts';
import { adoptCluster, createCluster, discardDrafts, keepEntries } from './cluster.ts';
import { askOwner, openReception, type Reception } from './guests.ts';
import { claim, type Lock } from './lock.ts';
import { startServer } from './server.ts';
import { giveToOwnerOf, makeOpenFolder, serverUser } from './user.ts';

export interface EmbeddedDatabase {
  /**
   * postgres://user:password@127.0.0.1:port/sandmartin; stays valid when the server has to be
   * restarted.
   */
  url: string;
  /** Stops the server if this process owns it. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /**
   * The service owns the folder. A guest (a command) joins the running server, or owns it until it
   * is done.
   */
  as: 'owner' | 'guest';
  log: (message: string) => void;
  /** PostgreSQL settings that override those of server.ts. */
  settings?: Record<string, string>;
}

interface Connection {
  port: number;
  password: string;
}

export async function openEmbedded(
  dataDir: string,
  options: EmbeddedOptions,
): Promise<EmbeddedDatabase> {
  checkPlatform();
  try {
    const folder = prepareFolder(dataDir);
    for (;;) {
      const reception = openReception(options.as === 'owner');
      const claimed = await claim(join(folder, 'lock'), reception.receive);
      if (claimed.lock !== undefined) return await own(folder, options, claimed.lock, reception);
      const { owner, pid } = claimed;
      const inUse = `${dataDir} is already in use by the Sandmartin process with pid ${pid}, stop it or set DATA_DIR to another folder`;
      const url = await askOwner(owner, options.as, new Problem('unavailable', inUse));
      if (url === undefined) continue; // it is gone: now it may be our turn
      owner.unref();
      return { url, stop: async () => void owner.destroy() };
    }
  } catch (cause) {
    if (cause instanceof Problem) throw cause;
    throw new Problem(
      'unavailable',
      `cannot open the database in ${dataDir}: ${explain(dataDir, cause as NodeJS.ErrnoException)}`,
      { cause },
    );
  }
}

function explain(dataDir: string, { code, message }: NodeJS.ErrnoException): string {
  const elsewhere = 'or set DATA_DIR to another folder';
  if (code === 'EROFS' || isReadOnly(dataDir)) {
    return `it is on a file system that is mounted read-only; mount it for writing, ${elsewhere}`;
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return `${message}; run Sandmartin as the user it belongs to, ${elsewhere}`;
  }
  if (code === 'ENOSPC' || /No space left on device/.test(message)) {
    return `its disk is full; make room, ${elsewhere} (${message})`;
  }
  return message;
}

/**
 * Checked on the nearest existing folder: Node reports ENOENT for folders that it may not create
 * below one.
 */
function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EROFS' || (code === 'ENOENT' && isReadOnly(dirname(folder)));
  }
}

function prepareFolder(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true });
  const root = realpathSync(dataDir);
  const folder = join(root, 'postgres');
  // Under root another uid may run binaries from here; what is secret in it has its own modes.
  makeOpenFolder(folder);
  giveToOwnerOf(root, 'postgres');
  mkdirSync(join(folder, 'lock'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'server.log'), '', { flag: 'a', mode: 0o600 });
  giveToOwnerOf(folder, 'lock', 'server.log');
  return folder;
}

/** From here on this process is the only one working in `folder`. */
async function own(
  folder: string,
  options: EmbeddedOptions,
  lock: Lock,
  reception: Reception,
): Promise<EmbeddedDatabase> {
  let server: { stop: () => Promise<void> } | undefined;
  const release = async () => {
    await server?.stop();
    await lock.release();
  };
  try {
    const data = join(folder, 'data');
    const user = serverUser(folder, data);
    const binaries = findBinaries(folder, user);
    let connection = readConnection(folder);
    discardDrafts(data);
    if (!existsSync(data)) {
      connection ??= saveConnection(folder, await newConnection());
      options.log('creating the database');
      await createCluster(data, binaries, user, { name: 'sandmartin', ...connection });
    }
    if (connection === undefined) {
      const detail = `${folder}/connection.json with the password of the database is missing, restore it from a backup`;
      throw new Problem('unavailable', detail);
    }
    adoptCluster(data, binaries, user);
    const { settings = {}, log } = options;
    const plan = { binaries, user, data, settings, log, logFile: join(folder, 'server.log') };
    while (server === undefined) {
      try {
        server = await startServer({ ...plan, port: connection.port });
      } catch (error) {
        if (!/Address already in use/.test((error as Error).message)) throw error;
        connection = saveConnection(folder, { ...connection, port: await freePort() });
      }
    }
    const url = urlOf(connection, 'sandmartin');
    await ensureDatabase(connection);
    reception.open(url);
    let stopped: Promise<void> | undefined;
    return {
      url,
      stop() {
        stopped ??= reception.close().then(release);
        return stopped;
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
}

function readConnection(folder: string): Connection | undefined {
  const file = join(folder, 'connection.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

async function newConnection(): Promise<Connection> {
  return { port: await freePort(), password: randomBytes(24).toString('base64url') };
}

function saveConnection(folder: string, connection: Connection): Connection {
  const file = join(folder, 'connection.json');
  writeFileSync(`${file}.new`, JSON.stringify(connection), { mode: 0o600, flush: true });
  giveToOwnerOf(folder, 'connection.json.new');
  renameSync(`${file}.new`, file);
  keepEntries(folder);
  return connection;
}

/**
 * Below the range that outgoing connections take their ports from (Linux 32768, macOS 49152): none
 * can occupy it during a restart.
 */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    const probe = createServer();
    const free = await new Promise((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    probe.close();
    if (free) return port;
  }
}

function urlOf({ port, password }: Connection, database: string): string {
  return `postgres://sandmartin:${password}@127.0.0.1:${port}/${database}`;
}

async function ensureDatabase(connection: Connection): Promise<void> {
  const client = new pg.Client(urlOf(connection, 'postgres'));
  client.on('error', () => undefined);
  await client.connect();
  try {
    const found = await client.query(`select from pg_database where datname = 'sandmartin'`);
    if (found.rowCount === 0) await client.query('create database sandmartin');
  } finally {
    await client.end();
  }
}
