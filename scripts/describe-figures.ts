// The figures of docs/performance.md, made from bench/results.json: what the page says about them
// stands around the tables.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BENCHES } from '../bench/support/benches.ts';
import { figure, type Run } from '../bench/support/comparison.ts';
import type { Result } from '../bench/support/results.ts';
import { between, table } from './marked-tables.ts';

const ROOT = join(import.meta.dirname, '..');
export const PERFORMANCE = 'docs/performance.md';

/** The page with the figures of the last run. Every benchmark has its place there. */
export function withFigures(): string {
  const page = readFileSync(join(ROOT, PERFORMANCE), 'utf8');
  return fillIn(page, readRun(), Object.keys(BENCHES));
}

/** The last run of all benchmarks. */
export function readRun(): Run | undefined {
  const file = join(ROOT, 'bench/results.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Run) : undefined;
}

export function fillIn(page: string, run: Run | undefined, benches: readonly string[]): string {
  const places = { machine: () => describeMachine(run), all: () => describeTimes(run) };
  for (const bench of benches) {
    if (!page.includes(`<!-- ${bench}: made by`)) {
      throw new Error(`${PERFORMANCE} does not explain the benchmark ${bench}: add a section.`);
    }
    Object.assign(places, { [bench]: () => figuresOf(bench, run) });
  }
  return Object.entries(places).reduce((text, [name, make]) => between(text, name, make), page);
}

export function describeRun(run: Run | undefined): string {
  if (run === undefined) return `${NOT_MEASURED}\n`;
  const { at, version, commit, node, machine } = run;
  return `Measured ${at.slice(0, 10)}, version ${version} at ${commit}, Node ${node}, on ${machine}.\n`;
}

function describeMachine(run: Run | undefined): string {
  const versions = Object.entries(run?.versions ?? {}).map(([name, version]) =>
    ['system', 'kernel'].includes(name) ? version : `${name} ${version}`,
  );
  return describeRun(run) + (versions.length > 0 ? `With ${versions.join(', ')}.\n` : '');
}

/** How long each benchmark took, and all of them. */
function describeTimes(run: Run | undefined): string {
  const all = run?.results.find(({ bench }) => bench === 'all');
  if (run?.seconds === undefined || all === undefined) return `${NOT_MEASURED}\n`;
  const each = Object.entries(run.seconds).map(([name, seconds]) => [name, `${seconds} s`, '']);
  return table(
    ['benchmark', 'took', 'goal'],
    [...each, ['all', `${figure(all.median)} s`, goalOf(all)]],
  );
}

export const NOT_MEASURED = 'Not measured yet: `npm run bench` fills this in.';

function figuresOf(bench: string, run: Run | undefined): string {
  const short = tableOf(bench, run);
  const long = run?.long?.[bench];
  if (long === undefined) return short;
  return `${short}\nThe long run, \`npm run bench -- --long ${bench}\`. ${describeRun(long)}\n${tableOf(bench, long)}`;
}

function tableOf(bench: string, run: Run | undefined): string {
  const results = run?.results.filter((it) => it.bench === bench) ?? [];
  if (results.length === 0) return `${NOT_MEASURED}\n`;
  return table(
    ['figure', 'median', 'range', 'goal'],
    results.map((it) => [it.what, `${figure(it.median)} ${it.unit}`, rangeOf(it), goalOf(it)]),
  );
}

const rangeOf = ({ low, high }: Result): string =>
  low === high ? 'taken once' : `${figure(low)}–${figure(high)}`;

function goalOf({ goal, better, median }: Result): string {
  if (goal === null) return '';
  const met = better === 'higher' ? median >= goal : median <= goal;
  return `${better === 'higher' ? '≥' : '≤'} ${goal}${met ? '' : ', **missed**'}`;
}
