// The heartbeat: once a second PostgreSQL is asked for its time, on a separate connection. While no
// answer comes, all other statements fail at once instead of hanging; when one comes, they
// continue. Before it: main.ts; beside it: the pools.
//
// Its answers set the service's clock: the database's time, kept running by this machine's
// monotonic clock. So processes whose clocks differ agree on what is due, what has expired and
// which day's partition a message belongs to.
import type { Clock } from '../process/clock.ts';
import { databaseFault } from '../process/connection-fault.ts';
import type { Log } from '../process/log.ts';
import { createNap } from '../process/nap.ts';
import { databaseAway, isOutOfConnections, PATIENCE } from './connection.ts';
import { openDatabase } from './pool.ts';
import type { Servers } from './servers.ts';

const BEAT_EVERY_MS = 1000;
const ASK_AGAIN_AFTER_MS = 250;

export interface Heartbeat extends Clock {
  stop(): Promise<void>;
}

interface HeartbeatDeps {
  servers: Servers;
  log: Log;
}

/** The first beat is part of starting; it fails like connecting. */
export async function startHeartbeat(deps: HeartbeatDeps): Promise<Heartbeat> {
  const { beat, begin, close } = createHeartbeat(deps);
  try {
    await beat();
  } catch (error) {
    await close();
    throw error;
  }
  return begin();
}

/** The same for a node of a distributed database, which may be away when a process starts. */
export function watchNode(deps: HeartbeatDeps): Pick<Heartbeat, 'stop'> {
  return createHeartbeat(deps).begin();
}

function createHeartbeat({ servers, log }: HeartbeatDeps) {
  const database = openDatabase(servers, {
    connections: 1,
    onIdleError: () => undefined,
    patience: PATIENCE.heartbeat,
    evenInSilence: true,
  });
  const clock = createCarriedClock();
  const { rest, wake } = createNap();
  let stopping = false;

  async function beat(): Promise<void> {
    const askedAtMs = performance.now();
    const [row] = await database.prepared<{ nowMs: number; readOnly: boolean }>(
      'heartbeat',
      `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs",
              current_setting('transaction_read_only') = 'on' AS "readOnly"`,
      [],
    );
    clock.set(row!.nowMs, askedAtMs, performance.now());
    if (row!.readOnly && servers.count > 1) {
      const server = servers.current();
      servers.failed(server);
      throw databaseAway(`${server.name} does not accept writes`);
    }
    if (servers.silence() === undefined) return;
    servers.answers();
    log.info({ server: servers.current().name }, 'the database answers again');
  }

  function noAnswer(error: unknown): void {
    // An error from the server is an answer, too: it may be out of connections while ours still
    // work.
    if (databaseFault(error) !== 'away' || isOutOfConnections(error)) {
      log.warn({ err: error }, 'the heartbeat of the database failed');
      return;
    }
    const news = servers.silence() === undefined;
    const { message, code } = error as { message: string; code?: string };
    servers.silent(databaseAway(`The database does not answer: ${message || code}`));
    if (!news) return;
    const server = servers.current().name;
    log.error(
      { err: error, server },
      'the database does not answer; calls get 503 in the meantime',
    );
  }

  async function run(): Promise<void> {
    while (!stopping) {
      await rest(servers.silence() === undefined ? BEAT_EVERY_MS : ASK_AGAIN_AFTER_MS);
      if (!stopping) await beat().catch(noAnswer);
    }
  }

  function begin(): Heartbeat {
    const running = run();
    return {
      nowMs: clock.nowMs,
      async stop() {
        stopping = true;
        wake();
        await running;
        await database.close();
      },
    };
  }

  return { beat, begin, close: () => database.close() };
}

/**
 * Another clock's time, kept running by ours. The round trip makes it uncertain; it is moved no
 * further than necessary, so that a busy machine, where asking takes long, does not set it back:
 * ids would get out of order.
 */
function createCarriedClock() {
  let offsetMs = Number.NaN;
  return {
    nowMs: () => Math.floor(performance.now() + offsetMs),
    set(theirsMs: number, askedAtMs: number, answeredAtMs: number): void {
      const least = theirsMs - answeredAtMs;
      const most = theirsMs - askedAtMs;
      offsetMs = Number.isNaN(offsetMs)
        ? (least + most) / 2
        : Math.min(Math.max(offsetMs, least), most);
    },
  };
}
