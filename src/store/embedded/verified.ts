// Whether programs are the pinned ones, asked before anything of them is run, at every start.
// Before it: binaries.ts. After it: pinned.ts, which knows what they must be.
//
// Hashing 60 MB takes up to a second on a busy machine, so what was found is remembered: a hash
// over names, sizes, times, inodes and the targets of links, in DATA_DIR. As long as that is the
// same, nothing is hashed again. Whatever writes to a file, or puts another in its place, changes
// the time of its last change (ctime), which no program can set: a damaged or half-done
// installation, an update that went wrong and a stranger with rights to node_modules are noticed.
// It does not stop those who may write to DATA_DIR, set the clock or write to the disk itself:
// they own the data anyway.
import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isPinned, type PackedFile, pinOf } from './pinned.ts';
import { giveToOwnerOf } from './user.ts';

const RECORD = 'verified';

export interface Programs {
  platform: string;
  /** Where they are. */
  root: string;
  /** Links that belong to them, by path, and the name of the file beside each that it leads to. */
  links: ReadonlyMap<string, string>;
  /** As the package has it, where our copy differs. */
  read: (file: PackedFile) => Buffer;
}

/** `folder` is where it is remembered. */
export function isVerified(programs: Programs, folder: string): boolean {
  const { platform, root, links, read } = programs;
  const entries = entriesOf(root);
  const found = entries.filter(({ isLink }) => isLink);
  if (found.length !== links.size || !found.every((link) => leadsBeside(link, links))) return false;
  // Before reading: what changes meanwhile is seen the next time.
  const state = stateOf(programs, entries);
  if (remembered(folder) === state) return true;
  const files = entries.filter(({ isLink }) => !isLink);
  if (!isPinned(platform, files, read)) return false;
  remember(folder, state);
  return true;
}

interface Entry extends PackedFile {
  isLink: boolean;
}

function entriesOf(root: string): Entry[] {
  const all = readdirSync(root, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const from = join(entry.parentPath, entry.name);
      return { path: relative(root, from), from, isLink: entry.isSymbolicLink() };
    });
}

function leadsBeside({ path, from }: Entry, links: ReadonlyMap<string, string>): boolean {
  const target = links.get(path);
  if (target === undefined || !existsSync(from)) return false;
  const there = realpathSync(from);
  return dirname(there) === realpathSync(dirname(from)) && basename(there) === target;
}

function stateOf({ platform, root }: Programs, entries: readonly Entry[]): string {
  const lines = entries.map(({ path, from }) => {
    const { dev, ino, mode, size, mtimeNs, ctimeNs } = lstatSync(from, { bigint: true });
    return [path, dev, ino, mode, size, mtimeNs, ctimeNs].join('\0');
  });
  return hash('sha256', [pinOf(platform), root, ...lines.sort()].join('\n'));
}

function remembered(folder: string): string | undefined {
  try {
    return readFileSync(join(folder, RECORD), 'utf8');
  } catch {
    return undefined;
  }
}

/** On a full disk it is hashed again the next time. */
function remember(folder: string, state: string): void {
  try {
    writeFileSync(join(folder, RECORD), state, { mode: 0o600 });
    giveToOwnerOf(folder, RECORD);
  } catch {}
}
