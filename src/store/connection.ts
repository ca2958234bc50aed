// One connection to PostgreSQL: to which server, with which settings, and how long a statement may
// go unanswered. Before it: servers.ts says which server. After it: pool.ts lends connections out.
import type { Socket } from 'node:net';
import pg from 'pg';
import { freeBytes } from '../bytes/free-bytes.ts';
import { readMessages, types } from './binary-rows.ts';
import { type Bind, bindMessage } from './bind.ts';
import { type CopyOut, copyOut, readValue } from './copy-out.ts';
import type { Server, Servers } from './servers.ts';

/**
 * How long things may take. The server ends its own slow statements and lock waits; `answerMs` is
 * for a server that says nothing at all: one that is frozen, or whose packets are lost.
 */
export interface Patience {
  connectMs: number;
  /** For a free connection, when all are lent out. */
  waitMs: number;
  statementMs: number;
  lockMs: number;
  answerMs: number;
}

/**
 * Silence is counted in beats of this process, so that time in which it was frozen, alone or with
 * the whole machine, counts as one beat: a server that was frozen with it must not be taken for
 * dead.
 */
export const BEATS = 10;

/** PostgreSQL reads zero as "no limit". */
const NO_LIMIT = 0;

/**
 * By who asks. When the heartbeat stops, all of them are abandoned at once: these limits are for a
 * single statement that hangs.
 */
export const PATIENCE = {
  /** A caller is waiting at a door. */
  calls: { connectMs: 5000, waitMs: 10_000, statementMs: 8000, lockMs: 5000, answerMs: 10_000 },
  /** Workers: delivery, webhooks, feedback. */
  work: {
    connectMs: 5000,
    waitMs: 30_000,
    statementMs: 30_000,
    lockMs: 15_000,
    answerMs: 35_000,
  },
  /** Migrations, indexes and commands take as long as they need. */
  upkeep: {
    connectMs: 10_000,
    waitMs: 60_000,
    statementMs: NO_LIMIT,
    lockMs: NO_LIMIT,
    answerMs: Number.POSITIVE_INFINITY,
  },
  heartbeat: { connectMs: 2500, waitMs: 10_000, statementMs: 2000, lockMs: 2000, answerMs: 2500 },
} satisfies Record<string, Patience>;

type ConnectCallback = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/** `binary`: the format of its rows (binary-rows.ts). */
export interface Statement extends pg.QueryConfig<unknown[]> {
  binary?: boolean;
}

/** A connection that pool.ts lends out and watches. */
export interface Connection extends pg.Client {
  begin(): Promise<void>;
  ask<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>>;
  /** See pool.ts. */
  readValue(select: string, whole: Buffer): Promise<boolean>;
  /** Newer connections go to another server, or this one has been silent. */
  isStale(): boolean;
  /**
   * Called on every beat. If an answer is overdue, the connection is abandoned, and `ended` is
   * called with its process id at the server.
   */
  beat(ended: (serverPid: number) => void): void;
  /** Without a goodbye, which would never be read. Statements under way fail with the reason. */
  giveUp(reason: Error): void;
}

/** What the server does with the plan of a prepared statement. */
export type Plans = 'made for the values' | 'kept';

export interface ConnectionPlan {
  servers: Servers;
  patience: Patience;
  plans: Plans;
  /** For the heartbeat: asks even while the server is silent. */
  evenInSilence: boolean;
  /** All open connections, for the beats. */
  open: Set<Connection>;
}

/** The client class that a pool creates its connections from. */
export const connectionClass = (plan: ConnectionPlan): (new () => Connection) =>
  class extends ServerConnection {
    constructor() {
      super(plan);
    }
  };

/** The part of pg's connection that we change. */
interface Wire {
  attachListeners: (stream: Socket) => void;
  bind: (given: Bind) => void;
  emit: (name: string, message: unknown) => void;
  _send: (bytes: Buffer) => boolean;
  stream: Socket;
}

class ServerConnection extends pg.Client implements Connection {
  readonly #plan: ConnectionPlan;
  readonly #server: Server;
  readonly #generation: number;
  /** Known once the session is set up. */
  #serverPid: number | undefined;
  /** What was written for the statement under way, without bytes that belong to its caller. */
  #bound: Buffer | undefined;
  #unanswered = 0;
  /** Since the server last said anything. */
  #silentBeats = 0;

  constructor(plan: ConnectionPlan) {
    const server = plan.servers.current();
    super({
      connectionString: server.url,
      connectionTimeoutMillis: plan.patience.connectMs,
      application_name: 'sandmartin',
      keepAlive: true,
      types,
    });
    this.#plan = plan;
    this.#server = server;
    this.#generation = plan.servers.generation();
    const wire = (this as unknown as { connection: Wire }).connection;
    wire.attachListeners = (stream) =>
      readMessages(stream, (message) => {
        wire.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
      });
    wire.bind = (given) => {
      const message = bindMessage(given);
      for (const piece of message) wire._send(piece);
      this.#bound = message[0];
    };
    // If a connection breaks between two statements of a transaction, only its listeners learn of
    // it; the next statement fails.
    this.on('error', () => undefined);
  }

  override connect(): Promise<pg.Client>;
  override connect(told: ConnectCallback): void;
  /** The pool calls this with a callback. */
  override connect(told: ConnectCallback = () => undefined): Promise<pg.Client> | undefined {
    const tell = told as (error: Error | null) => void;
    const silence = this.#plan.evenInSilence ? undefined : this.#plan.servers.silence();
    if (silence !== undefined) {
      process.nextTick(() => tell(silence));
      return;
    }
    this.#plan.open.add(this);
    this.once('end', () => this.#plan.open.delete(this));
    super.connect((error: Error | null) => {
      if (error && !isOutOfConnections(error)) this.#plan.servers.failed(this.#server);
      tell(error);
    });
  }

  isStale(): boolean {
    return this.#generation !== this.#plan.servers.generation();
  }

  /**
   * Settings by statement, not by start-up options: those are lost behind a pooler, or if the URL
   * has its own.
   */
  async begin(): Promise<void> {
    if (this.#serverPid !== undefined) return;
    const { statementMs, lockMs } = this.#plan.patience;
    const settings = {
      ...SETTINGS,
      ...{ plan_cache_mode: PLAN_MODES[this.#plan.plans] },
      ...{ statement_timeout: statementMs, lock_timeout: lockMs },
    };
    const calls = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    );
    const result = await this.ask<{ pid: number; readOnly: boolean }>({
      text: `SELECT ${calls.join(', ')}, pg_backend_pid() AS pid,
                    current_setting('transaction_read_only') = 'on' AS "readOnly"`,
    });
    const { pid, readOnly } = result.rows[0]!;
    // A single server is used anyway: reads still work.
    if (readOnly && this.#plan.servers.count > 1) {
      this.#plan.servers.failed(this.#server);
      throw databaseAway(`${this.#server.name} does not accept writes`);
    }
    this.#serverPid = pid;
  }

  ask<Row extends pg.QueryResultRow>(statement: Statement): Promise<pg.QueryResult<Row>> {
    return this.#awaited(async () => {
      const answer = await this.query<Row, unknown[]>(statement);
      // The server has read all of it.
      freeBytes(this.#bound);
      this.#bound = undefined;
      return answer;
    });
  }

  readValue(select: string, whole: Buffer): Promise<boolean> {
    return this.#awaited(async () => {
      const found = await readValue(this.#heard(this.query(copyOut(select))), whole);
      // The last bytes of the value may arrive before the server says that it is complete.
      if (!(this as unknown as { readyForQuery: boolean }).readyForQuery) {
        await new Promise<void>((resolve) => {
          const done = () => resolve(void this.off('drain', done).off('end', done));
          this.on('drain', done).on('end', done);
        });
      }
      return found;
    });
  }

  async *#heard(copied: CopyOut): AsyncGenerator<Buffer> {
    for await (const chunk of copied as AsyncIterable<Buffer>) {
      this.#silentBeats = 0;
      yield chunk;
    }
  }

  async #awaited<Answer>(asked: () => Promise<Answer>): Promise<Answer> {
    this.#unanswered++;
    this.#silentBeats = 0;
    try {
      return await asked();
    } catch (error) {
      // It was the primary and no longer is.
      if ((error as { code?: unknown }).code === '25006') this.#plan.servers.failed(this.#server);
      throw error;
    } finally {
      this.#unanswered--;
      this.#silentBeats = 0;
    }
  }

  beat(ended: (serverPid: number) => void): void {
    if (this.#unanswered === 0 || ++this.#silentBeats < BEATS) return;
    // Input that has already arrived is read first.
    setImmediate(() => {
      if (this.#silentBeats < BEATS) return;
      const seconds = Math.round(this.#plan.patience.answerMs / 1000);
      this.giveUp(databaseAway(`${this.#server.name} did not answer for ${seconds} s`));
      if (this.#serverPid !== undefined) ended(this.#serverPid);
    });
  }

  giveUp(reason: Error): void {
    (this as unknown as { connection: Wire }).connection.stream.destroy(reason);
  }
}

/**
 * What we answer with 202 must be on disk, whatever the server's default is.
 *
 * No JIT: where it is on, as in Debian's servers, a plan that looks expensive is compiled: 551 ms
 * for what takes 0.04 ms.
 */
const SETTINGS = {
  synchronous_commit: 'on',
  timezone: 'UTC',
  jit: 'off',
  // For a process that is frozen inside a transaction: nobody else should wait for its locks.
  idle_in_transaction_session_timeout: 60_000,
};

/**
 * A kept plan is often made while the queue is empty, and stays after the queue has grown. Claiming
 * 128 of 50,000 due rows with such a plan took 28 s instead of 12 ms. The call of a function has
 * one plan only; those of the statements in it are the function's affair.
 */
const PLAN_MODES: Record<Plans, string> = {
  'made for the values': 'force_custom_plan',
  kept: 'force_generic_plan',
};

/** The server answers, and the connections we have still work. */
export const isOutOfConnections = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '53300';

/**
 * An error that every caller recognises (connection-fault.ts): SQLSTATE 08006, connection failure.
 */
export const databaseAway = (text: string): Error =>
  Object.assign(new Error(text), { code: '08006' });
