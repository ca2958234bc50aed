// The embedded database when processes are killed: no acknowledged row is lost, nobody owns a
// folder twice, no leftover stops the next start.

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { claim, type Lock } from '../../src/store/embedded/lock.ts';
import { serverUser } from '../../src/store/embedded/user.ts';
import {
  commandOf,
  hasEnded,
  newFolder,
  open,
  openElsewhere,
  query,
  serverPid,
  until,
} from '../store/embedded-support.ts';

const one = [{ one: 1 }];
/** Processes and databases are started in plenty here; a busy machine takes its time. */
const folder = newFolder(afterAll);
const data = join(folder, 'postgres/data');
const pidFile = join(data, 'postmaster.pid');

/** Inserts 1, 2, 3 … as fast as they are acknowledged, through whatever happens to the server. */
function insertSteadily(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on('error', () => undefined);
  const acknowledged: number[] = [];
  let next = 0;
  let running = true;
  const inserters = Array.from({ length: 4 }, async () => {
    while (running) {
      const row = ++next;
      await pool
        .query('insert into acknowledged values ($1)', [row])
        .then(() => acknowledged.push(row))
        .catch(() => undefined);
    }
  });
  return {
    acknowledged,
    async stop() {
      running = false;
      await Promise.all(inserters);
      await pool.end();
    },
  };
}

async function expectAllKept(url: string, acknowledged: number[]) {
  const kept = new Set((await query(url, 'select row from acknowledged')).map(({ row }) => row));
  expect(acknowledged.filter((row) => !kept.has(row))).toEqual([]);
}

describe('kill -9 of the server', () => {
  it('is followed by a restart on the same url, with every acknowledged row', async () => {
    const { url } = await open(folder, 'owner');
    await query(url, 'drop table if exists acknowledged; create table acknowledged (row int)');
    const load = insertSteadily(url);
    for (let round = 0; round < 2; round += 1) {
      const seen = load.acknowledged.length;
      await until(() => load.acknowledged.length > seen + 200);
      const server = serverPid(folder);
      process.kill(server, 'SIGKILL');
      await until(() => hasEnded(server));
    }
    const seen = load.acknowledged.length;
    await until(() => load.acknowledged.length > seen + 200);
    await load.stop();
    await expectAllKept(url, load.acknowledged);
  });

  it('does not outlast a stop that comes while it starts again', async () => {
    const database = await open(folder, 'owner');
    process.kill(serverPid(folder), 'SIGKILL');
    await until(() =>
      query(database.url, 'select').then(
        () => false,
        () => true,
      ),
    );
    await database.stop();
    const next = await open(folder, 'owner');
    expect(await query(next.url, 'select 1 as one')).toEqual(one);
  });
});

describe('kill -9 of the owner', () => {
  it('takes the server along', async () => {
    const owner = openElsewhere(folder);
    await owner.opened;
    const server = serverPid(folder);
    owner.kill('SIGKILL');
    await until(() => hasEnded(server));
    expect(existsSync(pidFile)).toBe(false);
  });

  it.runIf(existsSync('/proc/self'))(
    'and of its watch leaves a server to the next start',
    async () => {
      const owner = openElsewhere(folder);
      const { url } = await owner.opened;
      await query(url!, 'drop table if exists acknowledged; create table acknowledged (row int)');
      const load = insertSteadily(url!);
      await until(() => load.acknowledged.length > 200);
      const orphan = serverPid(folder);
      const watch = readdirSync('/proc').find((pid) => commandOf(pid).endsWith(`"$0" ${orphan} `));
      process.kill(Number(watch), 'SIGKILL');
      owner.kill('SIGKILL');
      await owner.ended;
      expect(hasEnded(orphan)).toBe(false);

      const next = await open(folder, 'owner');
      await load.stop();
      expect(hasEnded(orphan)).toBe(true);
      expect(next.url).toBe(url);
      await expectAllKept(next.url, load.acknowledged);
    },
  );

  it('together with the server needs no waiting and no cleaning up', async () => {
    const owner = openElsewhere(folder);
    const { url } = await owner.opened;
    const idle = new pg.Client(url!);
    idle.on('error', () => undefined);
    await idle.connect();
    process.kill(owner.pid, 'SIGKILL');
    process.kill(serverPid(folder), 'SIGKILL');
    const next = await open(folder, 'owner');
    expect(await query(next.url, 'select 1 as one')).toEqual(one);
  });

  it('while the database is being created leaves nothing that looks finished', async () => {
    const fresh = newFolder();
    const owner = openElsewhere(fresh);
    const drafts = () => readdirSync(fresh, { recursive: true, encoding: 'utf8' });
    await until(() => drafts().some((name) => name.endsWith('pg_wal')));
    owner.kill('SIGKILL');
    await owner.ended;
    expect(existsSync(join(fresh, 'postgres/data'))).toBe(false);
    // The orphaned initdb may write on for a moment; a later start clears that away too.
    await until(async () => {
      const next = await open(fresh, 'owner');
      expect(await query(next.url, 'select 1 as one')).toEqual(one);
      await next.stop();
      return !readdirSync(join(fresh, 'postgres')).some((name) => name.includes('.new'));
    });
  });
});

describe('leftovers', () => {
  it('a pid that now belongs to another process does not stop the start', async () => {
    const owner = openElsewhere(folder);
    await owner.opened;
    const server = serverPid(folder);
    owner.kill('SIGKILL');
    process.kill(server, 'SIGKILL');
    await until(() => hasEnded(server));
    // Of the server's own user: PostgreSQL would take it for a running server.
    const stranger = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      ...serverUser(folder, data),
      cwd: '/',
    });
    onTestFinished(() => void stranger.kill());
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(stranger.pid)));
    const { url } = await open(folder, 'owner');
    expect(await query(url, 'select 1 as one')).toEqual(one);
    expect(stranger.exitCode ?? stranger.signalCode).toBe(null);
  });

  it('a pid file cut short by a power cut does not stop the start', async () => {
    for (const text of ['', 'x\n']) {
      writeFileSync(pidFile, text);
      const { url, stop } = await open(folder, 'owner');
      expect(await query(url, 'select 1 as one')).toEqual(one);
      await stop();
    }
  });

  it('a lock of a dead process whose pid lives again does not count', async () => {
    const [last] = readdirSync(join(folder, 'postgres/lock'))
      .map((name) => Number(/^owner-(\d+)$/.exec(name)?.[1] ?? 0))
      .sort((a, b) => b - a);
    symlinkSync(`socket-${process.pid}-00000000`, join(folder, `postgres/lock/owner-${last! + 1}`));
    await open(folder, 'owner');
  });

  it('SIGTERM and the end of the process by itself take the server along', async () => {
    for (const [signal, code] of [
      ['SIGTERM', 0],
      ['SIGUSR2', 3],
    ] as const) {
      const owner = openElsewhere(folder);
      await owner.opened;
      const server = serverPid(folder);
      owner.kill(signal);
      expect(await owner.ended).toBe(code);
      await until(() => hasEnded(server));
      expect(existsSync(pidFile)).toBe(false);
    }
  });
});

describe('a data folder that was deleted and made again', () => {
  it('is left to its new owner', async () => {
    const owner = openElsewhere(folder);
    await owner.opened;
    const server = serverPid(folder);
    const aside = `${folder}.deleted`;
    renameSync(folder, aside);
    cpSync(aside, folder, { recursive: true, filter: (path) => !/\/lock\/|\.pid$/.test(path) });
    const { url } = await open(folder, 'owner');
    process.kill(server, 'SIGKILL');
    await until(() => owner.logs.some((line) => line.includes('was replaced')));
    expect(await query(url, 'select 1 as one')).toEqual(one);
    rmSync(aside, { recursive: true });
  });
});

describe('many at once', () => {
  it('of ten owners exactly one wins, also when the one before was killed', async () => {
    for (const count of [10, 5]) {
      const openers = Array.from({ length: count }, () => openElsewhere(folder));
      const results = await Promise.all(openers.map(({ opened }) => opened));
      const winners = openers.filter((_, index) => results[index]?.url !== undefined);
      expect(winners).toHaveLength(1);
      const [winner] = winners;
      for (const { problem } of results) {
        if (problem !== undefined) expect(problem).toContain(`with pid ${winner!.pid}, stop it`);
      }
      winner!.kill('SIGKILL');
      await winner!.ended;
    }
    await open(folder, 'owner'); // stops the last one's server
  });

  it('a lock changes hands hundreds of times and never has two', async () => {
    const lockFolder = join(newFolder(), 'lock');
    mkdirSync(lockFolder);
    let holders = 0;
    let terms = 0;
    const contender = async () => {
      while (terms < 400) {
        const claimed = await claim(lockFolder, () => undefined);
        if (claimed.lock === undefined) {
          await new Promise((resolve) => claimed.owner.once('close', resolve));
          continue;
        }
        holders += 1;
        terms += 1;
        expect(holders).toBe(1);
        await new Promise(setImmediate);
        expect(holders).toBe(1);
        holders -= 1;
        await (claimed.lock as Lock).release();
      }
    };
    await Promise.all(Array.from({ length: 8 }, contender));
    expect(terms).toBeGreaterThanOrEqual(400);
    expect(readdirSync(lockFolder)).toHaveLength(1);
  });
});
