// Sandmartin as processes of their own, for tests that kill them or need several: the built program, as people run it.
// global-setup.ts builds it anew when a source is newer.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
// The test runner sets a BASE_URL of its own, which is no address of ours.
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

/** Starts `sandmartin serve` and waits until it says that it runs. `root`: where the program lies. */
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

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
