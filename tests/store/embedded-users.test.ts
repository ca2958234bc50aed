// The embedded database under the users and in the folders it may find itself in: root, an ordinary
// user, a uid without a name, a closed home, a read-only node_modules.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  copyCheckout,
  isRoot,
  newFolder,
  openElsewhere,
  query,
  serverPid,
} from './embedded-support.ts';

const one = [{ one: 1 }];
/** Each test starts several processes, two of them with a new database. */
/** No entry in any user table, like the uids some container platforms hand out. */
const nameless = { uid: 54321, gid: 54321 };
const home = newFolder(afterAll);
const checkout = join(home, 'checkout');

beforeAll(() => {
  // Without the library links that npm 11 leaves out, and with nothing that can be written.
  copyCheckout(checkout);
  execFileSync('chmod', ['-R', 'a-w', checkout]);
});

afterAll(() => {
  execFileSync('chmod', ['-R', 'u+w', checkout]);
});

async function opensAndReopens(dataDir: string, options: Parameters<typeof openElsewhere>[1]) {
  for (const answer of ['first', 'second']) {
    const opener = openElsewhere(dataDir, { checkout, ...options });
    const { url, problem } = await opener.opened;
    expect([answer, problem]).toEqual([answer, undefined]);
    expect(await query(url!, 'select 1 as one')).toEqual(one);
    if (existsSync('/proc/self')) {
      const owner = statSync(`/proc/${serverPid(dataDir)}`).uid;
      expect(owner).toBe(statSync(join(dataDir, 'postgres/data')).uid);
      expect(owner).not.toBe(0);
    }
    expect(await opener.finish()).toBe(0);
  }
}

describe('without library links in a read-only node_modules', () => {
  it('runs as the user of the tests', async () => {
    await opensAndReopens(newFolder(), {});
  });
});

describe.runIf(isRoot)('as another user', () => {
  it('runs as an ordinary user without a name, everything in the data folder', async () => {
    const dataDir = newFolder();
    chownSync(dataDir, nameless.uid, nameless.gid);
    await opensAndReopens(dataDir, { user: nameless });
    expect(statSync(join(dataDir, 'postgres/data')).uid).toBe(nameless.uid);

    // A damaged copy of the programs is made again.
    const copy = readdirSync(join(dataDir, 'postgres')).find((name) => /^binaries-/.test(name))!;
    rmSync(join(dataDir, 'postgres', copy, 'lib'), { recursive: true });

    // What root does in between leaves nothing behind that the user could not use.
    await opensAndReopens(dataDir, {});
    expect(statSync(join(dataDir, 'postgres/data')).uid).toBe(nameless.uid);
    await opensAndReopens(dataDir, { user: nameless });
  });

  it('is told that the folder belongs to someone else', async () => {
    const dataDir = newFolder();
    mkdirSync(join(dataDir, 'postgres/lock'), { recursive: true, mode: 0o700 });
    const { problem } = await openElsewhere(dataDir, { checkout, user: nameless }).opened;
    expect(problem).toContain('run Sandmartin as the user it belongs to');
  });
});

describe.runIf(isRoot)('as root', () => {
  it('runs in a folder only root may enter, and leaves the user table alone', async () => {
    const before = readFileSync('/etc/passwd', 'utf8');
    chmodSync(home, 0o700);
    try {
      const dataDir = join(home, 'data');
      await opensAndReopens(dataDir, {});
      expect(readFileSync('/etc/passwd', 'utf8')).toBe(before);
      const { uid } = statSync(join(dataDir, 'postgres/data'));
      expect(before).not.toMatch(new RegExp(`^[^:]*:[^:]*:${uid}:`, 'm'));
    } finally {
      chmodSync(home, 0o755);
    }
  });
});
