// The direction of imports is a rule: read from ARCHITECTURE.md, checked for every file of src.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = join(import.meta.dirname, '../src');
const DOORS = ['rest', 'mcp', 'dashboard', 'inbound'];

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

function expectNoCircles(among: string[], options: { types: boolean }): void {
  const state = new Map<string, 'open' | 'done'>();
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done' || !among.includes(file)) return;
    expect(state.get(file), `circle: ${[...path, file].join(' → ')}`).toBeUndefined();
    state.set(file, 'open');
    for (const target of importsOf(file, options)) visit(target, [...path, file]);
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
  it('there are no circles of types either, but for three that are left', () => {
    const circling = ['operations', 'rest', 'cli'];
    expectNoCircles(
      files.filter((file) => !circling.includes(roomOf(file))),
      { types: true },
    );
  });

  it('the Jinja2 engine imports nothing of ours', () => {
    const own = files.filter((file) => roomOf(file) === 'jinja');
    expect(own.flatMap((file) => importsOf(file)).filter((file) => !own.includes(file))).toEqual(
      [],
    );
  });

  it('there are no barrels', () => {
    const barrels = files.filter((file) => file.endsWith('/index.ts') && file !== 'jinja/index.ts');
    expect(barrels).toEqual([]);
  });
});
