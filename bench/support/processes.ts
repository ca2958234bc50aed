// What a benchmark runs beside itself, each as a process of its own. They end with the benchmark,
// however that ends: what a failed one left running would take its CPU from all that come after it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../tests/support/process.ts';

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

export interface Served {
  child: ChildProcess;
  port: number;
  stop(): Promise<void>;
}

export function startService(env: Record<string, string>): ChildProcess {
  return start(['bin/sandmartin.js', 'serve'], { FEEDBACK_PORT: '0', ...env });
}

/** A server of bench/support that does the least it can. */
export async function serveBare(program: 'bare-http' | 'bare-smtp'): Promise<Served> {
  const port = await freePort();
  return serving(startTool(program, [String(port)]), port);
}

/** A program of bench/support. */
export function startTool(program: string, words: string[]): ChildProcess {
  return start(['--import', 'tsx', `bench/support/${program}.ts`, ...words]);
}

/** As soon as it says something. */
export async function serving(child: ChildProcess, port: number): Promise<Served> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended before it served, with ${code}`);
  });
  await Promise.race([once(child.stdout!, 'data'), ended]);
  ended.catch(() => undefined);
  child.stdout!.resume();
  return { child, port, stop: () => stop(child) };
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function start(words: string[], env: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, words, {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  running.add(child);
  child.on('exit', () => running.delete(child));
  return child;
}
