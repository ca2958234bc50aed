// A process to be killed by webhook-kill.test.ts: records events of the messages it finds and runs the webhook worker.
// Told again after a crash, an event is the same event, as a relay's repeated report is.

import { systemClock } from '../../src/clock.ts';
import { uuidToBytes } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { createMetrics } from '../../src/metrics.ts';
import { openDatabase } from '../../src/store/pool.ts';
import { addressGuard, guardedAgent } from '../../src/webhooks/address-guard.ts';
import { HOOK_TYPES, kindOf } from '../../src/webhooks/event-body.ts';
import { startWebhookWorker } from '../../src/webhooks/worker.ts';
import { event, recordEvents } from '../webhooks/webhook-support.ts';

const database = openDatabase(process.argv[2]!, { connections: 6, onIdleError: () => undefined });
startWebhookWorker({
  database,
  clock: systemClock,
  log: createLog('warn'),
  metrics: createMetrics(),
  // The test's CA comes by NODE_EXTRA_CA_CERTS.
  agent: guardedAgent(addressGuard(['127.0.0.0/8'])),
  // What the one before had in hand is to go on soon.
  leaseMs: 600,
});
const messages = await database.query<{ accountId: number; uuid: string }>(
  'SELECT account_id AS "accountId", id AS uuid FROM messages ORDER BY id',
);
for (const type of HOOK_TYPES) {
  for (let first = 0; first < messages.length; first += 10) {
    const some = messages.slice(first, first + 10);
    await recordEvents(
      database,
      some.map(({ accountId, uuid }) =>
        event(accountId, uuidToBytes(uuid), kindOf(type), { identity: type }),
      ),
    );
  }
}
process.stdout.write('all recorded\n');
