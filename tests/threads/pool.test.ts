// The threads over real ones: what oversteps its limits is refused, and what went with it is done
// anyway.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { JobStopped } from '../../src/process/job-stopped.ts';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { openPool, type Pool, type PoolOptions } from '../../src/threads/pool.ts';
import { until } from '../support/until.ts';

type HostileJobs = {
  double: (input: number) => number;
  bytes: (text: string) => { text: string; bytes: Uint8Array };
  halve: (bytes: Uint8Array) => { halves: Uint8Array[]; bytes: Uint8Array };
  refuse: (detail: string) => never;
  fail: (input: null) => never;
  loopForever: (input: null) => never;
  readPipe: (path: { name: string; begun: Int32Array }) => string;
  takeAllMemory: (input: null) => never;
  takeAllMemoryAtOnce: (input: null) => never;
  work: (ms: number) => number;
  hold: (gate: Int32Array) => string;
  takeTicket: (tickets: Int32Array) => number;
  look: (input: { keys: string[]; mark?: string }) => { found: unknown[]; seen: string[] };
};

let pool: Pool<HostileJobs>;
const open = (options: Partial<PoolOptions> = {}): Pool<HostileJobs> => {
  pool = openPool({
    file: new URL('./hostile-jobs.js', import.meta.url),
    threads: 2,
    log: createLog('silent'),
    metrics: createMetrics(),
    // However busy the machine is.
    longestWaitMs: 60_000,
    ...options,
  });
  return pool;
};
afterEach(() => pool.close());

const doubles = (share: string, count: number): Promise<number[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => pool.run('double', n, { share })));

/** What a held job waits for. */
function makeGate() {
  const gate = new Int32Array(new SharedArrayBuffer(8));
  return {
    gate,
    begun: (count: number) => until(() => Atomics.load(gate, 1) === count),
    open: () => {
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
    },
  };
}

describe('a job', () => {
  it('answers each order with its own output, however many go together', async () => {
    open();
    expect(await doubles('a', 200)).toEqual(Array.from({ length: 200 }, (_, n) => n * 2));
  });

  it('hands bytes over whole, each its own part of what was sent together', async () => {
    open();
    const texts = ['', 'Grüße', 'x'.repeat(100_000)];
    const answers = await Promise.all(texts.map((text) => pool.run('bytes', text, { share: 'a' })));
    expect(answers.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(texts);
  });

  it('hands large bytes over without a copy, and parts of them as parts of them', async () => {
    open();
    const given = Buffer.allocUnsafeSlow(256 * 1024).fill('Sandmartin');
    const wanted = given.toString();
    const transfer = [given.buffer];
    const { halves, bytes } = await pool.run('halve', given, { share: 'a', transfer });
    expect(Buffer.concat(halves).toString()).toBe(wanted);
    expect(halves.map(({ buffer }) => buffer === bytes.buffer)).toEqual([true, true]);
  });

  it('passes a Problem on with its faults, and a fault of ours as what it is', async () => {
    open();
    const refused = await pool.run('refuse', 'No.', { share: 'a' }).catch((error) => error);
    expect(refused).toBeInstanceOf(Problem);
    expect(refused).toMatchObject({ code: 'invalid', detail: 'No.', faults: [{ line: 3 }] });
    const failed = await pool.run('fail', null, { share: 'a' }).catch((error) => error);
    expect(failed).toMatchObject({ name: 'TypeError', message: 'a fault of ours' });
  });

  it('tells how long it took', async () => {
    open();
    const spent: number[] = [];
    await pool.run('work', 30, { share: 'a', spent: (ms) => spent.push(ms) });
    expect(spent).toHaveLength(1);
    expect(spent[0]).toBeGreaterThanOrEqual(29);
  });
});

describe('a job past its limits', () => {
  it('is stopped at its deadline; what went with it is done anyway', async () => {
    open({ deadlineMs: 100 });
    await doubles('warm', 1);
    const before = doubles('a', 5);
    const hostile = pool.run('loopForever', null, { share: 'a' }).catch((error) => error);
    const after = doubles('a', 5);
    expect(await before).toEqual([0, 2, 4, 6, 8]);
    expect(await after).toEqual([0, 2, 4, 6, 8]);
    expect(await hostile).toBeInstanceOf(JobStopped);
    expect(await hostile).toMatchObject({ reason: 'time' });
  });

  it('is not held to account for what this thread or another works meanwhile', async () => {
    open({ deadlineMs: 200 });
    const { gate, begun, open: letGo } = makeGate();
    const held = pool.run('hold', gate, { share: 'a' });
    await begun(1);
    // Twice the deadline of work. By the clock it may take twenty times, and a busy machine took
    // five times as long as the work.
    const busyUntil = process.cpuUsage().user + 400_000;
    while (process.cpuUsage().user < busyUntil) {
      const pauseAt = performance.now() + 20;
      while (performance.now() < pauseAt);
      await new Promise((resolve) => setTimeout(resolve));
    }
    letGo();
    expect(await held).toBe('held');
  });

  it.each(['takeAllMemory', 'takeAllMemoryAtOnce'] as const)(
    'is stopped for want of memory (%s); the process and the others live',
    async (job) => {
      open({ memoryMb: 32, deadlineMs: 20_000 });
      const spent: number[] = [];
      const hostile = pool
        .run(job, null, { share: 'a', spent: (ms) => spent.push(ms) })
        .catch((error) => error);
      const others = doubles('a', 5);
      expect(await others).toEqual([0, 2, 4, 6, 8]);
      expect(await hostile).toBeInstanceOf(JobStopped);
      expect(await hostile).toMatchObject({ reason: 'memory' });
      expect(spent).toHaveLength(1);
      expect(await doubles('b', 3)).toEqual([0, 2, 4]);
    },
  );

  it('in a native call, which nothing interrupts, is given up anyway; only its own share waits for its end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pipes-'));
    const begun = new Int32Array(new SharedArrayBuffer(4));
    const pipe = (name: string) => {
      execFileSync('mkfifo', [join(folder, name)]);
      return { name: join(folder, name), begun };
    };
    // Sleeping, it is seen by the clock alone: after twenty times its deadline.
    open({ deadlineMs: 25 });
    const pipes = { a: pipe('a'), b: pipe('b') };
    const stuck = Object.entries(pipes).map(([share, path]) =>
      pool.run('readPipe', path, { share }).catch((error) => error),
    );
    for (const one of stuck) expect(await one).toMatchObject({ reason: 'time' });
    expect(Atomics.load(begun, 0)).toBe(2);
    let done = false;
    const next = pool.run('double', 4, { share: 'a' }).finally(() => {
      done = true;
    });
    expect(await doubles('c', 50)).toHaveLength(50);
    expect(done).toBe(false);
    for (const { name } of Object.values(pipes)) writeFileSync(name, 'x');
    expect(await next).toBe(8);
    rmSync(folder, { recursive: true });
  });

  it('leaves a thread for others, who need not wait for it', async () => {
    open();
    // Known as slow from here on, for a while.
    await pool.run('work', 30, { share: 'slow' });
    const { gate, open: openGate, begun } = makeGate();
    const slow = Array.from({ length: 3 }, () => pool.run('hold', gate, { share: 'slow' }));
    await begun(1);
    expect(await doubles('quick', 5)).toEqual([0, 2, 4, 6, 8]);
    expect(Atomics.load(gate, 1)).toBe(1);
    openGate();
    expect(await Promise.all(slow)).toEqual(['held', 'held', 'held']);
  });
});

describe('turns', () => {
  it('one that floods does not keep another waiting behind its whole line', async () => {
    open();
    await doubles('warm', 1);
    const done: string[] = [];
    const flood = Promise.all(
      Array.from({ length: 300 }, () =>
        pool.run('work', 2, { share: 'a' }).then(() => done.push('a')),
      ),
    );
    const other = pool.run('double', 1, { share: 'b' }).then(() => done.push('b'));
    await Promise.all([flood, other]);
    expect(done.indexOf('b')).toBeLessThan(64);
  });

  it('whoever comes during a flood waits for an order of it, not for the batches that run', async () => {
    open({ deadlineMs: 60_000 });
    const tickets = new Int32Array(new SharedArrayBuffer(8));
    const give = (count: number) => {
      Atomics.add(tickets, 0, count);
      Atomics.notify(tickets, 0, count);
    };
    const begun = () => Atomics.load(tickets, 1);
    const flood = Array.from({ length: 100 }, () =>
      pool.run('takeTicket', tickets, { share: 'a' }),
    );
    await until(() => begun() === 2);
    let answered = false;
    const other = pool.run('double', 1, { share: 'b' }).then(() => {
      answered = true;
    });
    await new Promise(setImmediate);
    let given = 0;
    for (; !answered && given < 100; given++) {
      const before = begun();
      give(1);
      await until(() => answered || begun() > before);
    }
    // One for each thread, and one whose turn it was before; 24 of each thread without.
    expect(given).toBeLessThan(6);
    give(100);
    await Promise.all([...flood, other]);
  });

  it('one that has too much waiting is refused for now, nobody else', async () => {
    open({ mostWaiting: 10 });
    const { gate, open: openGate, begun } = makeGate();
    const held: Promise<string>[] = [];
    for (const share of ['c', 'd']) {
      held.push(pool.run('hold', gate, { share }));
      await begun(held.length);
    }
    const flood = Array.from({ length: 12 }, () => pool.run('double', 1, { share: 'a' }));
    const outcomes = Promise.allSettled(flood);
    const other = doubles('b', 3);
    openGate();
    expect(await other).toEqual([0, 2, 4]);
    const refused = (await outcomes).map(({ status }) => status === 'rejected');
    expect(refused).toEqual([...Array(7).fill(false), ...Array(5).fill(true)]);
    await Promise.all(held);
  });

  it('what waits too long is refused for now, and so is what comes while too many wait', async () => {
    open({ longestWaitMs: 5000, mostWaiting: 1 });
    const { gate, open: openGate, begun } = makeGate();
    const held = [];
    for (const share of ['a', 'b']) {
      held.push(pool.run('hold', gate, { share }));
      await begun(held.length);
    }
    const third = pool.run('double', 1, { share: 'c' }).catch((error) => error);
    const fourth = await pool.run('double', 1, { share: 'd' }).catch((error) => error);
    expect(fourth).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
    expect(await third).toMatchObject({ code: 'unavailable' });
    openGate();
    expect(await Promise.all(held)).toEqual(['held', 'held']);
  });
});

describe('things', () => {
  it('are there in every thread that works on an order which uses them, also after one was killed', async () => {
    open({ deadlineMs: 100 });
    const uses = [{ key: 'k', value: 'v', size: 1 }];
    const look = () => pool.run('look', { keys: ['k'] }, { share: 'a', uses });
    expect((await look()).found).toEqual(['v']);
    await pool.run('loopForever', null, { share: 'a' }).catch(() => undefined);
    const looks = await Promise.all(Array.from({ length: 40 }, look));
    expect(looks.every(({ found }) => found[0] === 'v')).toBe(true);
  });

  it('are forgotten, oldest first, when they take too much; never one that is in use', async () => {
    open();
    const size = 700_000;
    for (let n = 0; n < 10; n++) {
      const uses = [
        { key: 'constant', value: 'always', size },
        { key: `k${n}`, value: n, size },
      ];
      const { found } = await pool.run(
        'look',
        { keys: ['constant', `k${n}`] },
        { share: 'a', uses },
      );
      expect(found).toEqual(['always', n]);
    }
    const gone = await pool.run('look', { keys: ['k0'] }, { share: 'a' }).catch((error) => error);
    expect(gone.message).toContain('was not handed over');
  });
});

it('if none is started ahead, there are as many threads as there is work for', async () => {
  let started = 0;
  const count = () => void started++;
  process.on('worker', count);
  open({ startAhead: false });
  const { gate, open: openGate, begun } = makeGate();
  const held: Promise<string>[] = [];
  for (const share of ['a', 'b']) {
    held.push(pool.run('hold', gate, { share }));
    await begun(held.length);
    expect(started).toBe(held.length);
  }
  openGate();
  await Promise.all(held);
  process.off('worker', count);
});

it('work that waits when the pool closes is refused', async () => {
  open();
  const running = pool.run('work', 200, { share: 'a' }).catch((error) => error);
  await pool.close();
  expect(await running).toMatchObject({ code: 'unavailable' });
});
