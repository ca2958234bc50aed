// An operator who suspends an account stops its email: what is queued or scheduled is held, urgent
// email too, and is sent when the account is resumed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeAccount, suspendAccount } from '../../src/accounts/suspension.ts';
import { queueState } from '../../src/queue/due.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { fromTemplate } from '../templates/support.ts';

let sink: SmtpSink;
let service: TestService;

beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({ RELAY_URL: sink.url });
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

it('holds what a suspended account has queued and scheduled, and nobody else’s', async () => {
  const stopped = await service.account();
  const other = await service.account();
  const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
  const code = { code: '123456', expires_in: '10 minutes' };
  const held = await Promise.all([
    service.send(stopped.key, anEmail({ scheduled_at })),
    service.send(stopped.key, fromTemplate('one-time-code', code, { scheduled_at })),
  ]);
  expect(held.map(({ status, body }) => [status, body.detail])).toEqual([
    [202, undefined],
    [202, undefined],
  ]);
  await suspendAccount(service.database, stopped.id, 'phishing');
  const later = await service.send(other.key, anEmail({ scheduled_at }));
  await service.database.query('UPDATE due_messages SET due_at = now()');
  const took = ({ body }: { body: { id: string } }) =>
    sink.emails.some(({ envelopeId }) => envelopeId === body.id);
  await until(() => took(later));

  expect(held.map(took)).toEqual([false, false]);
  const rows = await service.database.query(
    'SELECT state FROM due_messages WHERE account_id = $1',
    [stopped.id],
  );
  expect(rows).toEqual([{ state: 'ready' }, { state: 'ready' }]);
  // What is held is not late: nobody has to be woken for it.
  expect((await queueState(service.database)).ageSeconds).toBe(0);

  await resumeAccount(service.database, stopped.id);
  await until(() => held.every(took));
});
