// Emails that go out later: accepted and rendered now, queued until their time, counted at accept.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { runMaintenance } from '../../src/roles/maintenance.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

const HOUR_MS = 3_600_000;
const fromNow = (ms: number): string => new Date(Date.now() + ms).toISOString();
const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

async function schedule(ms: number, changes = {}, headers = {}) {
  const request = anEmail({ scheduled_at: fromNow(ms), ...changes });
  const answer = await service.send(account.key, request, headers);
  expect(answer.status).toBe(202);
  const scheduled_at = request.scheduled_at as string;
  return { id: answer.body.id as string, scheduled_at, body: answer.body };
}

const dueRow = async (id: string) =>
  (
    await service.database.query<{ state: string; due_at: Date }>(
      'SELECT state, due_at FROM due_messages WHERE message_id = $1',
      [readUuid('msg_', id)],
    )
  )[0];

describe('a scheduled email', () => {
  it('waits, says when, and goes out when its time has come', async () => {
    const { id, scheduled_at, body } = await schedule(HOUR_MS);
    expect(body).toEqual({ id, status: 'queued' });
    expect(await timeline(id)).toEqual({
      sm_mail_id: id,
      user_id: String(account.id),
      status: 'queued',
      scheduled_at,
      events: [],
    });
    expect(await dueRow(id)).toEqual({ state: 'waiting', due_at: new Date(scheduled_at) });

    // The hour passes.
    await service.database.query(`UPDATE due_messages SET due_at = now() WHERE message_id = $1`, [
      readUuid('msg_', id),
    ]);
    await until(async () => (await timeline(id)).status !== 'queued');
    expect((await timeline(id)).scheduled_at).toBe(scheduled_at);
  });

  it('says its time in UTC, whatever offset it was given with', async () => {
    const inAnHour = Math.ceil(Date.now() / 1000) * 1000 + HOUR_MS;
    const local = new Date(inAnHour + 5.5 * HOUR_MS).toISOString().slice(0, 19);
    const { id } = await schedule(0, { scheduled_at: `${local}+05:30` });
    expect((await timeline(id)).scheduled_at).toBe(new Date(inAnHour).toISOString());
  });

  it('that is due now, or was a moment ago, goes out at once', async () => {
    const { id } = await schedule(-30_000);
    await until(async () => (await timeline(id)).status !== 'queued');
  });

  it('without a time says none', async () => {
    const { body } = await service.send(account.key, anEmail());
    expect(await timeline(body.id)).not.toHaveProperty('scheduled_at');
    expect(await timeline(body.id)).not.toHaveProperty('cancelled_at');
  });

  it.each([
    ['soon', 'is not a time'],
    ['2026-11-20T09:00:00', 'offset from UTC'],
    [fromNow(-2 * 60_000), 'is in the past'],
    [fromNow(31 * 24 * HOUR_MS), 'is too far ahead'],
  ])('%s is refused', async (scheduled_at, why) => {
    const { status, body } = await service.send(account.key, anEmail({ scheduled_at }));
    expect(status).toBe(400);
    expect(body.detail).toContain(why);
    expect(body.faults).toEqual([{ path: 'scheduled_at', message: expect.stringContaining(why) }]);
  });

  it('takes of the quota when it is accepted', async () => {
    const { key } = await service.account({ dailyQuota: 1 });
    const send = () => service.send(key, anEmail({ scheduled_at: fromNow(HOUR_MS) }));
    expect((await send()).status).toBe(202);
    expect((await send()).status).toBe(429);
  });
});

describe('an idempotency key of a scheduled email', () => {
  it('answers as it did, also when the time has passed meanwhile', async () => {
    const headers = { 'idempotency-key': 'once' };
    const { id, scheduled_at } = await schedule(HOUR_MS, {}, headers);
    const again = await service.send(account.key, anEmail({ scheduled_at }), headers);
    expect(again.body.id).toBe(id);

    // Taken just in time; a moment later the same call is about what is past.
    const past = fromNow(-HOUR_MS);
    const late = { 'idempotency-key': 'late' };
    expect((await service.send(account.key, anEmail({ scheduled_at: past }), late)).status).toBe(
      400,
    );
    const first = await schedule(-59_500, {}, late);
    await until(() => Date.now() > Date.parse(first.scheduled_at) + 60_000);
    const { body } = await service.send(
      account.key,
      anEmail({ scheduled_at: first.scheduled_at }),
      late,
    );
    expect(body.id).toBe(first.id);
  });

  it('is kept for 24 hours after the email went out', async () => {
    await schedule(20 * 24 * HOUR_MS, {}, { 'idempotency-key': 'kept' });
    await service.send(account.key, anEmail(), { 'idempotency-key': 'not kept' });
    const age = (days: number) =>
      service.database.query(
        `UPDATE idempotency_keys SET created_at = now() - make_interval(days => $1)`,
        [days],
      );
    const keys = async () => {
      await maintain();
      const rows = await service.database.query<{ key: string }>(
        'SELECT key FROM idempotency_keys ORDER BY key',
      );
      return rows.map(({ key }) => key);
    };
    await age(20);
    expect(await keys()).toEqual(['kept']);
    await age(22);
    expect(await keys()).toEqual([]);
  });
});

const maintain = () =>
  runMaintenance({
    database: service.database,
    clock: { nowMs: Date.now },
    log: { info() {}, warn() {}, error() {} } as never,
    retention: { retentionDays: 90, contentRetentionDays: 30 },
    dns: undefined as never,
    bounceDomain: 'bounces.example.com',
    probeReturnPath: async () => undefined,
  });
