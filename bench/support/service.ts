// `sandmartin serve` as a process of its own. It ends with the benchmark, however that ends: what a
// failed one left running would take its CPU from all that come after it.
import { type ChildProcess, spawn } from 'node:child_process';

export function startService(env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, ['bin/sandmartin.js', 'serve'], {
    env: { ...process.env, FEEDBACK_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill('SIGTERM');
  process.on('exit', end);
  child.on('exit', () => process.off('exit', end));
  return child;
}
