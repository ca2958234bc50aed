// Strikes over the real recorder: three doubtful days within thirty, and no delivery between them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Consequence } from '../../src/feedback/classify.ts';
import { recipientResult } from '../../src/feedback/dsn.ts';
import { openReportRecorder, type ReportRecorder } from '../../src/feedback/record.ts';
import { makeReport } from '../../src/feedback/report.ts';
import { readId } from '../../src/ids.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { removeSuppression } from '../../src/suppressions/listing.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let service: TestService;
let sink: Awaited<ReturnType<typeof startSink>>;
let account: TestAccount;
let recorder: ReportRecorder;
let day = 0;
const nowMs = () => Date.UTC(2026, 10, 1 + day, 12);

beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({ RELAY_URL: sink.url });
  account = await service.account();
  const metrics = createMetrics();
  recorder = openReportRecorder({ database: service.database, metrics, nowMs });
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

let people = 0;
const somebody = () => `person${++people}@example.net`;

/**
 * An email to the address comes back, or arrives, on the given day. Answers whether its event says
 * that it suppressed.
 */
async function report(
  address: string,
  on: number,
  said: Consequence | 'delivered' = 'strike',
  by = account,
): Promise<boolean | undefined> {
  day = on;
  const { id } = (await service.send(by.key, anEmail({ to: [address] }))).body;
  const events = async () => (await service.get(by.key, `/v1/messages/${id}`)).body.events;
  await until(async () => (await events()).length > 0);
  const told =
    said === 'delivered'
      ? recipientResult(address, { action: 'delivered' })
      : recipientResult(address, {
          ...{ action: 'failed', bounce_type: 'permanent', reason: 'mailbox-full' },
          consequence: said,
        });
  const original = {
    ...{ messageId: null, ourId: null, token: null, envelopeId: `${id} ${on}`, recipients: [] },
    ...{ senders: [], arrivedAt: null },
  };
  await recorder.record({
    email: { accountId: by.id, messageId: readId('msg_', id)! },
    about: 'named',
    report: makeReport('dsn', [told], original),
  });
  return (await events()).at(-1).suppressed;
}

const isSuppressed = async (address: string, by = account) =>
  (
    await service.database.query(
      'SELECT FROM suppressions WHERE account_id = $1 AND address = $2',
      [by.id, address],
    )
  ).length > 0;

describe('a doubtful address', () => {
  it('is suppressed by the third day, and the event says so', async () => {
    const address = somebody();
    expect(await report(address, 0)).toBe(false);
    expect(await report(address, 1)).toBe(false);
    expect(await isSuppressed(address)).toBe(false);
    expect(await report(address, 29)).toBe(true);
    expect(await isSuppressed(address)).toBe(true);
  });

  it('is not by ten emails of one day', async () => {
    const address = somebody();
    for (let emailNumber = 0; emailNumber < 10; emailNumber++) await report(address, 3);
    expect(await isSuppressed(address)).toBe(false);
  });

  it('is not when thirty days lie between', async () => {
    const address = somebody();
    await report(address, 0);
    await report(address, 10);
    expect(await report(address, 30)).toBe(false);
    expect(await report(address, 31)).toBe(true);
  });

  it('starts again with a delivery', async () => {
    const address = somebody();
    await report(address, 0);
    await report(address, 1);
    await report(address, 2, 'delivered');
    expect(await report(address, 3)).toBe(false);
    expect(await report(address, 4)).toBe(false);
    expect(await report(address, 5)).toBe(true);
  });

  it('starts again when someone takes it off the list', async () => {
    const address = somebody();
    for (const on of [0, 1, 2]) await report(address, on);
    await removeSuppression(service.database, account.id, address, { origin: 'api' });
    expect(await report(address, 3)).toBe(false);
    expect(await isSuppressed(address)).toBe(false);
  });

  it('of one account says nothing of another', async () => {
    const other = await service.account();
    const address = somebody();
    await report(address, 0);
    await report(address, 1);
    expect(await report(address, 2, 'strike', other)).toBe(false);
    expect(await isSuppressed(address, other)).toBe(false);
  });
});

it('a dead address is suppressed at once, one that our own fault refused never', async () => {
  const dead = somebody();
  expect(await report(dead, 0, 'suppress')).toBe(true);
  expect(await isSuppressed(dead)).toBe(true);
  const refused = somebody();
  for (const on of [0, 1, 2, 3]) expect(await report(refused, on, 'none')).toBe(false);
  expect(await isSuppressed(refused)).toBe(false);
});
