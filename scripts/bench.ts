// npm run bench NAME: one benchmark of bench/, each of which prints ratios measured in one run.
// npm run bench: all of them in turn, in short rounds; writes bench/results.json and the figures of
// docs/performance.md and docs/scale.md. npm run bench -- --against FILE: the same, but writes
// nothing and names what got worse than in FILE by more than noise.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { BENCHES, type Bench } from '../bench/support/benches.ts';
import { missedGoals, type Run, whatGotWorse } from '../bench/support/comparison.ts';
import { GOAL_MISSED, type Result, SKIPPED } from '../bench/support/results.ts';
import { PERFORMANCE, withFigures } from './describe-figures.ts';
import { SCALE, withCapacity } from './describe-scale.ts';

const ROOT = join(import.meta.dirname, '..');
const RESULTS = join(ROOT, 'bench/results.json');

const [first, ...rest] = process.argv.slice(2).filter((word) => word !== '--');
if (first === undefined) runAll();
else if (first === '--against') runAgainst(rest[0]);
else runOne(first, rest);

function runOne(name: string, args: string[]): void {
  if (!existsSync(fileOf(name))) {
    const known = Object.keys(BENCHES).join(', ');
    stop(`There is no benchmark "${name}". Name one of ${known}; without a name all are run.`);
  }
  process.exitCode = start(name, { args });
}

function runAll(): void {
  const { run, broken } = measure();
  writeFileSync(RESULTS, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(join(ROOT, PERFORMANCE), withFigures());
  writeFileSync(join(ROOT, SCALE), withCapacity());
  say(`\n${run.results.length} figures: bench/results.json, ${PERFORMANCE}, ${SCALE}`);
  tell('goal missed', missedGoals(run));
  finish(broken);
}

function runAgainst(file: string | undefined): void {
  if (file === undefined || !existsSync(file)) {
    stop('--against needs the results of an earlier run, such as bench/results.json.');
  }
  const before = JSON.parse(readFileSync(file, 'utf8')) as Run;
  const { run, broken } = measure();
  const worse = whatGotWorse(before, run);
  say(`\nBeside ${file}, measured ${before.at} at ${before.commit}:`);
  tell('worse', worse);
  if (worse.length === 0) say('Nothing got worse beyond noise.');
  finish([...broken, ...worse]);
}

/** Runs each in a process of its own, which hands its figures over as lines of JSON. */
function measure(): { run: Run; broken: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
  const lines = join(folder, 'results');
  writeFileSync(lines, '');
  const broken: string[] = [];
  for (const [name, bench] of Object.entries(BENCHES)) {
    say(`\n── ${name} ${'─'.repeat(Math.max(0, 60 - name.length))}`);
    const had = readFileSync(lines).length;
    const begun = performance.now();
    const code = start(name, { ...bench, env: { BENCH_RESULTS: lines, ...bench.env } });
    say(`${name} took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
    if (code === SKIPPED) continue;
    const ended = code === 0 || code === GOAL_MISSED;
    if (!ended || readFileSync(lines).length === had) broken.push(name);
  }
  const results = readFileSync(lines, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Result);
  rmSync(folder, { recursive: true });
  tell('did not run to its end', broken);
  return { run: { ...machine(), results }, broken };
}

function start(name: string, { args = [], env = {} }: Bench): number {
  const child = spawnSync(process.execPath, ['--import', 'tsx', fileOf(name), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return child.status ?? 1;
}

function machine(): Omit<Run, 'results'> {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  const changed = git('status', '--porcelain') === '' ? '' : ' and changes';
  return {
    at: new Date().toISOString(),
    version,
    commit: `${git('rev-parse', '--short', 'HEAD')}${changed}`,
    node: process.version,
    machine: `${cpus().length} × ${cpus()[0]?.model || process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}-${process.arch}`,
  };
}

function fileOf(name: string): string {
  return join(ROOT, 'bench', `${name}.ts`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell(what: string, sentences: string[]): void {
  for (const sentence of sentences) say(`${what}: ${sentence}`);
}

function finish(faults: string[]): void {
  process.exitCode = faults.length > 0 ? 1 : 0;
}

function stop(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}
