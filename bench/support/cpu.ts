// CPU time of processes from /proc (Linux): what a send costs whom has less noise than how long it
// took.
import { readdirSync, readFileSync } from 'node:fs';

const TICK_US = 10_000; // 100 ticks a second on every Linux we know

/** User + system time in µs; 0 for a process that is gone. */
export function cpuMicroseconds(pid: number): number {
  const fields = stat(pid);
  return fields === undefined ? 0 : (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** CPU time by process id, of a process and everything it started. */
export type CpuSnapshot = Map<number, number>;

export function snapshotTree(root: number): CpuSnapshot {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const parent = Number(stat(pid)?.[1] ?? -1);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const snapshot: CpuSnapshot = new Map();
  const visit = (pid: number): void => {
    snapshot.set(pid, cpuMicroseconds(pid));
    for (const child of children.get(pid) ?? []) visit(child);
  };
  visit(root);
  return snapshot;
}

/** What was used between two snapshots by the processes that live at the second. */
export function cpuBetween(before: CpuSnapshot, after: CpuSnapshot): number {
  let sum = 0;
  for (const [pid, used] of after) sum += used - (before.get(pid) ?? 0);
  return sum;
}

function stat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}
