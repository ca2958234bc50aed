// A command run inside the test's own process: the same code as `sandmartin …` without seconds of
// start. Processes of their own (process.ts) are for tests about processes.
import { Command } from 'commander';
import { vi } from 'vitest';
import { wordedAtTerminal } from '../../src/cli/hints.ts';
import { Problem } from '../../src/errors.ts';
import type { CommandResult } from './process.ts';

/** `register` adds the command, as src/cli/main.ts does. The environment is exactly `env`. */
export async function runInProcess(
  register: (program: Command) => unknown,
  args: string[],
  env: Record<string, string>,
): Promise<CommandResult> {
  const result: CommandResult = { code: 0, stdout: '', stderr: '' };
  const before = { env: process.env, exitCode: process.exitCode };
  const collect = (stream: 'stdout' | 'stderr') =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      result[stream] += text;
      return true;
    });
  const spies = [collect('stdout'), collect('stderr')];
  process.env = env;
  process.exitCode = undefined;
  try {
    const program = new Command().exitOverride();
    register(program);
    await program.parseAsync(['node', 'sandmartin', ...args]);
    result.code = Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    result.stderr += `${wordedAtTerminal(error)}\n`;
    result.code = 1;
  } finally {
    process.env = before.env;
    process.exitCode = before.exitCode;
    for (const spy of spies) spy.mockRestore();
  }
  return result;
}
