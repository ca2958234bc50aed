// The simulator's player: works through the steps still to be played for captured emails. A step
// that fails is retried later, and what has begun survives a restart, because the steps are in the
// database (sandbox_acts) from the moment the email is captured. It runs where reports are read:
// that listener is the only one whose address is known for certain.

import { freeBytes } from '../bytes/free-bytes.ts';
import { bytesToUuid, newIdBytes } from '../ids.ts';
import { createGroupCommit } from '../process/group-commit.ts';
import type { Log } from '../process/log.ts';
import { createNap } from '../process/nap.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { createRelay, type Relay } from '../smtp/relay.ts';
import { type LargeValue, readInPieces } from '../store/pieces.ts';
import type { Database } from '../store/pool.ts';
import { composeComplaint } from './arf.ts';
import { composeDsn, type DsnRecipient } from './dsn.ts';
import { HUMAN_AGENT, MACHINE_AGENT, visit } from './reader.ts';
import { type Act, SCRIPTS } from './scripts.ts';

export const SANDBOX_HOST = 'sandbox.localhost';

const POLL_EVERY_MS = 200;
/** While this process knows of no step to come: those of other processes can be due. */
const POLL_AT_LEAST_EVERY_MS = 1000;
/** If a process dies in the middle of a step, others take it over after this. */
const LEASE_MS = 30_000;
const MOST_IN_HAND = 100;
/** With the growing waits between them, about an hour. */
const MOST_ATTEMPTS = 70;

export interface PlayerDeps {
  database: Database;
  log: Log;
  /** Where reports go. */
  feedback: { host: string; port: number };
  bounceDomain: string;
  trackingUrl: () => string;
}

/** A captured email, as far as scripts need it. */
export interface PlayedEmail {
  from: string;
  envelopeId: string | null;
  /** All of it, or the beginning with its header. */
  raw: Buffer;
  /** Set if `raw` is not all. */
  readAll?: () => Promise<Buffer | undefined>;
}

/** How much of an email is in memory: twenty steps of 25 MB emails may be due together. */
const MOST_AT_HAND = 256 * 1024;

/** The row of a captured email; `raw` is at least the beginning. */
export interface StoredCapture extends Omit<PlayedEmail, 'readAll'> {
  accountId: number;
  uuid: string;
  size: number;
}

export function toPlay(database: Database, stored: StoredCapture): PlayedEmail {
  const { from, envelopeId, raw, accountId, uuid, size } = stored;
  if (size <= MOST_AT_HAND) return { from, envelopeId, raw };
  const value: LargeValue = { ...RAW, accountId, uuid };
  return {
    ...{ from, envelopeId },
    raw: Buffer.from(raw.subarray(0, MOST_AT_HAND)),
    readAll: () => readInPieces(database, value, { at: 0, length: size }),
  };
}

const RAW = { table: 'sandbox_mails', column: 'raw', key: 'id' } as const;

/** A script with the recipients it is played for. */
export interface Part {
  id: string;
  script: string;
  recipients: string[];
  dueInMs: number;
}

/** The parts to store with an email, and a function to begin playing once it is on disk. */
export interface Plan {
  parts: Part[];
  begin: (email: PlayedEmail) => void;
}

export interface Player {
  plan(scripts: ReadonlyMap<string, string[]>): Plan;
  stop(): Promise<void>;
}

/** For the players of other processes, which look for what is due. */
export const planForOthers = (scripts: ReadonlyMap<string, string[]>): Plan => ({
  parts: partsOf(scripts, 0),
  begin: () => {},
});

function partsOf(scripts: ReadonlyMap<string, string[]>, dueInMs: number): Part[] {
  return [...scripts].map(([script, recipients]) => ({
    ...{ id: bytesToUuid(newIdBytes(Date.now())), script, recipients, dueInMs },
  }));
}

interface Row {
  id: string;
  script: string;
  step: number;
  recipients: string[];
  attempts: number;
  email: PlayedEmail;
}

interface Played {
  row: Row;
  /** Null: the last step is done, or the script is given up. */
  next: { step: number; afterMs: number; attempts: number } | null;
}

export function startPlayer(deps: PlayerDeps): Player {
  const { database, log, feedback } = deps;
  const { host, port } = feedback;
  const back = createRelay({
    url: `smtp://${host.includes(':') ? `[${host}]` : host}:${port}?tls=off`,
    name: SANDBOX_HOST,
    maxConnections: 4,
  });
  const couldNotNote = recurringFault(log, 'error', 'the sandbox could not record a step');
  const couldNotLook = recurringFault(log, 'warn', 'the sandbox could not look for steps');
  const inHand = new Set<Promise<void>>();
  let stopping = false;
  /** An earlier process may have left some. */
  let stepsUntilMs = performance.now() + POLL_AT_LEAST_EVERY_MS;
  const { rest, wake } = createNap();
  const played = createGroupCommit<Played, void>({
    mostItems: 200,
    mostInFlight: 1,
    write: async (items) => {
      await notePlayed(database, items);
      return items.map(() => undefined);
    },
  });

  function start(row: Row): void {
    const work = playStep({ ...deps, back }, row)
      .then(async (next) => {
        await played.add({ row, next });
        if (next !== null) expectStep(next.afterMs);
      })
      // Nothing is lost: the lease expires and the step is played again.
      .catch(couldNotNote)
      .finally(() => inHand.delete(work));
    inHand.add(work);
  }

  function expectStep(afterMs: number): void {
    const nowMs = performance.now();
    if (stepsUntilMs < nowMs) wake();
    stepsUntilMs = Math.max(stepsUntilMs, nowMs + afterMs + POLL_AT_LEAST_EVERY_MS);
  }

  async function run(): Promise<void> {
    while (!stopping) {
      await rest(performance.now() < stepsUntilMs ? POLL_EVERY_MS : POLL_AT_LEAST_EVERY_MS);
      if (!stopping) await poll().catch(couldNotLook);
    }
  }
  async function poll(): Promise<void> {
    const room = MOST_IN_HAND - inHand.size;
    if (room <= 0) return;
    const rows = await claim(database, room);
    if (rows.length > 0) expectStep(0);
    for (const row of rows) start(row);
  }
  const running = run();

  return {
    plan(scripts) {
      // The first step is played at once from memory; if too many are in progress, the next poll
      // takes it.
      if (stopping || inHand.size >= MOST_IN_HAND) {
        expectStep(0);
        return planForOthers(scripts);
      }
      const parts = partsOf(scripts, LEASE_MS);
      return {
        parts,
        begin(email) {
          for (const { id, script, recipients } of parts) {
            start({ id, script, recipients, step: 0, attempts: 1, email });
          }
        },
      };
    },
    async stop() {
      stopping = true;
      wake();
      await running;
      await Promise.all(inHand);
      await back.close(1000);
    },
  };
}

interface Playing extends PlayerDeps {
  back: Pick<Relay, 'hand'>;
}

/** Plays one step; returns what comes after it. */
async function playStep(deps: Playing, row: Row): Promise<Played['next']> {
  const { steps } = SCRIPTS[row.script] ?? { steps: [] };
  const step = steps[row.step];
  if (step === undefined) return null;
  try {
    for (const report of reportsOf(deps, step.act, row)) await send(deps, report);
    await read(deps, step.act, row.email);
  } catch (error) {
    if (row.attempts >= MOST_ATTEMPTS || error instanceof Refused) {
      deps.log.error({ err: error, act: step.act }, 'the sandbox gave up on a step');
      return null;
    }
    deps.log.warn({ err: error, act: step.act }, 'the sandbox will retry a step later');
    const afterMs = Math.min(250 * 2 ** row.attempts, 60_000);
    return { step: row.step, afterMs, attempts: row.attempts };
  }
  const following = steps[row.step + 1];
  return following ? { step: row.step + 1, afterMs: following.afterMs, attempts: 0 } : null;
}

interface OwnReport {
  to: string;
  email: Buffer;
}

const SAID: Partial<Record<Act, Pick<DsnRecipient, 'action' | 'status' | 'diagnostic'>>> = {
  'report-delivered': {
    action: 'delivered',
    status: '2.0.0',
    diagnostic: '250 2.0.0 OK: captured by the sandbox',
  },
  'report-unknown-user': {
    action: 'failed',
    status: '5.1.1',
    diagnostic: '550 5.1.1 User unknown',
  },
  // As after days in a queue: a mailbox that was full for that long does not count against the
  // address.
  'report-full-mailbox': {
    action: 'failed',
    status: '4.2.2',
    diagnostic: '452 4.2.2 The mailbox is over quota',
  },
  'report-delay': {
    action: 'delayed',
    status: '4.4.1',
    diagnostic: '451 4.4.1 The host does not answer, will be tried again',
  },
};

function reportsOf(deps: PlayerDeps, act: Act, { email, recipients }: Row): OwnReport[] {
  const common = { original: email.raw, returnPath: email.from, date: new Date() };
  const said = SAID[act];
  if (said !== undefined) {
    const dsn = composeDsn({
      ...common,
      reportingMta: SANDBOX_HOST,
      envelopeId: email.envelopeId,
      recipients: recipients.map((address) => ({
        ...said,
        address,
        remoteMta: `mx.${address.slice(address.lastIndexOf('@') + 1)}`,
      })),
    });
    return [{ to: email.from, email: dsn }];
  }
  if (act !== 'complain') return [];
  const to = `complaints@${deps.bounceDomain}`;
  return recipients.map((complainer) => ({
    to,
    email: composeComplaint({ ...common, reportingHost: SANDBOX_HOST, to, complainer }),
  }));
}

/** The listener refuses it and always will. */
class Refused extends Error {}

async function send({ back }: Playing, { to, email }: OwnReport): Promise<void> {
  const envelope = { from: '', recipients: [to], envelopeId: '', smtputf8: false };
  const [outcome] = (await back.hand(envelope, [email])).recipients;
  if (outcome?.result === 'refused') throw new Refused(outcome.text);
  if (outcome?.result !== 'accepted') throw new Error(outcome?.text ?? 'no outcome');
}

async function read(deps: PlayerDeps, act: Act, email: PlayedEmail): Promise<void> {
  if (act !== 'open' && act !== 'open-by-machine' && act !== 'click') return;
  const agent = act === 'open-by-machine' ? MACHINE_AGENT : HUMAN_AGENT;
  const what = act === 'click' ? 'click' : 'open';
  const raw = email.readAll === undefined ? email.raw : await email.readAll();
  const found = raw !== undefined && (await visit(raw, deps.trackingUrl(), what, agent));
  if (raw !== email.raw) freeBytes(raw);
  if (!found)
    deps.log.info(
      { act, message: email.envelopeId ?? undefined },
      'the email has no pixel and no link to visit',
    );
}

async function claim(database: Database, limit: number): Promise<Row[]> {
  const rows = await database.prepared<ClaimedRow>(
    'sandbox-claim',
    `WITH due AS (
       UPDATE sandbox_acts a SET due_at = now() + $1 * interval '1 millisecond', attempts = a.attempts + 1
       FROM (SELECT id FROM sandbox_acts WHERE due_at <= now() ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED) d
       WHERE a.id = d.id RETURNING a.id, a.mail_id, a.script, a.step, a.recipients, a.attempts)
     SELECT due.id, due.script, due.step, due.recipients, due.attempts,
            m.envelope_from AS "from", m.envelope_id AS "envelopeId",
            m.account_id AS "accountId", m.id AS uuid, octet_length(m.raw) AS size,
            substring(m.raw FROM 1 FOR ${MOST_AT_HAND}) AS raw
     FROM due JOIN sandbox_mails m ON m.id = due.mail_id`,
    [LEASE_MS, limit],
  );
  return rows.map(({ id, script, step, recipients, attempts, ...email }) => ({
    ...{ id, script, step, recipients, attempts },
    email: toPlay(database, email),
  }));
}

type ClaimedRow = Omit<Row, 'email'> & StoredCapture;

async function notePlayed(database: Database, played: readonly Played[]): Promise<void> {
  const over = played.filter((it) => it.next === null);
  const going = played.filter((it) => it.next !== null);
  await database.prepared(
    'sandbox-played',
    `WITH over AS (DELETE FROM sandbox_acts WHERE id = ANY ($1::uuid[]))
     UPDATE sandbox_acts a SET step = n.step, attempts = n.attempts, due_at = now() + n.ms * interval '1 millisecond'
     FROM unnest($2::uuid[], $3::int[], $4::int[], $5::float8[]) AS n (id, step, attempts, ms) WHERE a.id = n.id`,
    [
      over.map(({ row }) => row.id),
      going.map(({ row }) => row.id),
      going.map(({ next }) => next!.step),
      going.map(({ next }) => next!.attempts),
      going.map(({ next }) => next!.afterMs),
    ],
  );
}
