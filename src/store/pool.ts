// The database as everything above sees it: plain SQL over a pool of connections, and transactions.
// Before it: servers.ts and connection.ts; beside it: heartbeat.ts, which says when the server
// stops answering.
import pg from 'pg';
import { isConnectionFault } from '../process/connection-fault.ts';
import {
  BEATS,
  type Connection,
  connectionClass,
  PATIENCE,
  type Patience,
  type Plans,
  type Statement,
} from './connection.ts';
import { openServers, type Servers } from './servers.ts';

export interface Database {
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** The same, parsed once per connection: for statements of the hot paths. */
  prepared<Row = Record<string, unknown>>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]>;
  /**
   * The same for a statement that does nothing but call one of our functions, which returns the
   * types in binary-rows.ts. Its plan is kept: planning it again each time copied all its values,
   * a tenth of what accepting a batch cost the server.
   */
  call<Row = Record<string, unknown>>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]>;
  /**
   * Reads the only value of the only row that the statement selects into `whole`, which has its
   * size, as it arrives. False: there is none.
   */
  readValue(select: string, whole: Buffer): Promise<boolean>;
  /**
   * `work` may run twice (partitions.ts starts it again), and so may its effects outside the
   * database.
   */
  transaction<Result>(work: (client: Queryable) => Promise<Result>): Promise<Result>;
  /**
   * What a statement about several accounts gets as its list of accounts: their numbers, all of one
   * shard, if the tables are distributed; otherwise null, which stands for all.
   */
  home(accounts: readonly number[]): readonly number[] | null;
  /** Accounts of one shard may be in one statement; if nothing is distributed, all may. */
  shardOf(accountId: number): number;
  /** The server that has the account's rows, which answers fastest about it. */
  near(accountId: number): Database;
  /** The servers that have accounts' rows. */
  nodes(): readonly Node[];
  close(): Promise<void>;
}

export interface Node {
  /** For people. */
  name: string;
  database: Database;
}

/** The same transaction for code that opens its own: that becomes a savepoint of this one. */
export const joined = (client: Queryable): Database => ({
  ...client,
  ...oneServer(() => joined(client)),
  home: client.home,
  async transaction(work) {
    await client.query('SAVEPOINT joined');
    try {
      const result = await work(client);
      await client.query('RELEASE SAVEPOINT joined');
      return result;
    } catch (error) {
      await client.query('ROLLBACK TO SAVEPOINT joined');
      throw error;
    }
  },
  close: () => Promise.reject(new Error('a transaction is closed by who opened it')),
});

/** What a function that joins a caller's transaction needs. */
export type Queryable = Pick<Database, 'query' | 'prepared' | 'call' | 'readValue' | 'home'>;

/** A database that is not distributed. */
const oneServer = (
  itself: () => Database,
): Pick<Database, 'home' | 'shardOf' | 'near' | 'nodes'> => ({
  home: () => null,
  shardOf: () => 0,
  near: itself,
  nodes: () => [{ name: 'database', database: itself() }],
});

export interface PoolOptions {
  connections: number;
  /** A connection that broke while idle; the pool replaces it. */
  onIdleError: (error: Error) => void;
  /** By default, no limits. */
  patience?: Patience;
  /** For the heartbeat: asks even while the server is silent. */
  evenInSilence?: boolean;
}

/** Of its connections: calls are short, and come in batches. */
const CALLS_PART = 1 / 3;

type Lent = Connection & Pick<pg.PoolClient, 'release'>;

export function openDatabase(from: string | Servers, options: PoolOptions): Database {
  const servers = typeof from === 'string' ? openServers(from) : from;
  const { patience = PATIENCE.upkeep, evenInSilence = false } = options;
  const open = new Set<Connection>();
  let closing = false;
  function openPool(plans: Plans, max: number): pg.Pool {
    const pool = new pg.Pool({
      Client: connectionClass({ servers, patience, plans, evenInSilence, open }),
      max,
      connectionTimeoutMillis: patience.waitMs,
    });
    pool.on('error', (error) => {
      if (!closing) options.onIdleError(error);
    });
    return pool;
  }
  // Whether plans are kept is a setting of the connection.
  const forCalls = Math.floor(options.connections * CALLS_PART);
  const pool = openPool('made for the values', options.connections - forCalls);
  const calls = forCalls === 0 ? pool : openPool('kept', forCalls);

  const forgetSilence = evenInSilence
    ? () => undefined
    : servers.onSilence((reason) => {
        for (const connection of open) connection.giveUp(reason);
      });
  const beats = Number.isFinite(patience.answerMs)
    ? setInterval(() => {
        for (const connection of open) connection.beat(endAtServer);
      }, patience.answerMs / BEATS).unref()
    : undefined;

  /** A connection to the server that accepts writes; each of several is tried once. */
  async function borrow(from: pg.Pool): Promise<Lent> {
    for (let left = servers.count; ; left--) {
      const silence = evenInSilence ? undefined : servers.silence();
      if (silence !== undefined) throw silence;
      try {
        return await borrowHere(from);
      } catch (error) {
        if (left <= 1 || !isConnectionFault(error)) throw error;
      }
    }
  }

  async function borrowHere(from: pg.Pool): Promise<Lent> {
    for (;;) {
      const lent = (await from.connect()) as unknown as Lent;
      if (lent.isStale()) {
        lent.release(true);
        continue;
      }
      try {
        await lent.begin();
        return lent;
      } catch (error) {
        lent.release(true);
        throw error;
      }
    }
  }

  const onceOf =
    (from: pg.Pool): Over =>
    async (ask) => {
      const lent = await borrow(from);
      let broken: unknown;
      try {
        return await ask(lent);
      } catch (error) {
        broken = error;
        throw error;
      } finally {
        lent.release(lent.isStale() || isConnectionFault(broken));
      }
    };

  /**
   * A backend that waits for a standby, for example, would keep its place at the server forever
   * while the next connection takes another.
   */
  function endAtServer(serverPid: number): void {
    database.query('SELECT pg_terminate_backend($1)', [serverPid]).catch(() => undefined);
  }

  async function inTransaction<Result>(
    work: (client: Queryable) => Promise<Result>,
  ): Promise<Result> {
    const lent = await borrow(pool);
    let broken = false;
    try {
      await lent.ask({ text: 'BEGIN' });
      const result = await work(queries((ask) => ask(lent)));
      await lent.ask({ text: 'COMMIT' });
      return result;
    } catch (error) {
      broken = isConnectionFault(error);
      if (!broken) {
        await lent.ask({ text: 'ROLLBACK' }).catch(() => {
          broken = true;
        });
      }
      throw error;
    } finally {
      lent.release(broken || lent.isStale());
    }
  }

  const database: Database = {
    ...queries(onceOf(pool), onceOf(calls)),
    ...oneServer(() => database),
    transaction: inTransaction,
    async close() {
      closing = true;
      forgetSilence();
      await Promise.all([...new Set([pool, calls])].map((it) => it.end()));
      clearInterval(beats);
    },
  };
  return database;
}

/** Over a connection that is lent for this statement, or for a whole transaction. */
type Over = <Result>(ask: (lent: Connection) => Promise<Result>) => Promise<Result>;

function queries(over: Over, overCalls: Over = over): Queryable {
  const rowsOf = <Row>(via: Over, statement: Statement): Promise<Row[]> =>
    via(async (lent) => (await lent.ask(statement)).rows as Row[]);
  return {
    query: (text, values) => rowsOf(over, { text, ...(values === undefined ? {} : { values }) }),
    prepared: (name, text, values) => rowsOf(over, { name, text, values }),
    call: (name, text, values) => rowsOf(overCalls, { name, text, values, binary: true }),
    readValue: (select, whole) => over((lent) => lent.readValue(select, whole)),
    home: () => null,
  };
}
