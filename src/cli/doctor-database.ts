// What `sandmartin doctor` says about the database: its version, the clocks, whether it takes
// writes, how long the queue is, and what is set aside.
import type { Config } from '../config/config.ts';
import { databaseFault, FAULT_DETAILS } from '../process/connection-fault.ts';
import { queueState } from '../queue/due.ts';
import { describeFullness, sizeOfQueue } from '../queue/limit.ts';
import { type ClusterNode, readCluster } from '../store/cluster.ts';
import type { Database } from '../store/pool.ts';
import { tryWriting } from '../store/readiness.ts';
import { readClockHistory } from '../store/steady-clock.ts';
import { withDatabase } from './command.ts';
import type { Finding } from './finding.ts';

export async function checkDatabase(config: Config): Promise<Finding[]> {
  try {
    return await withDatabase(async (database) => {
      const [row] = await database.query<{
        version: string;
        number: number;
        fsync: string;
        at: number;
      }>(
        `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
                current_setting('fsync') AS fsync, extract(epoch FROM clock_timestamp())::float8 AS at`,
      );
      const { version, number, fsync, at } = row!;
      return [
        {
          check: 'database',
          ok: number >= 150000 && fsync === 'on',
          detail:
            number < 150000
              ? `PostgreSQL ${version} is too old; 15 or newer is needed.`
              : fsync === 'on'
                ? `PostgreSQL ${version} answers, fsync is on.`
                : `PostgreSQL ${version} runs with fsync off: accepted email can be lost. Turn it on.`,
        },
        await checkClock(database, at * 1000),
        await checkStorage(database),
        await unlessAway('queue', () => checkQueue(database, config)),
        await unlessAway('quarantine', () => checkQuarantine(database)),
        ...(await checkNodes(database)),
      ];
    });
  } catch (error) {
    return [{ check: 'database', ok: false, detail: (error as Error).message }];
  }
}

/** What is spread over all nodes is not known while one of them is away; `nodes` says which. */
async function unlessAway(check: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    if (databaseFault(error) !== 'away') throw error;
    const detail = `Unknown, because not every server answers: ${(error as Error).message}`;
    return { check, ok: false, detail };
  }
}

/** The service uses the database's clock; this machine's should still agree with it. */
async function checkClock(database: Database, nowMs: number): Promise<Finding> {
  const check = 'clock';
  const skewMs = Math.round(Math.abs(Date.now() - nowMs));
  const history = await readClockHistory(database, nowMs);
  if (history !== undefined && history.jump !== null && !history.steady) {
    const [from, to, until] = [history.jump.from, history.jump.to, history.trustedFrom].map(
      (date) => date.toISOString(),
    );
    return {
      check,
      ok: false,
      detail: `The database's clock jumped from ${from} to ${to}, or nothing ran in between. Old data is not deleted before ${until}: if the clock is wrong, correct it by then.`,
    };
  }
  return {
    check,
    ok: skewMs < 2000,
    detail: `This machine and the database differ by ${skewMs} ms${skewMs < 2000 ? '' : '. Set the clocks with NTP'}.`,
  };
}

async function checkStorage(database: Database): Promise<Finding> {
  const check = 'storage';
  try {
    await tryWriting(database);
    return { check, ok: true, detail: 'The database accepts writes.' };
  } catch (error) {
    const fault = databaseFault(error);
    if (fault === undefined) throw error;
    return { check, ok: false, detail: `${FAULT_DETAILS[fault]} (${(error as Error).message})` };
  }
}

async function checkQueue(database: Database, { queueLimit }: Config): Promise<Finding> {
  const { all: size } = await sizeOfQueue(database);
  const fullness = describeFullness(size, queueLimit);
  return {
    check: 'queue',
    ok: fullness === undefined,
    detail: fullness
      ? `${fullness} New sends get 503.`
      : `${size.emails} emails are waiting for the relay; QUEUE_LIMIT is ${queueLimit.emails}.`,
  };
}

/** None if the database is on one server. */
async function checkNodes(database: Database): Promise<Finding[]> {
  const { distributed, nodes } = await readCluster(database);
  if (!distributed) return [];
  const spread = nodes.map(({ name, shards }) => `${name}: ${shards} shards`).join(', ');
  const away = nodes.filter((node) => !node.answers);
  const skew = describeSkew(nodes.filter((node) => node.answers));
  const detail = [
    `Account data is distributed (${spread}).`,
    ...away.map(({ name }) => `${name} is unreachable: its accounts get 503.`),
    ...skew,
  ].join(' ');
  const warning = skew.length > 0 && { warning: true as const };
  return [{ check: 'nodes', ok: away.length === 0, ...warning, detail }];
}

/** Moving shards helps before the disk of one node is full. */
function describeSkew(nodes: readonly ClusterNode[]): string[] {
  const bySize = [...nodes].sort((one, other) => one.bytes - other.bytes);
  const [least, most] = [bySize.at(0), bySize.at(-1)];
  if (least === undefined || most === undefined || most.bytes <= 2 * least.bytes) return [];
  return [
    `${most.name} has more than twice the data of ${least.name}: run "npx sandmartin database rebalance".`,
  ];
}

async function checkQuarantine(database: Database): Promise<Finding> {
  const { setAside } = await queueState(database);
  return {
    check: 'quarantine',
    ok: setAside === 0,
    detail:
      setAside === 0
        ? 'No email is set aside.'
        : `${setAside} ${setAside === 1 ? 'email is' : 'emails are'} set aside and not sent. "npx sandmartin quarantine list" shows why.`,
  };
}
