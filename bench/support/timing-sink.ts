// An SMTP sink in a process of its own that tells when an email came and how many there were. Used
// by fairness.ts, which has it answer at once or, as relays do, after a while.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { listenSmtp } from './lean-smtp.ts';

if (process.argv[2] === 'timing-sink') await runSink();

/** The same for all processes of a machine. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

interface Told {
  /** Every email to this address is told of by its envelope id. */
  watched?: string;
  answersAfterMs?: number;
  /** Counts from zero, and tells of the first tenth and of the last one. */
  expected?: number;
}

interface Arrived {
  id?: string;
  count?: number;
  atMs: number;
}

export async function startSink() {
  const child = fork(fileURLToPath(import.meta.url), ['timing-sink'], {
    execArgv: process.execArgv,
  });
  const [port] = (await once(child, 'message')) as [number];
  const awaited = new Map<string, (atMs: number) => void>();
  const early = new Map<string, number>();
  let onCount = (_arrived: Arrived) => {};
  child.on('message', (arrived: Arrived) => {
    if (arrived.id === undefined) return onCount(arrived);
    const waiting = awaited.get(arrived.id);
    if (waiting === undefined) early.set(arrived.id, arrived.atMs);
    else waiting(arrived.atMs);
    awaited.delete(arrived.id);
  });
  const tell = (told: Told): boolean => child.send(told);
  return {
    child,
    port,
    tell,
    /** When an email to the watched address had come whole. */
    came: (id: string): Promise<number> => {
      const already = early.get(id);
      if (already !== undefined) return Promise.resolve(already);
      return new Promise((resolve) => awaited.set(id, resolve));
    },
    /** Emails a second, from the first tenth of those that come from now on to the last. */
    drained: (expected: number): Promise<number> =>
      new Promise((resolve) => {
        let first: Required<Pick<Arrived, 'count' | 'atMs'>> | undefined;
        onCount = ({ count = 0, atMs }) => {
          if (first === undefined) first = { count, atMs };
          else resolve(((count - first.count) / (atMs - first.atMs)) * 1000);
        };
        tell({ expected });
      }),
  };
}

/** Takes every email. */
async function runSink(): Promise<void> {
  let answersAfterMs = 0;
  let watched: string | undefined;
  let expected = Number.POSITIVE_INFINITY;
  let count = 0;
  process.on('message', (told: Told) => {
    answersAfterMs = told.answersAfterMs ?? answersAfterMs;
    watched = told.watched ?? watched;
    if (told.expected === undefined) return;
    expected = told.expected;
    count = 0;
  });
  process.once('disconnect', () => process.exit());
  const port = await listenSmtp(({ to, envelopeId }) => {
    count++;
    const atMs = nowMs();
    if (envelopeId !== undefined && watched !== undefined && to.includes(watched)) {
      process.send!({ id: envelopeId, atMs } satisfies Arrived);
    }
    if (count === Math.ceil(expected / 10) || count === expected) {
      process.send!({ count, atMs } satisfies Arrived);
    }
    return answersAfterMs;
  });
  process.send!(port);
}
