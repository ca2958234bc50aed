// The connection to PostgreSQL: a pool with our types, and transactions. Everything above speaks plain SQL through it.
import pg from 'pg';

export interface Database {
  query<Row = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** The same, parsed and planned once per connection: for statements of the hot paths. */
  prepared<Row = Record<string, unknown>>(
    name: string,
    text: string,
    values: unknown[],
  ): Promise<Row[]>;
  transaction<Result>(work: (client: Queryable) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The same transaction for code that opens one of its own: that becomes a savepoint of this one. */
export const joined = (client: Queryable): Database => ({
  ...client,
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

/** What a function that joins somebody's transaction needs. */
export type Queryable = Pick<Database, 'query' | 'prepared'>;

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);

export interface PoolOptions {
  connections: number;
  /** A connection that broke while idle; the pool replaces it by itself. */
  onIdleError: (error: Error) => void;
}

export function openDatabase(url: string, options: PoolOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.connections,
    types,
    application_name: 'sandmartin',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // What we answer with 202 must be on disk, whatever the server's default is. A plan is kept for long and often made while
    // the day's tables are empty, so none may count on a table being small. Wide reads lose nothing: rows lie in key order.
    options: '-c synchronous_commit=on -c timezone=UTC -c enable_seqscan=off',
  });
  // Broken between two statements of a transaction, a connection tells nobody but its listeners; the next statement fails.
  pool.on('connect', (client) => client.on('error', () => undefined));
  let closing = false;
  pool.on('error', (error) => {
    if (!closing) options.onIdleError(error);
  });
  return {
    ...queries(pool),
    transaction: (work) => inTransaction(pool, work),
    close: () => {
      closing = true;
      return pool.end();
    },
  };
}

function queries(on: pg.Pool | pg.PoolClient): Queryable {
  return {
    async query<Row>(text: string, values?: unknown[]) {
      return (await on.query(text, values)).rows as Row[];
    },
    async prepared<Row>(name: string, text: string, values: unknown[]) {
      return (await on.query({ name, text, values })).rows as Row[];
    },
  };
}

async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: Queryable) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(queries(client));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}
