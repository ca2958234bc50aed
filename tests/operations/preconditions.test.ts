// Two people edit one thing: whoever read it before the other changed it is told what changed, and
// changes nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { countLockWaits } from '../support/lock-waits.ts';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
let key: string;
beforeAll(async () => {
  service = await startTestService({ WEBHOOK_ALLOW: '127.0.0.0/8' });
  account = await service.account({ scopes: ['admin'] });
  key = account.key;
});
afterAll(() => service?.stop());

const call = (
  method: string,
  path: string,
  body?: object,
  ifMatch?: string,
  who: Record<string, string> = { 'x-api-key': key },
) =>
  request(`${service.url}${path}`, {
    method,
    headers: {
      ...who,
      ...(body && { 'content-type': 'application/json' }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });

it('a refusal names the fields that the other changed, and only those', async () => {
  const read = (await call('GET', '/v1/account')).headers.get('etag')!;
  const other = await call('PATCH', '/v1/account', { name: 'Theirs' }, read);
  expect(other.status).toBe(200);
  const { status, body } = await call('PATCH', '/v1/account', { track_opens: false }, read);
  expect({ status, body }).toMatchObject({
    status: 412,
    body: {
      code: 'stale',
      detail: expect.stringContaining('Someone changed this after you read it: name.'),
      faults: [{ path: 'name', message: 'name is now "Theirs"' }],
    },
  });
  const now = await call('GET', '/v1/account');
  expect(now.body.track_opens).not.toBe(false);
  // What the change answered is the newest, so that the next change can be based on it.
  expect(now.headers.get('etag')).toBe(other.headers.get('etag'));
  for (const tag of [other.headers.get('etag')!, `"stale", ${other.headers.get('etag')}`]) {
    expect((await call('PATCH', '/v1/account', { track_opens: true }, tag)).status).toBe(200);
  }
});

it('what changes by itself is no edit', async () => {
  const read = (await call('GET', '/v1/account')).headers.get('etag')!;
  const sent = await service.send((await service.account()).key, anEmail());
  expect(sent.status).toBe(202);
  expect((await call('GET', '/v1/account')).headers.get('etag')).toBe(read);
});

it('of twenty who read the same only one changes it', async () => {
  const read = (await call('GET', '/v1/account')).headers.get('etag')!;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => call('PATCH', '/v1/account', { name: `By ${n}` }, read)),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([200, ...Array(19).fill(412)]);
});

it('an owner and an operator who read the same account do not overwrite each other', async () => {
  const { cookie } = await openSignedIn(service, { operator: true });
  const operator = { cookie: cookie!, 'x-sm-dashboard': '1', origin: service.url };
  const operated = `/v1/accounts/${account.id}`;
  const read = (await call('GET', '/v1/account')).headers.get('etag')!;
  const known = (await call('GET', operated, undefined, undefined, operator)).headers.get('etag')!;
  // Neither can write while the row is locked, so both have compared what can be compared by then.
  const answers = await service.database.transaction(async (client) => {
    await client.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [account.id]);
    const both = [
      call('PATCH', '/v1/account', { name: 'The owner’s' }, read),
      call('PATCH', operated, { name: 'The operator’s' }, known, operator),
    ];
    await until(async () => (await countLockWaits(service.database)) === 2);
    return both;
  });
  const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 412]);
});

it('what a worker changes between the comparison and the change is not overwritten', async () => {
  const { body: made } = await call('POST', '/v1/webhooks', { url: 'https://127.0.0.1/hooks' });
  const path = `/v1/webhooks/${made.id}`;
  const read = (await call('GET', path)).headers.get('etag')!;
  // As webhooks/outcomes.ts does; until it commits, others see the endpoint as it was.
  const answer = await service.database.transaction(async (client) => {
    await client.query(
      `UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone'
       WHERE account_id = $1 AND disabled_at IS NULL`,
      [account.id],
    );
    const answer = [
      call('PATCH', path, { event_types: ['bounce'] }, read),
      call('DELETE', path, undefined, read),
    ];
    await until(async () => (await countLockWaits(service.database)) === 2);
    return answer;
  });
  for (const { status, body } of await Promise.all(answer)) {
    expect({ status, body }).toMatchObject({
      status: 412,
      body: { faults: [{ path: 'enabled' }] },
    });
  }
  expect((await call('GET', path)).body).toMatchObject({ event_types: [], enabled: false });
});

it('a stream is removed only as it was read, and one that is not there is not made', async () => {
  const put = (body: object, tag?: string) => call('PUT', '/v1/streams/news', body, tag);
  const made = await put({ title: 'News', kind: 'broadcast' });
  expect(made.status, JSON.stringify(made.body)).toBeLessThan(300);
  const read = made.headers.get('etag')!;
  expect((await put({ title: 'Other news' }, read)).status).toBe(200);
  expect((await call('DELETE', '/v1/streams/news', undefined, read)).status).toBe(412);
  const newest = (await call('GET', '/v1/streams/news')).headers.get('etag')!;
  expect((await call('DELETE', '/v1/streams/news', undefined, newest)).status).toBe(200);
  for (const tag of [newest, '*']) {
    const never = await call('PUT', '/v1/streams/never', { kind: 'broadcast', title: 'x' }, tag);
    expect(never.status).toBe(412);
  }
});

it.each([
  ['nothing', ''],
  ['half a quote', '"'],
  ['two without a comma', '"a" "b"'],
  ['not ASCII', 'ä'],
  ['endless', `"${'x'.repeat(3000)}"`],
])('what is no ETag of ours (%s) is refused, not ignored', async (_, tag) => {
  const { status } = await call('PATCH', '/v1/account', { name: 'Never' }, tag);
  expect([400, 412]).toContain(status);
  expect((await call('GET', '/v1/account')).body.name).not.toBe('Never');
});
