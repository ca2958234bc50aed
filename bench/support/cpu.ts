// CPU time of processes from /proc (Linux): what a send costs whom has less noise than how long it took.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_US = 10_000; // 100 ticks a second on every Linux we know

/** User + system time in µs; 0 for a process that is gone. */
export function cpuMicroseconds(pid: number): number {
  const fields = stat(pid);
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** The process and everything it started. */
export function cpuOfTree(root: number): number {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(stat(pid)?.[1] ?? -1);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const sum = (pid: number): number =>
    cpuMicroseconds(pid) + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(root);
}

function stat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
