// Whatever a report says can be stored: any text, any number of recipients. What arrives together
// is recorded together.
import { setImmediate as othersTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { recipientResult } from '../../src/feedback/dsn.ts';
import { openReportRecorder, type ReportRecorder } from '../../src/feedback/record.ts';
import { makeReport } from '../../src/feedback/report.ts';
import type { MatchedReport } from '../../src/feedback/statement.ts';
import { readId } from '../../src/ids.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
let recorder: ReportRecorder;
let messageId: Buffer;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  const metrics = createMetrics();
  recorder = openReportRecorder({ database: service.database, metrics, nowMs: Date.now });
  const to = ['ada@example.net', 'bob@example.net'];
  const { id } = (await service.send(account.key, anEmail({ to }))).body;
  await until(
    async () => (await service.get(account.key, `/v1/messages/${id}`)).body.status === 'delivered',
  );
  messageId = readId('msg_', id)!;
});
afterAll(() => service.stop());

// Half surrogate pairs, NUL, quotes and braces of array literals among them.
const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom('\0', '\ud800', '\udc00', '"', '\\', '{', '}', ',', '\\u0000', 'a'),
    maxLength: 20,
  }),
);
const recipient = fc.record({
  address: fc.option(fc.oneof(anything, fc.constantFrom('ADA@example.net', 'bob@example.net'))),
  action: fc.option(fc.constantFrom('failed', 'delayed', 'delivered', 'relayed', 'expanded')),
  status: fc.option(fc.constantFrom('5.1.1', '4.2.2', '2.0.0')),
  bounce_type: fc.option(fc.constantFrom('permanent', 'transient')),
  reason: fc.option(fc.constantFrom('user-unknown', 'other')),
  consequence: fc.option(fc.constantFrom('suppress', 'strike', 'none')),
  smtp_response: fc.option(anything),
  reporting_mta: fc.option(anything),
  remote_mta: fc.option(anything),
});
const original = {
  messageId: null,
  ourId: null,
  token: null,
  envelopeId: null,
  recipients: [],
  senders: [],
  arrivedAt: null,
};
const report = fc
  .tuple(fc.constantFrom('dsn', 'bounce', 'arf'), fc.array(recipient, { maxLength: 5 }), anything)
  .map(([kind, recipients, type]) =>
    makeReport(kind as 'dsn', recipients as never, original, kind === 'arf' ? type : null),
  );

it('never fails, alone or together', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 8 }), async (reports) => {
      const recorded = await Promise.all(
        reports.map((entry) =>
          recorder.record({
            email: { accountId: account.id, messageId },
            about: 'named',
            report: entry,
          }),
        ),
      );
      expect(recorded).toHaveLength(reports.length);
    }),
    { numRuns: 200 },
  );
  // Nobody but the email's own recipients was suppressed by all that.
  const rows = await service.database.query<{ address: string }>(
    'SELECT address FROM suppressions',
  );
  for (const { address } of rows) expect(['ada@example.net', 'bob@example.net']).toContain(address);
});

it('a report waits a moment for one that is being read', async () => {
  const delivered = (response: string): MatchedReport => ({
    email: { accountId: account.id, messageId },
    about: 'named',
    report: makeReport(
      'dsn',
      [recipientResult('ada@example.net', { action: 'delivered', smtp_response: response })],
      original,
    ),
  });
  /** Whether they were recorded in one transaction, though the second came later. */
  const areTogether = async (turn: string) => {
    const wasRead = recorder.expect();
    const first = recorder.record(delivered(`250 first ${turn}`));
    for (let turns = 0; turns < 3; turns++) await othersTurn();
    wasRead();
    await Promise.all([first, recorder.record(delivered(`250 second ${turn}`))]);
    const rows = await service.database.query<{ transaction: string }>(
      `SELECT DISTINCT xmin::text AS transaction FROM events
       WHERE account_id = $1 AND detail->>'smtp_response' LIKE '250 % ' || $2`,
      [account.id, turn],
    );
    return rows.length === 1;
  };
  // The moment is ten milliseconds, which a busy machine may spend elsewhere.
  for (let turn = 1; !(await areTogether(`turn ${turn}`)); turn++) expect(turn).toBeLessThan(50);
});
