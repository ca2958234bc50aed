// One owner per data folder, enforced by the kernel. Before it: open.ts claims. After it: the owner
// starts server.ts, all others talk to the owner here.
//
// The owner listens on a Unix socket in the lock folder: it refuses connections the moment its
// process is gone, however it died, and a reused pid means nothing to it. A lock file with a pid
// would need guessing, abstract sockets do not reach across containers that share a volume, and
// Node offers no flock. Taking over from a dead owner must not race: deleting its socket and
// binding again would, since two contenders can both find it dead and the slower one then deletes
// the faster one's. So ownership is a sequence of symbolic links owner-1, owner-2, … each naming a
// socket. Only the highest counts. A contender that finds it dead creates the next one, which only
// one contender can, and listens before that. If lower numbers have been deleted in the meantime,
// the number may be an old one: then a higher one exists, and the contender sees it when it looks
// again. The highest is never deleted.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Problem } from '../../errors.ts';
import { giveToOwnerOf } from './user.ts';

export interface Lock {
  release(): Promise<void>;
}

export type Claim = { lock: Lock } | { lock?: undefined; owner: Socket; pid: number };

/**
 * Becomes the owner of `folder` and receives the others with `onVisitor`, or returns a connection
 * to the living owner.
 */
export async function claim(folder: string, onVisitor: (visitor: Socket) => void): Promise<Claim> {
  const short = shortPath(folder);
  try {
    for (;;) {
      const { owner } = await look(folder, short.path);
      if (owner !== undefined) return owner;
      const lock = await contend(folder, short.path, onVisitor);
      if (lock !== undefined) return { lock };
    }
  } finally {
    short.close();
  }
}

/** One attempt with its own socket: an attempt that came too late may find its socket deleted. */
async function contend(
  folder: string,
  path: string,
  onVisitor: (visitor: Socket) => void,
): Promise<Lock | undefined> {
  const name = `socket-${process.pid}-${randomBytes(4).toString('hex')}`;
  const close = await listen(join(path, name), onVisitor).catch((cause: Error) => {
    throw new Problem(
      'unavailable',
      `cannot create a Unix socket in ${folder} (${cause.message}); set DATA_DIR to a folder on a local disk with a short path, or set DATABASE_URL`,
      { cause },
    );
  });
  const release = async () => {
    await close();
    rmSync(join(folder, name), { force: true });
  };
  try {
    giveToOwnerOf(folder, name);
    const { owner, number } = await look(folder, path);
    if (owner === undefined && succeed(folder, name, number + 1)) return { release };
    owner?.owner.destroy();
  } catch (error) {
    await release();
    throw error;
  }
  await release();
  return undefined;
}

async function listen(path: string, onVisitor: (visitor: Socket) => void) {
  const visitors = new Set<Socket>();
  const server = createServer((visitor) => {
    visitors.add(visitor);
    visitor.on('error', () => undefined).on('close', () => visitors.delete(visitor));
    onVisitor(visitor);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(path, resolve);
  });
  return () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const visitor of visitors) visitor.destroy();
    });
}

/** The highest owner number, and a connection to that owner if it is alive. */
async function look(folder: string, path: string) {
  const number = highest(folder);
  if (number === 0) return { number };
  for (;;) {
    try {
      const socket = readlinkSync(join(folder, `owner-${number}`));
      const pid = Number(/^socket-(\d+)/.exec(socket)?.[1]);
      return { number, owner: { owner: await visit(join(path, socket)), pid } };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return { number };
      // EAGAIN: alive, with a full queue of visitors. ECONNRESET: ended with us in its queue.
      if (code !== 'EAGAIN' && code !== 'ECONNRESET') throw error;
    }
    await setTimeout(5);
  }
}

function highest(folder: string): number {
  const numbers = readdirSync(folder).map((name) => Number(/^owner-(\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

function visit(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => undefined);
      resolve(socket);
    });
  });
}

/**
 * Publishes our socket under the next number, unless another contender has it or is already past
 * it.
 */
function succeed(folder: string, socket: string, number: number): boolean {
  const own = join(folder, `owner-${number}`);
  try {
    symlinkSync(socket, own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  if (highest(folder) > number) {
    rmSync(own, { force: true });
    return false;
  }
  clearBelow(folder, number);
  return true;
}

function clearBelow(folder: string, number: number): void {
  for (const name of readdirSync(folder)) {
    if (Number(/^owner-(\d+)$/.exec(name)?.[1] ?? number) >= number) continue;
    try {
      rmSync(join(folder, readlinkSync(join(folder, name))), { force: true });
      rmSync(join(folder, name), { force: true });
    } catch {
      // A contender that came too late has already deleted it itself.
    }
  }
}

/**
 * Socket addresses are limited to 103 bytes, data folders are not: Linux lets us name the folder by
 * an open descriptor.
 */
function shortPath(folder: string): { path: string; close: () => void } {
  if (process.platform !== 'linux') return { path: folder, close: () => undefined };
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) };
}
