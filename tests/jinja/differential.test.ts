// Fresh random templates, rendered by `sandmartin jinja --batch` and by real Jinja2: the answers
// must be the same.
// The same in every `npm test`; `npm run test:search` draws another seed, printed; JINJA_SEED=…
// repeats one, JINJA_TEMPLATES=… changes how many.
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { draw, LONGER } from '../support/longer.ts';
import { CONTEXT } from './expression-generator.ts';
import { Generator } from './generator.ts';

const seed = Number(process.env.JINJA_SEED ?? draw(1_000_000_000));
const count = Number(process.env.JINJA_TEMPLATES ?? 800 * LONGER);
const skipped = reasonToSkip();
if (skipped !== null) console.log(`differential test skipped: ${skipped}`);

/**
 * Older ones answer some questions otherwise: which methods of Markup stay Markup, what `int` does
 * with infinity.
 */
function reasonToSkip(): string | null {
  const ask =
    'from importlib.metadata import version; print(version("jinja2"), version("markupsafe"))';
  const { status, stdout } = spawnSync('python3', ['-c', ask], { encoding: 'utf8' });
  if (status !== 0) return 'python3 has no jinja2 here';
  const [jinja2 = '', markupsafe = ''] = stdout.trim().split(' ');
  const isNew = (version: string, least: string) =>
    version.localeCompare(least, 'en', { numeric: true }) >= 0;
  if (isNew(jinja2, '3.1.6') && isNew(markupsafe, '3.0')) return null;
  return `the oracle is Jinja2 3.1.6 with MarkupSafe 3, here are ${jinja2} and ${markupsafe}`;
}

interface Answer {
  output?: string;
  error?: string;
}

/** Sends lines to a program and collects its answers, one per line. */
function answersOf(command: string, args: string[], input: string): Promise<Answer[]> {
  return new Promise((done, failed) => {
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', failed);
    child.on('close', () => {
      const lines = Buffer.concat(chunks).toString('utf8').split('\n').filter(Boolean);
      done(lines.map((line) => JSON.parse(line) as Answer));
    });
    child.stdin.end(input);
  });
}

/**
 * The same with the lines shared out among several processes: compiling takes Jinja2 ten
 * milliseconds a template.
 */
async function answersOfSeveral(
  processes: number,
  command: string,
  args: string[],
  lines: string[],
): Promise<Answer[]> {
  const share = Math.ceil(lines.length / processes);
  const answers = await Promise.all(
    Array.from({ length: processes }, (_, i) =>
      answersOf(command, args, lines.slice(i * share, (i + 1) * share).join('')),
    ),
  );
  return answers.flat();
}

/**
 * Addresses and the names of generators are the only things that differ from run to run; a filter
 * may have broken them up.
 */
function comparable(answer: Answer): string {
  const text = (answer.output ?? answer.error ?? '')
    .replace(/generator object \w+ at/g, 'generator object at')
    .replace(/(built-in method \w+ of )\w+ object/gi, '$1x object');
  const whole = text.replace(/\s+/g, '');
  return /at0x|0x[0-9a-f]{8}/i.test(whole) ? whole.replace(/0x[0-9a-f]*/gi, '0x') : text;
}

/**
 * Why two answers that are not the same say nothing against us; null where they are the same,
 * 'different' where they do. Messages may differ in words, kinds of error may not.
 */
function verdictOn(ours: Answer, theirs: Answer): string | null {
  // A template without an end: theirs is stopped by the clock of the test, ours by the steps of its
  // budget.
  if (theirs.error?.startsWith('Timeout') || theirs.error?.startsWith('MemoryError'))
    return ours.error?.startsWith('LimitExceeded') ? 'both were stopped' : 'different';
  // Our depth is 200 calls or 300 containers in one another, Python's about 1,000 of its own
  // frames.
  if (ours.error?.startsWith('RecursionError: maximum recursion depth exceeded'))
    return theirs.error?.startsWith('RecursionError') ? null : 'deeper than we go';
  if ((ours.error === undefined) !== (theirs.error === undefined)) return 'different';
  if (theirs.error === undefined)
    return comparable(ours) === comparable(theirs) ? null : 'different';
  return ours.error!.split(':')[0] === theirs.error.split(':')[0] ? null : 'different';
}

/** Only steps stop a render here: the clock would, on a machine with other things to do. */
const UNHURRIED_MS = 600_000;

const FLOAT = /\d+\.\d+(?:e[+-]\d+)?|\d+e[+-]\d+/g;

/**
 * The last bit of a float power is the C library's choice and depends on the processor: where the
 * exact result is close to the middle of two floats its pow() takes either. Ours is the nearer one;
 * nothing but that bit may differ.
 */
function differsByPower(templates: Record<string, string>, ours: Answer, theirs: Answer): boolean {
  if (!Object.values(templates).some((source) => source.includes('**'))) return false;
  if (ours.output === undefined || theirs.output === undefined) return false;
  if (ours.output.replace(FLOAT, '#') !== theirs.output.replace(FLOAT, '#')) return false;
  const floats = ours.output.match(FLOAT) ?? [];
  return (theirs.output.match(FLOAT) ?? []).every((text, i) => {
    const [a, b] = [Number(text), Number(floats[i])];
    return Math.abs(a - b) <= Number.EPSILON * Math.abs(a);
  });
}

/**
 * What Jinja2 itself answers otherwise in every process says nothing about us: a printed address
 * that filters took apart character by character, or the order of a set. Three fresh processes are
 * asked again, only where we differ.
 */
async function isRepeatable(line: string, first: Answer, oracle: string): Promise<boolean> {
  const again = await Promise.all(
    [1, 2, 3].map(() => answersOf('python3', ['-W', 'ignore', oracle], line)),
  );
  return again.every(([answer]) => JSON.stringify(answer) === JSON.stringify(first));
}

it.skipIf(skipped !== null)(
  `renders ${count} templates of seed ${seed} as Jinja2 does`,
  // The same seed gives the same answers: trying again would only take time.
  { timeout: 900_000, retry: 0 },
  async () => {
    console.log(`seed ${seed}`);
    const generator = new Generator(seed);
    const context = CONTEXT.replaceAll('\n', ' ');
    const jobs = Array.from({ length: count }, () => generator.job());
    const lineOf = (job: (typeof jobs)[number], options: object) =>
      `{"templates":${JSON.stringify(job.templates)},"main":"${job.main}","context":${context},"options":${JSON.stringify(options)}}\n`;
    const lines = jobs.map((job) => lineOf(job, job.options));
    const unhurried = jobs.map((job) => lineOf(job, { ...job.options, time_ms: UNHURRIED_MS }));
    const oracle = fileURLToPath(new URL('oracle.py', import.meta.url));
    const cli = fileURLToPath(new URL('../../bin/sandmartin.js', import.meta.url));
    const [ours, theirs] = await Promise.all([
      answersOf(process.execPath, [cli, 'jinja', '--batch'], unhurried.join('')),
      answersOfSeveral(availableParallelism(), 'python3', ['-W', 'ignore', oracle], lines),
    ]);
    expect(ours.length).toBe(count);
    expect(theirs.length).toBe(count);
    const differences = [];
    const excused = new Map<string, number>();
    for (const [i, job] of jobs.entries()) {
      let verdict = verdictOn(ours[i]!, theirs[i]!);
      if (verdict === null) continue;
      if (verdict === 'different' && differsByPower(job.templates, ours[i]!, theirs[i]!))
        verdict = 'the last bit of a power';
      if (verdict === 'different' && !(await isRepeatable(lines[i]!, theirs[i]!, oracle)))
        verdict = 'Jinja2 answers otherwise every time';
      if (verdict === 'different') differences.push({ ...job, ours: ours[i], theirs: theirs[i] });
      else excused.set(verdict, (excused.get(verdict) ?? 0) + 1);
    }
    const worded = jobs.filter(
      (_, i) => theirs[i]!.error !== undefined && comparable(ours[i]!) !== comparable(theirs[i]!),
    );
    console.log(
      `${differences.length} differences, ${worded.length} messages worded otherwise, of ${count}; excused:`,
      Object.fromEntries(excused),
    );
    expect(differences.slice(0, 5)).toEqual([]);
  },
);
