// Webhooks never lose an event: kill -9 at random points while 2,000 are recorded and delivered.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { showUuid } from '../../src/ids.ts';
import { HOOK_TYPES } from '../../src/webhooks/event-body.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  answer,
  createAuthority,
  type Receiver,
  startReceiver,
} from '../support/https-receiver.ts';
import { until } from '../support/until.ts';
import { newAccount, newEndpoint, newMessages } from '../webhooks/webhook-support.ts';

const MESSAGES = 400;
const MESSAGES_IN_ORDER = 20;
const KILLS = 8;

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-webhook-kill-'));
const authority = createAuthority();
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

function start(): {
  child: ChildProcess;
  recordedAll: Promise<unknown>;
  kill: () => Promise<void>;
} {
  const program = join(import.meta.dirname, 'webhook-process.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, test.url], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  return {
    child,
    recordedAll: once(child.stdout!, 'data'),
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

it('each event reaches the receiver at least once, without gaps, whatever dies when', async () => {
  const account = await newAccount(test.database);
  await newEndpoint(test.database, account, { url: receiver.url });
  await newMessages(test.database, account, MESSAGES);
  const inOrder = await newAccount(test.database);
  await newEndpoint(test.database, inOrder, { url: `${receiver.url}/in-order`, fifo: true });
  await newMessages(test.database, inOrder, MESSAGES_IN_ORDER);

  let running = start();
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const seen = receiver.requests.length;
      await receiver.received(seen + 1 + Math.floor(Math.random() * 250));
      await running.kill();
      const [row] = await test.database.query(
        `SELECT (SELECT count(*) FROM events) AS wanted,
                (SELECT count(*) FROM webhook_deliveries) AS logged,
                (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') AS pending,
                (SELECT count(*) FROM webhook_due) AS due`,
      );
      expect(row!.logged).toBe(row!.wanted);
      expect(row!.due).toBe(row!.pending);
      running = start();
    }
    await running.recordedAll;
    await until(
      async () => (await test.database.query('SELECT FROM webhook_due LIMIT 1')).length === 0,
      60_000,
    );
  } finally {
    await running.kill();
  }

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
}, 120_000);

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
