// Child process of attacks.test.ts: runs every attack and prints one JSON line each, with the time
// it took and the process's memory.
import { Environment, TemplateError } from '../../src/jinja/index.ts';
import { openTestClock } from '../support/blocked.ts';
import { type Attack, attacks } from './attacks.ts';

const collect = (globalThis as { gc?: () => void }).gc!;

/** Warmed up as a server is; the first render of a process pays for compiling the engine itself. */
const environment = new Environment();
for (let i = 0; i < 300; i++)
  environment.fromString(`{% for x in [1, 2] %}{{ x|upper }}${i}{% endfor %}`).render({});

interface Outcome {
  output?: string;
  error?: string;
}

function attempt(attack: Attack): Outcome & { ms: number; grownMb: number } {
  const { templates, template } = attack;
  const env = new Environment({
    loader: (wanted) => templates?.[wanted],
    extensions: ['do', 'loopcontrols'],
  });
  const input = attack.data?.() ?? {};
  const text = attack.input?.() ?? '';
  // Neither the clock, which counts what a busy machine gave to others, nor the whole process,
  // which has threads for compiling. Opened before memory is looked at: it finds out how fast the
  // machine is at the moment.
  const clock = openTestClock();
  collect();
  const rssBefore = process.memoryUsage.rss();
  const peakBefore = process.resourceUsage().maxRSS * 1024;
  const started = clock.workedMs();
  let outcome: Outcome;
  try {
    const output = attack.run?.(text) ?? env.fromString(template, 'main.html').render(input);
    outcome = { output: output.length > 300 ? `${output.length} characters` : output };
  } catch (error) {
    const known = error instanceof TemplateError;
    outcome = {
      error: known ? `${error.typeName}: ${error.message}` : `UNEXPECTED ${String(error)}`,
    };
  }
  const ms = clock.workedMs() - started;
  clock.close();
  const peak = process.resourceUsage().maxRSS * 1024;
  // The high-water mark tells the peak of this attack only when it rose; otherwise it stayed below
  // an earlier one.
  const grownMb = peak > peakBefore ? (peak - rssBefore) / 1024 / 1024 : 0;
  return { ms, grownMb, ...outcome };
}

// Noise on a shared machine lasts for seconds, and even processor time has it. A slow attack is
// slow every time: those that seem so come again after all others.
const found = new Map<Attack, ReturnType<typeof attempt>>();
for (let round = 0, pending = attacks; round < 6; round++) {
  for (const attack of pending) {
    const before = found.get(attack);
    const now = attempt(attack);
    found.set(attack, {
      ...now,
      ms: Math.min(now.ms, before?.ms ?? now.ms),
      grownMb: Math.max(now.grownMb, before?.grownMb ?? now.grownMb),
    });
  }
  pending = pending.filter((attack) => found.get(attack)!.ms > 90);
}
for (const [{ name }, outcome] of found) {
  process.stdout.write(`${JSON.stringify({ name, ...outcome })}\n`);
}
