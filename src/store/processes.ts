// Signs of life: each process reports its roles every few seconds, so that `doctor` and the
// dashboard know what is running. The times are the database's, whatever the clocks of the
// processes say.
import { hostname } from 'node:os';
import { bytesToUuid, newIdBytes } from '../ids.ts';
import type { Asked } from '../process/asked.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import { ROLES, type Role } from '../process/roles.ts';
import { VERSION } from '../process/version.ts';
import type { Database, Queryable } from './pool.ts';

const TELL_EVERY_MS = 3000;
const SEEN_LATELY_SECONDS = 15;
/** How long a role that no longer runs counts as missing. */
const REMEMBERED_DAYS = 7;

/** Reports at once, so that anyone who asks after the start sees it; then until it is closed. */
export async function startSignsOfLife(deps: {
  database: Database;
  log: Log;
  roles: ReadonlySet<Role>;
  /** The address at which people last opened the dashboard; null: nobody has. */
  openedAt: () => string | null;
  asked: Readonly<Asked>;
}): Promise<{ close(): Promise<void> }> {
  const { database, roles, openedAt, asked } = deps;
  const couldNotTell = recurringFault(
    deps.log,
    'warn',
    'could not record that this process is alive',
  );
  const id = bytesToUuid(newIdBytes(Date.now()));

  const tell = () =>
    database.query(
      `INSERT INTO processes (id, roles, host, pid, version, opened_at, asked)
       VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT (id) DO UPDATE
         SET seen_at = now(), opened_at = excluded.opened_at, asked = excluded.asked`,
      [id, [...roles], hostname(), process.pid, VERSION, openedAt(), JSON.stringify(asked)],
    );

  await tell();
  const telling = repeatedly(TELL_EVERY_MS, tell, couldNotTell);
  return {
    async close() {
      await telling.stop();
      await database
        .query('UPDATE processes SET seen_at = now(), stopped_at = now() WHERE id = $1', [id])
        .catch(() => undefined);
    },
  };
}

export interface RunningProcess {
  roles: Role[];
  host: string;
  pid: number;
  version: string;
  startedAt: string;
}

export interface RoleState {
  role: Role;
  /** How many processes with this role were seen recently. */
  running: number;
  /** The last one, if none is running; null: there was none in the last days. */
  last: { host: string; secondsAgo: number; stopped: boolean } | null;
  /** None is running, and one should be: others are, or the last one was killed. */
  missing: boolean;
}

export async function listProcesses(database: Queryable): Promise<RunningProcess[]> {
  const rows = await database.query<Omit<RunningProcess, 'startedAt'> & { startedAt: Date }>(
    `SELECT roles, host, pid, version, started_at AS "startedAt" FROM processes
     WHERE stopped_at IS NULL AND ${SEEN_LATELY} ORDER BY started_at, id`,
  );
  return rows.map((row) => ({ ...row, startedAt: row.startedAt.toISOString() }));
}

/** The address at which people recently opened the dashboard; null: nobody has. */
export async function whereOpened(database: Queryable): Promise<string | null> {
  const [row] = await database.query<{ opened_at: string }>(
    'SELECT opened_at FROM processes WHERE opened_at IS NOT NULL ORDER BY seen_at DESC LIMIT 1',
  );
  return row?.opened_at ?? null;
}

/** What requests said to the processes that are running; undefined: none takes requests. */
export async function whatWasAsked(database: Queryable): Promise<Asked | undefined> {
  const rows = await database.query<{ asked: Asked }>(
    `SELECT asked FROM processes
     WHERE stopped_at IS NULL AND ${SEEN_LATELY} AND 'api' = ANY (roles) AND asked IS NOT NULL
     ORDER BY seen_at`,
  );
  if (rows.length === 0) return undefined;
  const own = rows.some(({ asked }) => asked.own);
  return Object.assign({}, ...rows.map(({ asked }) => asked), { own });
}

const SEEN_LATELY = `seen_at > now() - interval '${SEEN_LATELY_SECONDS} seconds'`;

/**
 * The state of each role. Before the first start, and after all stopped cleanly, none is missing.
 */
export async function readRoles(database: Queryable): Promise<RoleState[]> {
  const rows = await database.query<{
    role: Role;
    running: number;
    host: string;
    secondsAgo: number;
    stopped: boolean;
  }>(
    `SELECT DISTINCT ON (role) role, host, stopped_at IS NOT NULL AS stopped,
            extract(epoch FROM now() - seen_at)::float8 AS "secondsAgo",
            count(*) FILTER (WHERE stopped_at IS NULL AND ${SEEN_LATELY}) OVER (PARTITION BY role)::int AS running
     FROM processes, unnest(roles) AS role ORDER BY role, seen_at DESC`,
  );
  const [{ hooked } = { hooked: false }] = await database.query<{ hooked: boolean }>(
    'SELECT EXISTS (SELECT 1 FROM webhook_endpoints WHERE disabled_at IS NULL) AS hooked',
  );
  const anyRuns = rows.some((row) => row.running > 0);
  return ROLES.map((role): RoleState => {
    const row = rows.find((one) => one.role === role);
    const running = row?.running ?? 0;
    const wanted = row !== undefined || role === 'delivery' || (role === 'webhooks' && hooked);
    const killed = row !== undefined && !row.stopped;
    return {
      role,
      running,
      last:
        row === undefined || running > 0
          ? null
          : { host: row.host, secondsAgo: row.secondsAgo, stopped: row.stopped },
      missing: running === 0 && wanted && (anyRuns || killed),
    };
  });
}

/** The state of a role in one sentence. */
export function describeRole({ role, running, last, missing }: RoleState): string {
  if (running > 0)
    return running === 1 ? 'One process is running.' : `${running} processes are running.`;
  const when =
    last === null
      ? 'Never seen'
      : `${last.stopped ? 'Stopped' : 'Last seen'} ${ago(last.secondsAgo)} ago on host ${last.host}`;
  if (!missing) return last === null ? 'Has not run yet.' : `${when}, like the whole service.`;
  return `${when}: no process with the role ${role} is running; ${WITHOUT[role]}. Start one with ROLES=${role}.`;
}

function ago(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600
    ? `${Math.round(seconds / 3600)} h`
    : `${Math.round(seconds / 86_400)} days`;
}

/** What stops without the role. */
const WITHOUT: Record<Role, string> = {
  api: 'nothing can be sent or read',
  delivery: 'accepted email waits',
  webhooks: 'events wait',
  feedback: 'bounces and complaints do not come back',
};

/** Processes not seen for days no longer count as missing. Called by maintenance. */
export async function pruneProcesses(database: Queryable): Promise<void> {
  await database.query(
    `DELETE FROM processes WHERE seen_at < now() - interval '${REMEMBERED_DAYS} days'`,
  );
}
