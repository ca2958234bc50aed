// The embedded database in ordinary life: first start, warm start, owners and guests. Users and
// folders it must run under: embedded-users.test.ts.

import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { hasEnded, newFolder, open, openElsewhere, query, serverPid } from './embedded-support.ts';

const one = [{ one: 1 }];

/** One folder for all: making a database is the slow part, and stopping leaves a clean one. */
const folder = newFolder(afterAll);
const pidFile = join(folder, 'postgres/data/postmaster.pid');

describe('a first and a later start', () => {
  it('keep rows, url and durability, and let nobody in without the password', async () => {
    const first = await open(folder, 'owner', { work_mem: '7MB' });
    await query(first.url, 'create table kept as select 42 as answer');
    expect(
      await query(
        first.url,
        `select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes',
         'data_checksums', 'listen_addresses', 'unix_socket_directories', 'server_encoding', 'work_mem', 'TimeZone') order by name`,
      ),
    ).toEqual([
      { name: 'TimeZone', setting: 'UTC' },
      { name: 'data_checksums', setting: 'on' },
      { name: 'fsync', setting: 'on' },
      { name: 'full_page_writes', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'server_encoding', setting: 'UTF8' },
      { name: 'synchronous_commit', setting: 'on' },
      { name: 'unix_socket_directories', setting: '' },
      { name: 'work_mem', setting: '7168' },
    ]);
    expect(first.url).toMatch(/^postgres:\/\/sandmartin:[\w-]{32}@127\.0\.0\.1:\d{5}\/sandmartin$/);
    const guessed = first.url.replace(/:[\w-]+@/, ':guess@');
    await expect(query(guessed, 'select')).rejects.toThrow('password authentication failed');
    for (const [name, mode] of [
      ['connection.json', 0o600],
      ['server.log', 0o600],
      ['data', 0o700],
      ['lock', 0o700],
    ] as const) {
      expect([name, statSync(join(folder, 'postgres', name)).mode & 0o777]).toEqual([name, mode]);
    }
    const server = serverPid(folder);
    await first.stop();
    expect(hasEnded(server)).toBe(true);
    expect(existsSync(pidFile)).toBe(false);

    const second = await open(folder, 'owner');
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('take another port when the remembered one is taken', async () => {
    const first = await open(folder, 'owner');
    await first.stop();
    const port = Number(new URL(first.url).port);
    const squatter = createServer().listen(port, '127.0.0.1');
    onTestFinished(() => void squatter.close());
    const second = await open(folder, 'owner');
    expect(new URL(second.url).port).not.toBe(String(port));
    expect(await query(second.url, 'select 1 as one')).toEqual(one);
  });

  it('refuse data of another PostgreSQL version and leave it alone', async () => {
    const file = join(folder, 'postgres/data/PG_VERSION');
    const made = readFileSync(file, 'utf8');
    writeFileSync(file, '17\n');
    await expect(open(folder, 'owner')).rejects.toThrow('was created by PostgreSQL 17');
    expect(readFileSync(file, 'utf8')).toBe('17\n');
    writeFileSync(file, made);
    await open(folder, 'owner');
  });

  it('say so when the password is lost', async () => {
    const file = join(folder, 'postgres/connection.json');
    const kept = readFileSync(file);
    rmSync(file);
    await expect(open(folder, 'owner')).rejects.toThrow('connection.json');
    writeFileSync(file, kept, { mode: 0o600 });
    await open(folder, 'owner');
  });

  // The path is also longer than a socket address can be. Under root the copy is root's: it is
  // given back to the server's user.
  it('leave the server of a folder alone that this one was copied from', async () => {
    const original = await open(folder, 'owner');
    const copy = join(newFolder(), 'a-rather-long-name-of-a-folder/'.repeat(6));
    cpSync(join(folder, 'postgres'), join(copy, 'postgres'), {
      recursive: true,
      filter: (path) => !/\/(lock|binaries-[^/]*)\//.test(path),
    });
    const second = await open(copy, 'owner');
    expect(new URL(second.url).port).not.toBe(new URL(original.url).port);
    expect(await query(second.url, 'select 1 as one')).toEqual(one);
    expect(await query(original.url, 'select 1 as one')).toEqual(one);
    expect(serverPid(copy)).not.toBe(serverPid(folder));
  });
});

describe('owners and guests', () => {
  it('a second owner is refused and told who owns the folder', async () => {
    await open(folder, 'owner');
    expect(await openElsewhere(folder).opened).toEqual({
      problem: `${folder} is already in use by the Sandmartin process with pid ${process.pid}, stop it or set DATA_DIR to another folder`,
    });
  });

  it('guests join the running server and leave it running', async () => {
    const owner = await open(folder, 'owner');
    await query(owner.url, 'create table visits (guest int)');
    const elsewhere = openElsewhere(folder, { as: 'guest', briefly: true });
    const guests = Array.from({ length: 20 }, async (_, guest) => {
      const { url, stop } = await open(folder, 'guest');
      expect(url).toBe(owner.url);
      await query(url, `insert into visits values (${guest})`);
      await stop();
    });
    await Promise.all(guests);
    expect(await elsewhere.opened).toEqual({ url: owner.url });
    expect(await elsewhere.ended).toBe(0);
    expect(await query(owner.url, 'select count(*)::int from visits')).toEqual([{ count: 20 }]);
  });

  it('guests without an owner share one server, which stops after the last of them', async () => {
    const fresh = newFolder();
    const visits = Array.from({ length: 4 }, () =>
      openElsewhere(fresh, { as: 'guest', briefly: true }),
    );
    for (const visit of visits) {
      expect(await visit.opened).toEqual({ url: expect.stringContaining('postgres://') });
      expect(await visit.ended).toBe(0);
    }
    expect(existsSync(join(fresh, 'postgres/data/postmaster.pid'))).toBe(false);
  });

  it('a guest that owns the server for the moment lets its own guests finish', async () => {
    const first = await open(folder, 'guest');
    const second = await open(folder, 'guest');
    const stopped = first.stop();
    expect(await query(second.url, 'select 1 as one')).toEqual(one);
    await second.stop();
    await stopped;
    expect(existsSync(pidFile)).toBe(false);
  });

  it('the service waits for a guest that owns the server for the moment', async () => {
    const guest = await open(folder, 'guest');
    let served = false;
    const service = open(folder, 'owner').then((database) => {
      served = true;
      return database;
    });
    expect(await query(guest.url, 'select 1 as one')).toEqual(one);
    expect(served).toBe(false);
    await guest.stop();
    expect(await query((await service).url, 'select 1 as one')).toEqual(one);
  });
});
