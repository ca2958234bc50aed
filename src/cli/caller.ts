// Who started this process, so that it can end with them, even if they are killed without notice.
// Used by serve --sandbox. npm and npx stand between us and their caller and outlive it, so the
// caller itself is watched.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 500;

interface Process {
  parent: number;
  name: string;
}

/** Calls `end` once, when the process that started us is gone. */
export function endWithCaller(end: () => void): void {
  const parent = process.ppid;
  const caller = callerOf(parent);
  const timer = setInterval(() => {
    // An orphan gets another parent.
    if (process.ppid === parent && isAlive(caller)) return;
    clearInterval(timer);
    end();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** Past `npm exec`, and the shell that it starts commands with. */
function callerOf(pid: number): number {
  const shell = processOf(pid);
  if (shell === undefined) return pid;
  if (isNpm(shell)) return shell.parent;
  const above = /^(sh|dash|bash)$/.test(shell.name) ? processOf(shell.parent) : undefined;
  return above !== undefined && isNpm(above) ? above.parent : pid;
}

const isNpm = ({ name }: Process): boolean => /^(npm|npx)\b/.test(name);

/** Undefined: it is gone, or this system does not say. */
function processOf(pid: number): Process | undefined {
  try {
    if (process.platform === 'linux') {
      // The name is in parentheses and may contain some itself.
      const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(
        readFileSync(`/proc/${pid}/stat`, 'utf8'),
      )!;
      return { name: name!, parent: Number(parent) };
    }
    const told = execFileSync('ps', ['-o', 'ppid=,comm=', '-p', String(pid)], { encoding: 'utf8' });
    const [, parent, name] = /^\s*(\d+)\s+(.*)/.exec(told)!;
    return { name: name!.split('/').at(-1)!, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  // The root process does not end.
  if (pid <= 1) return true;
  try {
    process.kill(pid, 0);
    return processOf(pid) !== undefined || process.platform !== 'linux';
  } catch (error) {
    // It exists, but belongs to someone else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
