// npm run bench NAME: one benchmark of bench/, each of which prints ratios measured in one run.
// npm run bench: all of them in turn, in short rounds; writes bench/results.json and the figures of
// docs/performance.md and docs/scale.md. npm run bench -- --against FILE [NAMES]: all or these, but
// writes nothing and names what got worse than in FILE by more than noise. npm run bench -- --long
// [NAMES]: those that have a long run, whose figures stand beside the others.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BENCHES, GOAL_SECONDS, LONG, type Settings } from '../bench/support/benches.ts';
import { missedGoals, notMeasured, type Run, whatGotWorse } from '../bench/support/comparison.ts';
import { machine } from '../bench/support/machine.ts';
import {
  GOAL_MISSED,
  type Result,
  SKIPPED,
  type Skipped,
  single,
} from '../bench/support/results.ts';
import { PERFORMANCE, readRun, withFigures } from './describe-figures.ts';
import { SCALE, withCapacity } from './describe-scale.ts';

const ROOT = join(import.meta.dirname, '..');
const RESULTS = join(ROOT, 'bench/results.json');

const [first, ...rest] = process.argv.slice(2).filter((word) => word !== '--');
if (first === undefined) runAll();
else if (first === '--against') runAgainst(rest[0], rest.slice(1));
else if (first === '--long') runLong(rest);
else process.exitCode = start(known(first, existsSync(fileOf(first))), {}, rest);

function runAll(): void {
  const { run, broken } = measure(BENCHES);
  tell('goal missed', missedGoals(run));
  const long = readRun()?.long;
  if (broken.length === 0) write({ ...run, ...(long && { long }) });
  else say('Nothing is written: a run needs all of them.');
  finish(broken);
}

function runLong(names: string[]): void {
  const wanted = names.length > 0 ? names : Object.keys(LONG);
  const run = readRun() ?? { ...machine(), results: [] };
  const faults: string[] = [];
  for (const name of wanted) {
    const found = measure({ [known(name, name in LONG)]: LONG[name]! });
    faults.push(...found.broken);
    tell('goal missed', missedGoals(found.run));
    if (found.broken.length > 0) continue;
    run.long = { ...run.long, [name]: found.run };
    write(run);
  }
  finish(faults);
}

function runAgainst(file: string | undefined, names: string[]): void {
  if (file === undefined || !existsSync(file)) {
    stop('--against needs the results of an earlier run, such as bench/results.json.');
  }
  const before = JSON.parse(readFileSync(file, 'utf8')) as Run;
  const chosen = names.map((name) => [known(name, name in BENCHES), BENCHES[name]!]);
  const { run, broken } = measure(names.length > 0 ? Object.fromEntries(chosen) : BENCHES);
  const comparable = names.length > 0 ? names : undefined;
  const worse = whatGotWorse(before, run, comparable);
  say(`\nBeside ${file}, measured ${before.at} at ${before.commit}:`);
  tell('not measured', notMeasured(before, run));
  tell('worse', worse);
  if (worse.length === 0) say('Nothing got worse beyond noise.');
  finish([...broken, ...worse]);
}

function write(run: Run): void {
  writeFileSync(RESULTS, `${JSON.stringify(run, null, 2)}\n`);
  writeFileSync(join(ROOT, PERFORMANCE), withFigures());
  writeFileSync(join(ROOT, SCALE), withCapacity());
  say(`\n${run.results.length} figures: bench/results.json, ${PERFORMANCE}, ${SCALE}`);
}

/**
 * Runs each in a process of its own, which hands its figures over as lines of JSON. What the
 * environment sets goes before the settings here.
 */
function measure(benches: Record<string, Settings>): { run: Run; broken: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
  const lines = join(folder, 'results');
  writeFileSync(lines, '');
  const broken: string[] = [];
  const seconds: Record<string, number> = {};
  for (const [name, settings] of Object.entries(benches)) {
    say(`\n── ${name} ${'─'.repeat(Math.max(0, 60 - name.length))}`);
    const had = readFileSync(lines).length;
    const begun = performance.now();
    const code = start(name, { ...settings, ...process.env, BENCH_RESULTS: lines });
    seconds[name] = Math.round((performance.now() - begun) / 1000);
    say(`${name} took ${seconds[name]} s`);
    if (code === SKIPPED) continue;
    const ended = code === 0 || code === GOAL_MISSED;
    if (!ended || readFileSync(lines).length === had) broken.push(name);
  }
  const found = readFileSync(lines, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Result | Skipped);
  rmSync(folder, { recursive: true });
  tell('did not run to its end', broken);
  const results = found.filter((it): it is Result => 'median' in it);
  const skipped = found.filter((it): it is Skipped => 'why' in it);
  if (benches === BENCHES) results.push(timeOfAll(seconds));
  return { run: { ...machine(), seconds, results, skipped }, broken };
}

function timeOfAll(seconds: Record<string, number>): Result {
  const sum = Object.values(seconds).reduce((one, other) => one + other, 0);
  say(`\nall benchmarks took ${sum} s, goal ≤ ${GOAL_SECONDS}`);
  const took = { bench: 'all', what: 'all benchmarks', ...single(sum), unit: 's' };
  return { ...took, better: 'lower', goal: GOAL_SECONDS };
}

function start(name: string, env: NodeJS.ProcessEnv, args: string[] = []): number {
  const child = spawnSync(process.execPath, ['--import', 'tsx', fileOf(name), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return child.status ?? 1;
}

function known(name: string, isKnown: boolean): string {
  if (isKnown) return name;
  stop(
    `There is no benchmark "${name}". Name one of ${Object.keys(BENCHES).join(', ')}; without a name all are run. ` +
      `A long run have ${Object.keys(LONG).join(', ')}.`,
  );
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
