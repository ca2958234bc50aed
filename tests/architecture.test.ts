// The direction of imports is a rule: read from ARCHITECTURE.md, checked for every file of src.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');
const DOORS = ['rest', 'submission', 'mcp', 'resend', 'dashboard', 'inbound'];

/** Top to bottom, as the list in ARCHITECTURE.md. */
const order = readOrder();
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'));

function readOrder(): string[] {
  const text = readFileSync(join(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');
  const list = /<!-- order:.*?-->\n```\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  return list
    .trim()
    .split('\n')
    .map((line) => line.split(/\s/)[0]!.replace(/\/$/, ''));
}

/** A file's place in the order; foundation files lie below all. */
function roomOf(file: string): string {
  const first = file.split('/')[0]!;
  return order.includes(first) ? first : file.includes('/') ? first : 'foundation';
}

const rank = (room: string): number => (room === 'foundation' ? order.length : order.indexOf(room));

function importsOf(file: string, options: { types: boolean } = { types: true }): string[] {
  const source = readFileSync(join(SRC, file), 'utf8');
  const text = options.types ? source : source.replace(/^import type [^;]*;/gm, '');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^'\n]+\.ts)'/g)].map((match) =>
    relative(SRC, join(SRC, dirname(file), match[1]!)).replaceAll('\\', '/'),
  );
}

function expectNoCircles(
  among: string[],
  options: { types: boolean },
  targetsOf = (file: string) => importsOf(file, options),
): void {
  const state = new Map<string, 'open' | 'done'>();
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done' || !among.includes(file)) return;
    expect(state.get(file), `circle: ${[...path, file].join(' → ')}`).toBeUndefined();
    state.set(file, 'open');
    for (const target of targetsOf(file)) visit(target, [...path, file]);
    state.set(file, 'done');
  };
  for (const file of among) visit(file, []);
}

describe('imports', () => {
  it('the order names every folder', () => {
    const unknown = files.map(roomOf).filter((room) => rank(room) < 0);
    expect([...new Set(unknown)]).toEqual([]);
  });

  it.each(files.map((file) => [file]))('%s imports only what stands below it', (file) => {
    const own = roomOf(file);
    for (const target of importsOf(file)) {
      const theirs = roomOf(target);
      if (theirs === own) continue;
      expect(rank(theirs), `${file} imports ${target}`).toBeGreaterThan(rank(own));
      if (DOORS.includes(own)) expect(DOORS, `${file} imports ${target}`).not.toContain(theirs);
    }
  });

  it('there are no circles', () => {
    expectNoCircles(files, { types: false });
  });

  // What refers to each other by type alone gets a floor below it, as jinja/running.ts is one.
  it('there are no circles of types either', () => {
    expectNoCircles(files, { types: true });
  });

  it('the Jinja2 engine imports nothing of ours', () => {
    const own = files.filter((file) => roomOf(file) === 'jinja');
    expect(own.flatMap((file) => importsOf(file)).filter((file) => !own.includes(file))).toEqual(
      [],
    );
  });

  // What a capability reads and writes is the same behind every door.
  it('there is no SQL in a door', () => {
    const asking = files.filter(
      (file) =>
        DOORS.includes(roomOf(file)) &&
        /\b(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b/.test(
          readFileSync(join(SRC, file), 'utf8'),
        ),
    );
    expect(asking).toEqual([]);
  });

  it('there are no barrels', () => {
    const barrels = files.filter((file) => file.endsWith('/index.ts') && file !== 'jinja/index.ts');
    expect(barrels).toEqual([]);
  });
});

// The pages are no part of the service: they know its shapes and its client, and nothing that runs
// in it.
describe('web', () => {
  const WEB = join(import.meta.dirname, '../web/src');
  const pages = readdirSync(WEB, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const isShapes = (file: string): boolean => importsOf(file, { types: false }).length === 0;

  it.each(pages)('%s runs nothing of src but the client, and lists that import nothing', (page) => {
    const text = readFileSync(join(WEB, page), 'utf8').replace(/^import type [^;]*;/gm, '');
    const targets = [...text.matchAll(/(?:from|import)\s*\(?\s*'([./]+\/src\/[^'\n]+)'/g)].map(
      ([, path]) => relative(SRC, join(WEB, dirname(page), path!)),
    );
    const running = targets.filter((file) => !file.startsWith('client/') && !isShapes(file));
    expect(running).toEqual([]);
  });

  it('the pages know no circles', () => {
    const targetsOf = (page: string): string[] =>
      [...readFileSync(join(WEB, page), 'utf8').matchAll(/from '(\.[^'\n]+\.tsx?)'/g)]
        .map(([, path]) => relative(WEB, join(WEB, dirname(page), path!)))
        .filter((file) => pages.includes(file));
    expectNoCircles(pages, { types: true }, targetsOf);
  });
});
