// Delivery against a relay that says what relays say: partial acceptance, deferrals, refusals,
// expiry, the circuit, a graceful stop.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstUuidAt } from '../../src/ids.ts';
import { freePort, runCommand } from '../support/process.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, smtpError, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let sink: SmtpSink | undefined;
let service: TestService | undefined;
let account: TestAccount;

async function start(
  options: Parameters<typeof startSink>[0] = {},
  env: Record<string, string> = {},
): Promise<void> {
  sink = await startSink(options);
  service = await startTestService({ RELAY_URL: sink.url, ...env });
  account = await service.account();
}
beforeEach(() => {
  sink = undefined;
  service = undefined;
});
afterEach(async () => {
  await service?.stop();
  await sink?.stop();
});

const send = async (changes: Record<string, unknown> = {}): Promise<string> => {
  const answer = await service!.send(account.key, anEmail(changes));
  expect(answer.status, JSON.stringify(answer.body)).toBe(202);
  return answer.body.id;
};
const read = async (id: string) => (await service!.get(account.key, `/v1/messages/${id}`)).body;
const due = async () =>
  await service!.database.query<{
    attempts: number;
    remaining: string[] | null;
    last_response: string;
  }>(
    'SELECT attempts, remaining, last_response FROM due_messages WHERE lease IS NULL AND attempts > 0',
  );
/** As if the backoff were over. */
const hurry = () =>
  service!.database.query('UPDATE due_messages SET due_at = now() WHERE lease IS NULL');

it('the email has a stable Message-ID, a signed return path and DSN parameters', async () => {
  await start();
  const id = await send();
  const taken = await until(() => sink!.emails[0]);
  expect(taken.envelopeId).toBe(id);
  expect(taken.from).toMatch(/^bounce\+[a-z2-7]{53}@bounces\.localhost$/);
  expect(taken.raw).toContain(`Message-ID: <${id}@example.com>`);
  expect(taken.raw).toContain(`X-SM-Message-Id: ${id}`);
});

it('partial acceptance: only the remaining recipients are tried again', async () => {
  let first = true;
  await start({
    onRcptTo: (address, _session, done) => {
      if (address.address === 'later@example.net' && first) {
        first = false;
        done(smtpError(451, 'come again'));
      } else if (address.address === 'never@example.net') done(smtpError(550, 'no such user'));
      else done();
    },
  });
  const id = await send({ to: ['ok@example.net', 'later@example.net', 'never@example.net'] });
  const [row] = await until(async () => {
    const rows = await due();
    return rows.length > 0 && rows;
  });
  expect(row).toMatchObject({ attempts: 1, remaining: ['later@example.net'] });
  expect(row!.last_response).toContain('come again');
  const shown = await runCommand(['message', 'show', id], { DATABASE_URL: service!.databaseUrl });
  expect(shown.stdout).toMatch(/waiting .* to later@example\.net, due .*come again/);
  await hurry();
  await until(() => sink!.emails.length === 2);
  expect(sink!.emails.map((taken) => taken.recipients)).toEqual([
    ['ok@example.net'],
    ['later@example.net'],
  ]);
  const timeline = await until(async () => {
    const now = await read(id);
    return now.events.length === 3 && now;
  });
  expect(timeline.status).toBe('bounced');
  expect(timeline.events).toMatchObject([
    { type: 'sent', recipients: ['ok@example.net'] },
    {
      type: 'bounced',
      recipients: ['never@example.net'],
      bounce_type: 'permanent',
      reason: 'user-unknown',
      smtp_response: expect.stringContaining('no such user'),
    },
    { type: 'sent', recipients: ['later@example.net'] },
  ]);
});

it('5xx for the email itself: every recipient bounces', async () => {
  await start({ onEmail: () => Promise.reject(smtpError(554, 'message rejected as spam')) });
  const id = await send({ to: ['a@example.net', 'b@example.net'] });
  const timeline = await until(async () => {
    const now = await read(id);
    return now.status === 'bounced' && now;
  });
  expect(timeline.events).toHaveLength(2);
  expect(timeline.events[0]).toMatchObject({ reason: 'spam', bounce_type: 'permanent' });
});

it('4xx until a day has passed: bounced as expired', async () => {
  await start({ onEmail: () => Promise.reject(smtpError(451, 'try later')) });
  const id = await send();
  await until(async () => (await due()).length > 0);
  // The age of an email is in its id; a day-old one is made by moving the message to yesterday's
  // partition.
  const old = firstUuidAt(Date.now() - 24 * 3_600_000 - 60_000);
  for (const [table, column] of [
    ['messages', 'id'],
    ['contents', 'message_id'],
    ['due_messages', 'message_id'],
  ]) {
    await service!.database.query(`UPDATE ${table} SET ${column} = $1`, [old]);
  }
  await hurry();
  const rows = await until(async () => {
    const events = await service!.database.query<{ detail: Record<string, string> }>(
      `SELECT detail FROM events WHERE kind = 'bounced'`,
    );
    return events.length > 0 && events;
  });
  expect(rows[0]!.detail).toMatchObject({ bounce_type: 'expired', reason: 'expired' });
  expect((await read(id)).status).toBeUndefined();
});

it('the day begins when a scheduled email was to go out, not when it was accepted', async () => {
  await start({ onEmail: () => Promise.reject(smtpError(451, 'try later')) });
  await send();
  await until(async () => (await due()).length > 0);
  const old = firstUuidAt(Date.now() - 24 * 3_600_000 - 60_000);
  for (const [table, column] of [
    ['messages', 'id'],
    ['contents', 'message_id'],
    ['due_messages', 'message_id'],
  ]) {
    await service!.database.query(`UPDATE ${table} SET ${column} = $1`, [old]);
  }
  await service!.database.query(`UPDATE messages SET scheduled_at = now() - interval '1 hour'`);
  const [before] = await due();
  await hurry();
  await until(async () => (await due()).some(({ attempts }) => attempts > before!.attempts));
  expect(await service!.database.query('SELECT FROM events')).toEqual([]);
});

it('a suppressed recipient is not handed over', async () => {
  await start();
  await service!.database.query(
    `INSERT INTO suppressions (account_id, address, reason) VALUES ($1, 'gone@example.net', 'manual')`,
    [account.id],
  );
  const id = await send({ to: ['ok@example.net', 'GONE@example.net'] });
  const timeline = await until(async () => {
    const now = await read(id);
    return now.events.length === 2 && now;
  });
  expect(sink!.emails[0]!.recipients).toEqual(['ok@example.net']);
  expect(timeline.events).toContainEqual(
    expect.objectContaining({
      type: 'bounced',
      bounce_type: 'suppressed',
      recipients: ['GONE@example.net'],
    }),
  );
});

describe('the circuit', () => {
  it('opens when the relay goes, closes when it is back, and no attempt is burned meanwhile', async () => {
    const port = await freePort();
    await start({ port });
    await send();
    await until(() => sink!.emails.length === 1);
    await sink!.stop();
    // Accepted before anyone knows; the failing handoffs open the circuit.
    const statuses = await until(async () => {
      const answer = await service!.send(account.key, anEmail());
      return answer.status === 502 && [answer.status];
    });
    expect(statuses).toEqual([502]);
    sink = await startSink({ port });
    await until(async () => (await service!.send(account.key, anEmail())).status === 202);
    await until(async () => {
      await hurry();
      const [row] = await service!.database.query<{ left: number }>(
        'SELECT count(*) AS left FROM due_messages',
      );
      return row?.left === 0;
    });
  });
});

it('a graceful stop finishes what is in hand and loses nothing', async () => {
  await start();
  const ids = await Promise.all(Array.from({ length: 200 }, () => send()));
  await service!.service.stop();
  const handedOver = new Set(sink!.emails.map((taken) => taken.envelopeId));
  expect(handedOver.size).toBe(sink!.emails.length);
  const rows = await service!.database.query<{ left: number }>(
    'SELECT count(*) AS left FROM due_messages',
  );
  expect(handedOver.size + (rows[0]?.left ?? 0)).toBe(ids.length);
});
