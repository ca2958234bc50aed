// An account with as many messages as a benchmark wants, a fifth of them of yesterday and the rest
// of today. They are copied in over as many connections as there are cores, a stretch of the day
// after the other, and indexed in between as maintenance does it.
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { bytesToUuid, newIdBytes } from '../../src/ids.ts';
import { indexFinishedDays, indexGrowingDay } from '../../src/messages/search-index.ts';
import { createLog } from '../../src/process/log.ts';
import { makePartitions } from '../../src/store/partitions.ts';
import type { Database } from '../../src/store/pool.ts';

export const DAY_MS = 86_400_000;
export const TODAY = Math.floor(Date.now() / DAY_MS);
const STRETCHES = 20;
const ROWS_A_CHUNK = 500;
const log = createLog('silent');

/**
 * Nothing here has to survive a crash, and what is measured afterwards reads, or is compared with
 * itself. Indexes are built on all cores.
 */
export async function loadQuickly(database: Database): Promise<void> {
  for (const setting of [
    "maintenance_work_mem = '512MB'",
    `max_parallel_maintenance_workers = ${availableParallelism()}`,
    "max_wal_size = '16GB'",
    'synchronous_commit = off',
    'fsync = off',
    'full_page_writes = off',
    'autovacuum = off',
  ]) {
    await database.query(`ALTER SYSTEM SET ${setting}`);
  }
  await database.query('SELECT pg_reload_conf()');
}

interface Place {
  url: string;
  database: Database;
  accountId: number;
}

/** As two days grow: today gets a slice whenever maintenance finds that there is enough for one. */
export async function makeMessages(place: Place, count: number): Promise<void> {
  const { database } = place;
  for (const day of [TODAY - 1, TODAY]) await makePartitions(database, day * DAY_MS);
  const early = count / 5;
  await load(place, { from: 0, count: early, atMs: (TODAY - 1) * DAY_MS, overMs: DAY_MS / 2 });
  await indexFinishedDays({ database, log, nowMs: TODAY * DAY_MS + DAY_MS / 2 });
  // Until now and not beyond: what is accepted afterwards stands at the end, as it does in life.
  const sinceMidnight = Date.now() - TODAY * DAY_MS;
  const piece = (count - early) / STRETCHES;
  for (let n = 0; n < STRETCHES; n++) {
    const atMs = TODAY * DAY_MS + Math.floor((n / STRETCHES) * sinceMidnight);
    const overMs = sinceMidnight / STRETCHES;
    await load(place, { from: early + n * piece, count: piece, atMs, overMs });
    // As autovacuum does: how much a slice covers is known only then. Of one column, because all of
    // them would be each slice's words again.
    await database.query('ANALYZE messages (account_id)');
    await indexGrowingDay({ database, log, nowMs: atMs + overMs + 10_000 });
  }
}

/** Of the time from `atMs`, evenly over it. */
interface Stretch {
  from: number;
  count: number;
  atMs: number;
  overMs: number;
}

/** Each connection takes a part of it, its messages first. */
async function load({ url, accountId }: Place, { from, count, atMs, overMs }: Stretch) {
  const parts = availableParallelism();
  const each = Math.ceil(count / parts);
  const loadPart = async (_: unknown, part: number) => {
    const first = part * each;
    const ids = Array.from({ length: Math.min(each, count - first) }, (_, n) =>
      bytesToUuid(newIdBytes(Math.floor(atMs + ((first + n) / count) * overMs))),
    );
    const client = new pg.Client(url);
    await client.connect();
    await copy(client, MESSAGES, ids, (id, n) => messageRow(accountId, id, from + first + n));
    await copy(client, EVENTS, ids, (id) => eventRows(accountId, id));
    await client.end();
  };
  await Promise.all(Array.from({ length: parts }, loadPart));
}

async function copy(
  client: pg.Client,
  into: string,
  ids: readonly string[],
  rowsOf: (id: string, n: number) => string,
): Promise<void> {
  function* chunks() {
    for (let n = 0; n < ids.length; n += ROWS_A_CHUNK) {
      yield ids
        .slice(n, n + ROWS_A_CHUNK)
        .map((id, at) => rowsOf(id, n + at))
        .join('');
    }
  }
  await pipeline(Readable.from(chunks()), client.query(copyFrom(`COPY ${into} FROM STDIN`)));
}

const MESSAGES =
  'messages (account_id, id, status, from_email, recipients, subject, tags, template, door)';
const EVENTS = 'events (account_id, message_id, id, kind, at, sequence, recipients, detail)';

/** A hundred thousand people, forty templates, a tag of every thousandth. */
function messageRow(accountId: number, id: string, n: number): string {
  const status = n % 25 === 0 ? 'bounced' : n % 3 === 0 ? 'opened' : 'delivered';
  const tags = `{orders,batch-${Math.floor(n / 1000)}}`;
  return `${accountId}\t${id}\t${status}\thello@shop${n % 5}.example\t{${personOf(n)}}\tYour order ${n} is on its way\t${tags}\ttemplate-${n % 40}\trest\n`;
}

/** The recipient of the nth message. */
export const personOf = (n: number): string =>
  `person${(n * 7919) % 100_000}@mail${n % 50}.example`;

/** Sent and delivered. */
function eventRows(accountId: number, id: string): string {
  const row = (kind: string, sequence: number, detail: string) =>
    `${accountId}\t${id}\t${randomUUID()}\t${kind}\tnow\t${sequence}\t{ada@example.net}\t${detail}\n`;
  return row('sent', 1, SENT) + row('delivered', 2, DELIVERED);
}

const SENT = '{"subject": "Your order is on its way"}';
const DELIVERED =
  '{"smtp_response": "250 2.0.0 Ok: queued as 4XyZ12abcD", "reporting_mta": "relay.example"}';
