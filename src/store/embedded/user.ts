// The system user that runs the embedded PostgreSQL. Before it: open.ts asks. After it: binaries.ts
// and server.ts spawn as this user.

import { chmodSync, existsSync, lchownSync, mkdirSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';

export interface SystemUser {
  uid: number;
  gid: number;
}

/**
 * PostgreSQL refuses to run as root. A uid needs no entry in the user table, so under root the
 * server gets one that nothing else uses: 65520–65533 are left free by both Debian policy 9.2.2 and
 * systemd's UIDS-GIDS.md, and are within the 65,536 ids of a usual container. `nobody` would share
 * the data with every other daemon that runs as nobody. macOS always has the account _postgres.
 */
const unprivileged: SystemUser =
  process.platform === 'darwin' ? { uid: 216, gid: 216 } : { uid: 65525, gid: 65525 };

/** The user to spawn the server as, or undefined for "as ourselves" (anyone but root). */
export function serverUser(folder: string, data: string): SystemUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  // Under root, the folder's owner stays its owner (a container volume, `sudo` in a user's
  // checkout).
  for (const path of [data, folder]) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && stat.uid !== 0) return { uid: stat.uid, gid: stat.gid || stat.uid };
  }
  return unprivileged;
}

/**
 * A container may run us under a uid without an entry in the user table (`docker run --user 1234`).
 */
export function haveName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether this user may pass through every folder down to `path`: /root and many homes are 0700.
 */
export function canReach(user: SystemUser | undefined, path: string): boolean {
  if (user === undefined) return true;
  for (let folder = path; ; folder = dirname(folder)) {
    const { uid, gid, mode } = statSync(folder);
    const search = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & search) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * What root creates inside a folder belongs to the folder's owner, who may later run without root.
 */
export function giveToOwnerOf(folder: string, ...names: string[]): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  for (const name of names) lchownSync(join(folder, name), uid, gid);
}

/** A folder every user may enter, whatever our umask. */
export function makeOpenFolder(path: string): void {
  if (existsSync(path)) return;
  makeOpenFolder(dirname(path));
  mkdirSync(path);
  chmodSync(path, 0o755);
}
