// Sandmartin as processes of their own, for tests that kill them or need several: the built
// program, as people run it. global-setup.ts rebuilds it when a source is newer.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
// The test runner sets a BASE_URL of its own, which is not one of our addresses.
const { BASE_URL: _theirs, DATABASE_URL: _of, ...ENV } = process.env;
const COMMAND = [join(ROOT, 'bin/sandmartin.js')];

export interface ServiceProcess {
  url: string;
  child: ChildProcess;
  /** What it printed so far, standard output and log together. */
  output: () => string;
  /** Sends the signal and waits for the end; answers the exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/**
 * Starts `sandmartin serve` and waits until it says that it runs. `root`: where the program lies.
 */
export async function startProcess(
  env: Record<string, string>,
  root = ROOT,
): Promise<ServiceProcess> {
  const launched = await launchProcess(env, root);
  const { child, output } = launched;
  const ended = once(child, 'exit');
  while (!output().includes('Sandmartin is running')) {
    if (child.exitCode !== null) throw new Error(`it did not start:\n${output()}`);
    await Promise.race([once(child.stdout!, 'data'), ended]);
  }
  return launched;
}

/** The same without waiting. */
export async function launchProcess(
  env: Record<string, string>,
  root = ROOT,
): Promise<ServiceProcess> {
  const port = env.PORT ?? String(await freePort());
  const child = spawn(process.execPath, [join(root, 'bin/sandmartin.js'), 'serve'], {
    cwd: root,
    env: { ...ENV, LOG_LEVEL: 'warn', FEEDBACK_PORT: '0', PORT: port, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'exit');
  return {
    url: `http://127.0.0.1:${port}`,
    child,
    output: () => output,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await ended;
      }
      return child.exitCode;
    },
  };
}

export interface CommandResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one command to its end. */
export async function runCommand(
  args: string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [...COMMAND, ...args], {
    cwd: ROOT,
    env: { ...ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/**
 * Below those that the system gives to whoever listens on port 0 or connects, or an embedded
 * PostgreSQL takes: what listens only in a second, or comes back to its port, would find it taken.
 * Each worker has its own 700.
 */
const FIRST_PORT = 11_000 + 700 * (Number(process.env.VITEST_POOL_ID ?? 0) % 12);
let asked = Math.floor(Math.random() * 700);

/** For what is told its port before it listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (asked++ % 700);
    if (await isFree(port)) return port;
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
      .on('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
