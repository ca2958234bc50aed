// Webhooks never lose an event: kill -9 of the worker, and broken connections of the process that
// records, at random points during 2,000 events.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { showUuid } from '../../src/ids.ts';
import { HOOK_TYPES, kindOf } from '../../src/webhooks/event-body.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { answer, type Receiver, startReceiver } from '../support/https-receiver.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import {
  authority,
  event,
  newAccount,
  newEndpoint,
  newMessages,
  recordEvents,
} from '../webhooks/webhook-support.ts';

const MESSAGES = 400;
const MESSAGES_IN_ORDER = 20;
const KILLS = 8;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-webhook-kill-'));
let test: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  test = await createTestDatabase();
  // Some milliseconds of thought, so that every kill finds POSTs on their way.
  receiver = await startReceiver({
    authority,
    behave: () => new Promise((done) => setTimeout(() => done(answer(200)), 5 * Math.random())),
  });
  writeFileSync(join(folder, 'ca.pem'), authority.ca);
});
afterAll(async () => {
  await receiver.close();
  await test.drop();
  rmSync(folder, { recursive: true, force: true });
});

const startWorker = (): Promise<ServiceProcess> =>
  startProcess({
    DATABASE_URL: test.url,
    ROLES: 'webhooks',
    WEBHOOK_ALLOW: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
  });

/**
 * Records every type for every message; what fails is told again, as a relay repeats a report that
 * was not acknowledged.
 */
async function recordAll(account: number, messages: Buffer[]): Promise<void> {
  const database = test.database.near(account);
  for (const type of HOOK_TYPES) {
    for (let first = 0; first < messages.length; first += 10) {
      const events = messages
        .slice(first, first + 10)
        .map((messageId) => event(account, messageId, kindOf(type), { identity: type }));
      await until(async () => {
        await recordEvents(database, events);
        return true;
      });
    }
  }
}

const breakRecorder = () =>
  test.database.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'SELECT record_events%'`,
  );

/** No event without its row, no row without its event, and nothing pending that is not due. */
async function expectRowsToMatch(): Promise<void> {
  // One join on the account: on Citus, counts of their own would be of different moments.
  const odd = await test.database.query(
    `SELECT e.id AS event, l.id AS logged, l.state, d.delivery_id AS due
     FROM events e
     FULL JOIN webhook_deliveries l ON l.account_id = e.account_id AND l.message_id = e.message_id AND l.event_id = e.id
     FULL JOIN webhook_due d ON d.account_id = l.account_id AND d.endpoint_id = l.endpoint_id AND d.delivery_id = l.id
     WHERE e.id IS NULL OR l.id IS NULL OR (l.state = 'pending') <> (d.delivery_id IS NOT NULL)`,
  );
  expect(odd).toEqual([]);
}

it('each event reaches the receiver at least once, without gaps, whatever dies when', async () => {
  const account = await newAccount(test.database);
  await newEndpoint(test.database, account, { url: receiver.url });
  const inOrder = await newAccount(test.database);
  await newEndpoint(test.database, inOrder, { url: `${receiver.url}/in-order`, fifo: true });
  const many = await newMessages(test.database, account, MESSAGES);
  const few = await newMessages(test.database, inOrder, MESSAGES_IN_ORDER);

  let worker = await startWorker();
  const recorded = Promise.all([recordAll(account, many), recordAll(inOrder, few)]);
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      await receiver.received(receiver.requests.length + 1 + Math.floor(Math.random() * 250));
      await Promise.all([worker.end('SIGKILL'), breakRecorder()]);
      await expectRowsToMatch();
      // The dead worker's leases end after half a minute; here they end now.
      await test.database.query('UPDATE webhook_endpoints SET leased_until = now()');
      worker = await startWorker();
    }
    await recorded;
    await until(
      async () => (await test.database.query('SELECT FROM webhook_due LIMIT 1')).length === 0,
    );
  } finally {
    await worker.end('SIGKILL');
  }

  await expectRowsToMatch();
  const states = await test.database.query(
    'SELECT account_id, state, count(*) FROM webhook_deliveries GROUP BY 1, 2 ORDER BY 1',
  );
  const each = HOOK_TYPES.length;
  expect(states).toEqual([
    { account_id: account, state: 'delivered', count: MESSAGES * each },
    { account_id: inOrder, state: 'delivered', count: MESSAGES_IN_ORDER * each },
  ]);
  check('/hook', await eventIds(account), MESSAGES);
  check('/hook/in-order', await eventIds(inOrder), MESSAGES_IN_ORDER);
});

async function eventIds(account: number): Promise<Set<string>> {
  const rows = await test.database.query<{ id: string }>(
    'SELECT id FROM events WHERE account_id = $1',
    [account],
  );
  return new Set(rows.map(({ id }) => showUuid('evt_', id)));
}

function check(path: string, events: Set<string>, messages: number): void {
  const bodies = new Map<string, string>();
  const sequences = new Map<string, Set<number>>();
  for (const { headers, body } of receiver.requests.filter((request) => request.path === path)) {
    const id = headers['x-sm-event-id']!;
    // What comes again is the same to the byte.
    expect(bodies.get(id) ?? body.toString()).toBe(body.toString());
    bodies.set(id, body.toString());
    const { sm_mail_id, sequence } = JSON.parse(body.toString()).payload;
    const known = sequences.get(sm_mail_id) ?? new Set();
    // In order: never one before the one that comes before it in its message.
    if (path.endsWith('in-order')) expect(known.has(sequence - 1) || sequence === 1).toBe(true);
    sequences.set(sm_mail_id, known.add(sequence));
  }
  expect(new Set(bodies.keys())).toEqual(events);
  expect(sequences.size).toBe(messages);
  for (const seen of sequences.values()) expect([...seen].sort()).toEqual([1, 2, 3, 4, 5]);
}
