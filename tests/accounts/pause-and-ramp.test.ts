// An account is paused when too much of its email bounces or is complained about, and resumed by
// the operator; a new one ramps up.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, getAccount } from '../../src/accounts/accounts.ts';
import { createKey } from '../../src/accounts/keys.ts';
import {
  listPauses,
  type PauseLimits,
  pauseAccount,
  pauseOverLimits,
} from '../../src/accounts/pause.ts';
import { quotaOn } from '../../src/accounts/plans.ts';
import { resumeAccount } from '../../src/accounts/suspension.ts';
import { registerAccount } from '../../src/cli/account.ts';
import { registerDoctor } from '../../src/cli/doctor.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const LIMITS: PauseLimits = { bouncePercent: 10, complaintPercent: 0.5, fewest: 20 };
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.stop());

/** So many recipients in emails of five that are all handed over. */
async function sendTo(account: TestAccount, recipients: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < recipients / 5; n += 1) {
    const to = Array.from({ length: 5 }, (_, each) => `r${n}-${each}@example.net`);
    const { status, body } = await service.send(account.key, anEmail({ to }));
    expect(status).toBe(202);
    ids.push(body.id);
  }
  await until(
    async () =>
      (
        await service.database.query(
          `SELECT FROM messages WHERE account_id = $1 AND status = 'queued'`,
          [account.id],
        )
      ).length === 0,
  );
  return ids;
}

const record = (account: TestAccount, id: string, kind: string, type: string, recipients: number) =>
  service.database.query(
    `INSERT INTO events (account_id, message_id, id, kind, at, sequence, recipients, detail)
     VALUES ($1, $2, gen_random_uuid(), $3, now(), 9, $4, $5)`,
    [
      account.id,
      readUuid('msg_', id),
      kind,
      Array.from({ length: recipients }, (_, n) => `r0-${n}@example.net`),
      { bounce_type: type },
    ],
  );

const look = (limits = LIMITS) => pauseOverLimits(service.database, limits, Date.now());

describe('a pause', () => {
  it('comes with more than the limit of bounces, and old figures are void after a resume', async () => {
    const account = await service.account();
    const [first] = await sendTo(account, 40);
    await record(account, first!, 'bounced', 'permanent', 4);
    await record(account, first!, 'bounced', 'suppressed', 5);
    await record(account, first!, 'bounced', 'transient', 5);
    // Exactly at the limit.
    expect(await look()).toEqual([]);
    await record(account, first!, 'bounced', 'permanent', 5);
    expect(await look({ ...LIMITS, bouncePercent: undefined })).toEqual([]);
    expect(await look({ ...LIMITS, fewest: 41 })).toEqual([]);
    const reason =
      '5 of 40 recipients within 24 hours bounced permanently: 12.5 %, and the limit is 10 %';
    expect(await look()).toEqual([{ accountId: account.id, reason }]);
    expect(await look()).toEqual([]);

    const refused = await until(async () => {
      const answer = await service.send(account.key, anEmail());
      return answer.status === 202 ? undefined : answer;
    });
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      `This account is paused and may not send: ${reason}. Write to the operator of this service, who can resume it.`,
    ]);
    // Reading goes on.
    expect((await service.get(account.key, `/v1/messages/${first}`)).status).toBe(200);
    await resumeAccount(service.database, account.id);
    await until(async () => (await service.send(account.key, anEmail())).status === 202);
    // What was before does not count again.
    expect(await look()).toEqual([]);
  });

  it('is told to the account’s people and the operator, who ends it', async () => {
    const account = await service.account();
    const { body } = await service.send(account.key, anEmail());
    const reason = 'too much of it bounced';
    await pauseAccount(service.database, account.id, reason);
    const owner = await openSignedIn(service, { accountId: account.id });
    // The emails of the service itself go on.
    await owner.api.team.invite({ email: 'helper@people.example', role: 'viewer' });
    expect((await owner.api.account.get()).blocked[0]!.why).toContain(reason);
    const { data: alerts } = await owner.api.usage.listAlerts();
    expect(alerts[0]).toMatchObject({ kind: 'paused', severity: 'critical' });
    await expect(owner.api.messages.sendAgain({ sm_mail_id: body.id })).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining(reason),
    });
    const doctor = await runInProcess(registerDoctor, ['doctor', '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    expect(doctor.stdout).toContain(`Paused: ${account.id} (${reason}).`);

    const operator = await openSignedIn(service, { operator: true });
    const { accounts } = operator.api;
    expect((await accounts.get({ id: account.id })).paused).toMatchObject({ reason });
    const resumed = await accounts.resume({ id: account.id });
    expect(resumed.paused).toBeNull();
    expect((await service.send(account.key, anEmail())).status).toBe(202);
  });

  it('holds what was queued before, of this account alone, until it is resumed', async () => {
    const test = await createTestDatabase();
    const door = await startTestService({ ROLES: 'api' }, { on: test });
    const [held, free] = [await door.account(), await door.account()];
    const ids: string[] = [];
    for (const { key } of [held, free]) ids.push((await door.send(key, anEmail())).body.id);
    const { accounts } = (await openSignedIn(door, { operator: true })).api;
    await accounts.pause({ id: held.id, reason: 'too much of it bounced' });
    const worker = await startTestService({ ROLES: 'delivery,feedback' }, { on: test });
    try {
      const statusOf = async (key: string, id: string) =>
        (await door.get(key, `/v1/messages/${id}`)).body.status;
      await until(async () => (await statusOf(free.key, ids[1]!)) === 'delivered');
      // The worker has been round: whatever it may take, it took.
      const later = await door.send(free.key, anEmail());
      await until(async () => (await statusOf(free.key, later.body.id)) === 'delivered');
      expect(await statusOf(held.key, ids[0]!)).toBe('queued');
      await accounts.resume({ id: held.id });
      await until(async () => (await statusOf(held.key, ids[0]!)) === 'delivered');
    } finally {
      await worker.stop();
      await door.stop();
      await test.drop();
    }
  });

  it('comes with complaints, and each account stands for itself', async () => {
    const [bad, good] = [await service.account(), await service.account()];
    const [[first], [other]] = [await sendTo(bad, 40), await sendTo(good, 40)];
    await record(bad, first!, 'complained', '', 1);
    await record(good, other!, 'bounced', 'permanent', 1);
    expect((await look()).map(({ accountId }) => accountId)).toEqual([bad.id]);
    expect((await listPauses(service.database)).has(good.id)).toBe(false);
    await resumeAccount(service.database, bad.id);
  });

  it('is not brought about by one recipient who reports their copy again and again', async () => {
    const account = await service.account();
    const [first] = await sendTo(account, 40);
    for (let n = 0; n < 30; n++) {
      await record(account, first!, 'bounced', 'permanent', 1);
      await record(account, first!, 'complained', '', 1);
    }
    expect(await look({ ...LIMITS, complaintPercent: 2.5 })).toEqual([]);
    expect(await look({ ...LIMITS, complaintPercent: 2.4 })).toMatchObject([
      { accountId: account.id, reason: expect.stringContaining('40 recipients') },
    ]);
  });

  it('is neither brought about nor put off by what test keys send', async () => {
    const account = await service.account();
    const test = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send'],
      limits: { sandboxOnly: true },
    });
    const testing = { ...account, key: test.key };
    const [tried] = await sendTo(testing, 40);
    await record(account, tried!, 'bounced', 'permanent', 5);
    expect(await look()).toEqual([]);
    const [sent] = await sendTo(account, 20);
    await record(account, sent!, 'bounced', 'permanent', 3);
    expect((await look()).map(({ reason }) => reason)).toEqual([
      '3 of 20 recipients within 24 hours bounced permanently: 15.0 %, and the limit is 10 %',
    ]);
  });

  it('is looked for by the service itself where a limit is set', async () => {
    const account = await service.account();
    const [first] = await sendTo(account, 20);
    await record(account, first!, 'bounced', 'permanent', 5);
    const env = {
      DATABASE_URL: service.databaseUrl,
      PAUSE_BOUNCE_PERCENT: '10',
      PAUSE_FEWEST: '10',
    };
    const second = await startTestService(env, {
      on: { url: service.databaseUrl, database: service.database } as never,
    });
    await second.stop();
    expect((await listPauses(service.database, account.id)).size).toBe(1);
  });

  it('by command', async () => {
    const { id, key } = await service.account();
    const env = { DATABASE_URL: service.databaseUrl };
    await runInProcess(
      registerAccount,
      ['account', 'pause', String(id), '--reason', 'We look into it'],
      env,
    );
    const refused = await until(async () => {
      const answer = await service.send(key, anEmail());
      return answer.status === 202 ? undefined : answer;
    });
    expect(refused.body.detail).toContain('may not send: We look into it.');
    await runInProcess(registerAccount, ['account', 'resume', String(id)], env);
    await until(async () => (await service.send(key, anEmail())).status === 202);
  });
});

describe('a ramp', () => {
  it('doubles every UTC day until the account’s own quota', () => {
    const account = { dailyQuota: 1000, rampStart: 200, createdAt: '2026-11-15T23:59:00.000Z' };
    const on = (day: string) => quotaOn(Date.parse(day), account);
    expect([
      on('2026-11-15T23:59:59Z'),
      on('2026-11-16T00:00:00Z'),
      on('2026-11-17T12:00:00Z'),
      on('2026-11-18T12:00:00Z'),
      on('2036-11-18T12:00:00Z'),
    ]).toEqual([200, 400, 800, 1000, 1000]);
    expect(quotaOn(Date.now(), { ...account, rampStart: null })).toBe(1000);
  });

  it('is what the send path counts, and what the dashboard shows', async () => {
    const account = await service.account();
    const set = (change: string) =>
      service.database.query(`UPDATE accounts SET ${change} WHERE id = $1`, [account.id]);
    await set('ramp_start = 2');
    const to = ['a@example.net', 'b@example.net', 'c@example.net'];
    const refused = await service.send(account.key, anEmail({ to }));
    expect([refused.status, refused.body.detail]).toEqual([
      429,
      'The daily quota of 2 recipients has 2 left (to, cc and bcc count). It resets at 00:00 UTC.',
    ]);
    const owner = await openSignedIn(service, { accountId: account.id });
    expect((await owner.api.account.get()).quota).toMatchObject({ limit: 2, left: 2 });
    await set(`created_at = now() - interval '1 day'`);
    expect((await service.send(account.key, anEmail({ to }))).status).toBe(202);
    expect((await owner.api.account.get()).quota).toMatchObject({ limit: 4, left: 1 });
    await set(`created_at = now() - interval '4000 days'`);
    expect((await service.send(account.key, anEmail({ to }))).status).toBe(202);
    expect((await owner.api.account.get()).quota).toMatchObject({ limit: 50_000 });
  });

  it('is given to new accounts by RAMP_START, and taken by command', async () => {
    const env = { DATABASE_URL: service.databaseUrl, RAMP_START: '200' };
    const made = JSON.parse(
      (
        await runInProcess(
          registerAccount,
          ['account', 'create', '--name', 'New', '--plan', 'paid', '--json'],
          env,
        )
      ).stdout,
    );
    expect(made.ramp_start).toBe(200);
    await runInProcess(
      registerAccount,
      ['account', 'set', String(made.id), '--ramp-start', '0'],
      env,
    );
    expect((await getAccount(service.database, made.id)).rampStart).toBeNull();
    const without = await createAccount(service.database, { name: 'Old', plan: 'paid' });
    expect(without.rampStart).toBeNull();
  });
});
