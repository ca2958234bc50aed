// Batches and limits: quota, rate, a key's own rules, the relay and the account's state count for
// each email, exactly, also over two processes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { pauseAccount } from '../../src/accounts/pause.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { fromTemplate } from '../templates/support.ts';
import { emails, PERMISSIVE, postBatch, queued } from './batch-support.ts';

let test: TestDatabase;
let service: TestService;
let second: TestService;
beforeAll(async () => {
  test = await createTestDatabase();
  service = await startTestService({ ROLES: 'api' }, { on: test });
  second = await startTestService({ ROLES: 'api' }, { on: test });
});
afterAll(async () => {
  await service.stop();
  await second.stop();
  await test.drop();
});

const left = async (accountId: number) =>
  await service.database.query<{ recipients: number; tokens: number }>(
    'SELECT recipients::integer, tokens::integer FROM account_usage WHERE account_id = $1',
    [accountId],
  );

describe('the daily quota', () => {
  it('counts every recipient of every email', async () => {
    const { id, key } = await service.account({ dailyQuota: 1000 });
    const { headers } = await postBatch(service, key, emails(10, { cc: ['c@example.net'] }));
    expect(headers.get('ratelimit-remaining')).toBe('980');
    expect(await left(id)).toMatchObject([{ recipients: 20 }]);
  });

  it('strict: a batch that does not fit is refused whole and counts nothing', async () => {
    const { id, key } = await service.account({ dailyQuota: 5 });
    const { status, body, headers } = await postBatch(service, key, emails(7));
    expect(status).toBe(429);
    expect(body.errors.map(({ index }: { index: number }) => index)).toEqual([5, 6]);
    expect(body.errors[0].detail).toContain('quota of 5 recipients has 5 left');
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await queued(service, id)).toEqual([]);
    expect(await left(id)).toMatchObject([{ recipients: 0 }]);
    expect((await postBatch(service, key, emails(5))).status).toBe(202);
    expect((await service.send(key, anEmail())).status).toBe(429);
  });

  it('permissive: takes what fits, in order, also behind one that does not', async () => {
    const { id, key } = await service.account({ dailyQuota: 5 });
    const batch = emails(6);
    batch[3] = anEmail({ to: ['x@example.net', 'y@example.net', 'z@example.net'] });
    const { status, body, headers } = await postBatch(service, key, batch, PERMISSIVE);
    expect(status).toBe(202);
    expect(body.data).toHaveLength(5);
    expect(body.errors).toMatchObject([{ index: 3, code: 'over-limit' }]);
    expect(headers.get('ratelimit-remaining')).toBe('0');
    expect(await left(id)).toMatchObject([{ recipients: 5 }]);
  });

  it('is exact over two processes that are asked at once', async () => {
    const { id, key } = await service.account({ dailyQuota: 55 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => postBatch(n % 2 ? service : second, key, emails(10))),
    );
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
    expect(await queued(service, id)).toHaveLength(50);
    expect(await left(id)).toMatchObject([{ recipients: 50 }]);
  });
});

describe('the rate', () => {
  it('counts each email as a call; strict refuses whole, and says how long until all fit', async () => {
    const { id, key } = await service.account({ ratePerSecond: 10 });
    expect((await postBatch(service, key, emails(15))).status).toBe(202);
    expect((await left(id))[0]!.tokens).toBeLessThan(20);
    // Nothing is refilled before then.
    await service.database.query(
      "UPDATE account_usage SET tokens = 5, refilled_at = now() + '1 hour' WHERE account_id = $1",
      [id],
    );
    const { status, headers, body } = await postBatch(service, key, emails(20));
    expect(status).toBe(429);
    // 15 more than are left, at 10 a second.
    expect(Number(headers.get('retry-after'))).toBe(2);
    expect(body.detail).toContain('each email of a batch counts');
    expect(await queued(service, id)).toHaveLength(15);
  });

  it('a batch that can never pass at once says so', async () => {
    const { id, key } = await service.account({ ratePerSecond: 1 });
    const { status, body } = await postBatch(service, key, emails(5));
    expect(status).toBe(429);
    expect(body.detail).toContain('At most 2 pass at once: send smaller batches.');
    expect(await queued(service, id)).toEqual([]);
    const permissive = await postBatch(service, key, emails(5), PERMISSIVE);
    expect(permissive.body).toMatchObject({ data: [{}, {}], errors: [{}, {}, {}] });
  });
});

describe('rules of an API key', () => {
  const limited = async (limits: Partial<AgentLimits>) => {
    const account = await service.account();
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send'],
      limits,
    });
    return { ...account, key };
  };
  const used = async (accountId: number) =>
    await service.database.query<{ recipients: number }>(
      'SELECT recipients::integer FROM key_usage WHERE account_id = $1',
      [accountId],
    );

  it('the daily cap: strict refuses whole and counts nothing, permissive takes what fits', async () => {
    const { id, key } = await limited({ dailyCap: 3 });
    const strict = await postBatch(service, key, emails(4));
    expect(strict.status).toBe(403);
    expect(strict.body.errors).toMatchObject([{ index: 3, code: 'forbidden' }]);
    expect(await queued(service, id)).toEqual([]);
    expect((await used(id))[0]?.recipients ?? 0).toBe(0);
    expect(await left(id)).toMatchObject([{ recipients: 0 }]);
    const permissive = await postBatch(service, key, emails(4), PERMISSIVE);
    expect(permissive.body).toMatchObject({ data: [{}, {}, {}], errors: [{ index: 3 }] });
    expect(await used(id)).toEqual([{ recipients: 3 }]);
  });

  it('who it may write to is asked of each email', async () => {
    const { id, key } = await limited({ allowedRecipients: ['person-1@example.net'] });
    expect((await postBatch(service, key, emails(3))).status).toBe(403);
    const { body } = await postBatch(service, key, emails(3), PERMISSIVE);
    expect(body.errors).toMatchObject([{ index: 0 }, { index: 2 }]);
    expect((await queued(service, id)).map(({ to }) => to[0])).toEqual(['person-1@example.net']);
  });

  it('templates only: also where the words stand beside the recipients', async () => {
    const { key } = await limited({ templatesOnly: true, senders: ['hello@example.com'] });
    const toMany = (changes: object) => ({
      ...{ from_email: 'hello@example.com', recipients: [{ to: 'a@example.net' }] },
      ...changes,
    });
    const { status } = await postBatch(service, key, toMany({ subject: 'x', text: 'x' }));
    expect(status).toBe(403);
    const variables = { name: 'A', action_url: 'https://example.com/' };
    const good = toMany({ template: 'welcome', variables });
    expect((await postBatch(service, key, good)).status).toBe(202);
  });

  it('sandbox only: every email of it is marked for the sandbox', async () => {
    const { id, key } = await limited({ sandboxOnly: true });
    expect((await postBatch(service, key, emails(3))).status).toBe(202);
    const rows = await service.database.query<{ head: Buffer }>(
      'SELECT head FROM contents WHERE account_id = $1',
      [id],
    );
    expect(rows.map(({ head }) => JSON.parse(head.toString()).sandbox)).toEqual([true, true, true]);
  });
});

describe('who may send at all is asked once', () => {
  it('no key, an account that does not pay, a key without the scope', async () => {
    const free = await service.account({ plan: 'free' });
    const reader = await service.account({ scopes: ['email:read'] });
    expect((await postBatch(service, 'sm_live_nothing', emails(1))).status).toBe(401);
    expect((await postBatch(service, free.key, emails(1))).status).toBe(402);
    expect((await postBatch(service, reader.key, emails(1))).status).toBe(403);
  });

  it('a paused account is refused as a whole, and its reason told', async () => {
    const { id, key } = await service.account();
    await pauseAccount(service.database, id, 'Too many complaints.');
    const single = await service.send(key, anEmail());
    const { status, body } = await postBatch(service, key, emails(3), PERMISSIVE);
    expect({ status, detail: body.detail }).toEqual({
      status: single.status,
      detail: single.body.detail,
    });
    expect(body.errors).toBeUndefined();
  });
});

it('templates of one batch are rendered within the account’s time like others', async () => {
  const { key } = await service.account();
  const variables = { name: 'A', action_url: 'https://example.com/' };
  const batch = Array.from({ length: 100 }, (_, n) =>
    fromTemplate('welcome', variables, { to: [`person-${n}@example.net`] }),
  );
  const { status, body } = await postBatch(service, key, batch);
  expect({ status, errors: body.errors }).toEqual({ status: 202, errors: [] });
});
