// Batches that are sent again: one key for the whole batch, or a key for each email. Nobody is
// emailed twice, and a key stands for one request.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { emails, PERMISSIVE, postBatch, queued, spoilt } from './batch-support.ts';

let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

const post = async (batch: unknown, headers?: Record<string, string>) =>
  await postBatch(service, account.key, batch, headers);
const fresh = async () => {
  account = await service.account();
};
const count = async () => (await queued(service, account.id)).length;
const USED = /was used with another request/;

describe('one Idempotency-Key for the whole batch', () => {
  const KEY = { 'idempotency-key': 'batch-1' };

  it('the same batch again answers the same ids and queues nothing', async () => {
    await fresh();
    const first = await post(emails(3), KEY);
    const again = await post(emails(3), KEY);
    expect(again.status).toBe(202);
    expect(again.body).toEqual(first.body);
    expect(await count()).toBe(3);
  });

  it('ten times at once queues it once', async () => {
    await fresh();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(emails(5), KEY)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await count()).toBe(5);
  });

  it.each([
    ['another email in it', spoilt(3, 1, { subject: 'Other' })],
    ['one more', emails(4)],
    ['one less', emails(2)],
    ['another order', emails(3).reverse()],
  ])('%s → 400, strict and permissive, and nothing is queued', async (_, other) => {
    await fresh();
    await post(emails(3), KEY);
    for (const headers of [KEY, { ...KEY, ...PERMISSIVE }]) {
      const { status, body } = await post(other, headers);
      expect({ status, data: body.data }).toEqual({ status: 400, data: [] });
      expect(body.errors[0].detail).toMatch(USED);
    }
    expect(await count()).toBe(3);
  });

  it('a strict batch that was refused can be corrected and sent under the same key', async () => {
    await fresh();
    expect((await post(spoilt(3, 1, { to: ['nobody'] }), KEY)).status).toBe(400);
    expect((await post(emails(3), KEY)).status).toBe(202);
    expect(await count()).toBe(3);
  });

  it('what was over the quota is tried again, the rest answers as it did', async () => {
    account = await service.account({ dailyQuota: 2 });
    const first = await post(emails(3), { ...KEY, ...PERMISSIVE });
    expect(first.body).toMatchObject({ data: [{}, {}], errors: [{ index: 2 }] });
    await service.database.query('UPDATE accounts SET daily_quota = 10 WHERE id = $1', [
      account.id,
    ]);
    const again = await post(emails(3), { ...KEY, ...PERMISSIVE });
    expect(again.body.errors).toEqual([]);
    expect(again.body.data.slice(0, 2)).toEqual(first.body.data);
    expect(await count()).toBe(3);
  });

  it('is not the key of a single send, nor of another account', async () => {
    await fresh();
    const single = await service.send(account.key, emails(1)[0]!, KEY);
    const batch = await post(emails(1), KEY);
    expect([single.status, batch.status]).toEqual([202, 202]);
    expect(batch.body.data[0].id).not.toBe(single.body.id);
    await fresh();
    expect((await post(emails(2), KEY)).status).toBe(202);
  });

  it.each(['', 'x'.repeat(256)])('a bad key (%#) → 400', async (key) => {
    await fresh();
    const { status } = await post(emails(1), { 'idempotency-key': key });
    expect(status).toBe(400);
  });
});

describe('a key for each email', () => {
  const keyed = (n: number, changes: Record<string, unknown> = {}) =>
    anEmail({ to: [`person-${n}@example.net`], idempotency_key: `key-${n}`, ...changes });

  it('the same emails again answer the same ids; new ones are queued', async () => {
    await fresh();
    const first = await post([keyed(1), keyed(2)]);
    const again = await post([keyed(2), keyed(3), keyed(1)]);
    expect(again.status).toBe(202);
    expect(again.body.data[0]).toEqual(first.body.data[1]);
    expect(again.body.data[2]).toEqual(first.body.data[0]);
    expect(await count()).toBe(3);
  });

  it('is the key of a single send: the same email by itself, or in a batch', async () => {
    await fresh();
    const single = await service.send(account.key, anEmail(), { 'idempotency-key': 'one' });
    const batch = await post([anEmail({ idempotency_key: 'one' })]);
    expect(batch.body.data[0].id).toBe(single.body.id);
    const later = await service.send(account.key, anEmail({ to: ['person-1@example.net'] }), {
      'idempotency-key': 'key-1',
    });
    const other = await post([keyed(1)]);
    expect(other.body.data[0].id).toBe(later.body.id);
    expect(await count()).toBe(2);
  });

  it('used by an earlier send with other content: strict refuses all, permissive this one', async () => {
    await fresh();
    await service.send(account.key, anEmail({ subject: 'Before' }), { 'idempotency-key': 'key-1' });
    const batch = [keyed(0), keyed(1), keyed(2)];
    const strict = await post(batch);
    expect({ status: strict.status, errors: strict.body.errors.length }).toEqual({
      status: 400,
      errors: 1,
    });
    expect(strict.body.errors[0]).toMatchObject({ index: 1, detail: expect.stringMatching(USED) });
    expect(await count()).toBe(1);
    const permissive = await post(batch, PERMISSIVE);
    expect(permissive.status).toBe(202);
    expect(permissive.body.errors).toMatchObject([{ index: 1 }]);
    expect(await count()).toBe(3);
  });

  it('twice within a batch: the same email goes once, another is a conflict', async () => {
    await fresh();
    const same = await post([keyed(1), keyed(1)]);
    expect(same.status).toBe(202);
    expect(same.body.data[1]).toEqual(same.body.data[0]);
    expect(await count()).toBe(1);

    await fresh();
    const other = [keyed(1), keyed(1, { subject: 'Other' })];
    expect((await post(other)).status).toBe(400);
    expect(await count()).toBe(0);
    const permissive = await post(other, PERMISSIVE);
    expect(permissive.body).toMatchObject({ data: [{}], errors: [{ index: 1 }] });
    expect(await count()).toBe(1);
  });

  it('of a strict batch that was refused is free again', async () => {
    account = await service.account({ dailyQuota: 1 });
    expect((await post([keyed(1), keyed(2)])).status).toBe(429);
    const single = await service.send(account.key, anEmail({ subject: 'New' }), {
      'idempotency-key': 'key-1',
    });
    expect(single.status).toBe(202);
  });

  it('goes before that of the whole batch', async () => {
    await fresh();
    const key = { 'idempotency-key': 'all' };
    const first = await post([keyed(1), anEmail()], key);
    const alone = await post([keyed(1)]);
    expect(alone.body.data[0]).toEqual(first.body.data[0]);
    expect((await post([keyed(1), anEmail()], key)).body).toEqual(first.body);
  });

  it('with control characters or over 255 → 400 that names the email', async () => {
    await fresh();
    const { status, body } = await post([anEmail(), anEmail({ idempotency_key: 'x'.repeat(256) })]);
    expect({ status, index: body.errors[0].index }).toEqual({ status: 400, index: 1 });
  });
});
