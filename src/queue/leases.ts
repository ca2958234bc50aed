// The lease of a delivery process: while it holds, what the process has in hand is its own. Before:
// main.ts starts the process. After: worker.ts claims under it, and checks whether it still holds
// before each email begins. Also puts the emails whose time has come into their lanes.
//
// The database's clock decides when a lease is over; the process itself only measures how long ago
// it asked. A process that was frozen notices on waking that too much time has passed, and begins
// nothing more. What it had in hand went to others, and the outcomes it still has are checked by
// the number of the claim (`claims`, see outcomes.ts).
import { randomUUID } from 'node:crypto';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import { fillLanes } from './lanes.ts';

const TEND_EVERY_MS = 1000;
/**
 * The part of a lease within which an email may still begin; the rest is for the first words to the
 * relay.
 */
const SURE = 0.75;

export interface Lease {
  id: string;
  /** True: nobody else can have taken what was claimed under it. */
  holds(): boolean;
}

export interface Leases {
  current(): Lease;
  /** Ends the lease: what is still in hand is free at once. */
  end(): Promise<void>;
  /** Stops renewing it: what is in hand is free when it runs out. */
  abandon(): void;
}

export interface LeaseDeps {
  database: Database;
  log: Log;
  leaseMs: number;
  /** This process runs the embedded database, as only one can: leases of earlier ones are over. */
  embedded: boolean;
}

export async function openLeases(deps: LeaseDeps): Promise<Leases> {
  const { database, log, leaseMs } = deps;
  const couldNotTend = recurringFault(
    log,
    'warn',
    'could not renew the lease on emails being handed over',
  );
  if (deps.embedded) await database.query('DELETE FROM delivery_leases WHERE embedded');
  let lease = await takeLease();
  // After an outage every lease may have run out: live processes get a moment to renew theirs.
  let mayFree = false;
  let timer: NodeJS.Timeout | undefined;
  let tending: Promise<void> = Promise.resolve();
  let ended = false;

  async function takeLease() {
    const asked = bothClocks();
    const id = randomUUID();
    await database.query(
      `INSERT INTO delivery_leases (id, held_until, embedded) VALUES ($1, now() + $2 * interval '1 millisecond', $3)`,
      [id, leaseMs, deps.embedded],
    );
    return makeLease(id, asked, leaseMs);
  }

  async function tend(): Promise<void> {
    const asked = bothClocks();
    let moreHaveCome = false;
    try {
      const seen = await eachNode(leasesInHand);
      const [row] = await database.prepared<{ held: boolean; dead: string[] }>(
        'tend-queue',
        'SELECT * FROM tend_queue($1, $2, $3, $4)',
        [lease.id, leaseMs, mayFree, [...new Set(seen.flat())]],
      );
      if (row?.held) lease.renewed(asked);
      else {
        log.warn(
          'the lease on emails being handed over was lost: this process did not respond for too long',
        );
        lease = await takeLease();
      }
      mayFree = true;
      const dead = row?.dead ?? [];
      if (dead.length > 0) await eachNode((node) => freeInHand(node, dead));
      moreHaveCome = (await eachNode(fillLanes)).includes(true);
    } catch (error) {
      mayFree = false;
      couldNotTend(error);
    }
    if (!ended) schedule(moreHaveCome ? 0 : TEND_EVERY_MS);
  }

  /** A node that is away keeps what it has until it is back; the others are still tended. */
  async function eachNode<Result>(work: (node: Database) => Promise<Result>): Promise<Result[]> {
    const nodes = database.nodes();
    const tended = await Promise.allSettled(nodes.map((node) => work(node.database)));
    const failed = tended.filter((it) => it.status === 'rejected');
    if (failed.length === nodes.length) throw failed[0]!.reason;
    for (const { reason } of failed) couldNotTend(reason);
    return tended.flatMap((it) => (it.status === 'fulfilled' ? [it.value] : []));
  }

  function schedule(afterMs: number): void {
    timer = setTimeout(
      () => {
        tending = tend();
      },
      Math.min(afterMs, leaseMs / 6),
    );
  }

  await tend();
  const abandon = (): void => {
    ended = true;
    clearTimeout(timer);
  };
  return {
    current: () => lease,
    abandon,
    async end() {
      abandon();
      await tending;
      await database.query('DELETE FROM delivery_leases WHERE id = $1', [lease.id]);
    },
  };
}

async function leasesInHand(node: Database): Promise<string[]> {
  const rows = await node.prepared<{ id: string }>(
    'leases-in-hand',
    'SELECT DISTINCT leases_in_hand() AS id',
    [],
  );
  return rows.map(({ id }) => id);
}

async function freeInHand(node: Database, dead: readonly string[]): Promise<void> {
  await node.query('SELECT free_in_hand($1)', [dead]);
}

interface Instant {
  monotonic: number;
  wall: number;
}

/** The first advances while a process is frozen, the second even while the machine sleeps. */
const bothClocks = (): Instant => ({ monotonic: performance.now(), wall: Date.now() });

function makeLease(id: string, since: Instant, leaseMs: number) {
  let asked = since;
  return {
    id,
    renewed: (at: Instant) => {
      asked = at;
    },
    holds: () => {
      const { monotonic, wall } = bothClocks();
      return Math.max(monotonic - asked.monotonic, wall - asked.wall) < leaseMs * SURE;
    },
  };
}
