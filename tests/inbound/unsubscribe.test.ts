// One-click unsubscribe (RFC 8058): headers that only their reader has, a POST that works, a GET
// that changes nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { listCaptured } from '../../src/sandbox/inbox.ts';
import { listSuppressions } from '../../src/suppressions/listing.ts';
import { captured, header } from '../support/captured.ts';
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
  await changeAccount(service.database, account.id, { oneClickUnsubscribe: true });
});
afterAll(() => service.stop());

async function unsubscribeUrl(to: string): Promise<string> {
  const { body } = await service.send(account.key, anEmail({ to: [to] }));
  const { email: got } = await captured(service.database, body.id);
  expect(header(got, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  return /^<(http.*)>$/.exec(header(got, 'list-unsubscribe')!)![1]!;
}

const suppressed = async () =>
  (await listSuppressions(service.database, account.id, { limit: 100 })).map((it) => it.address);

it('is off unless the account switches it on', async () => {
  const other = await service.account();
  const { body } = await service.send(other.key, anEmail());
  const { email: got } = await captured(service.database, body.id);
  expect(header(got, 'list-unsubscribe')).toBeUndefined();
  expect(header(got, 'list-unsubscribe-post')).toBeUndefined();
});

it('a POST suppresses the address for the account, as often as it comes', async () => {
  const url = await unsubscribeUrl('Reader@Bücher.example');
  for (let turn = 0; turn < 2; turn++) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(answer.status).toBe(200);
  }
  const [entry] = await listSuppressions(service.database, account.id, { limit: 10 });
  expect(entry).toMatchObject({
    address: 'reader@xn--bcher-kva.example',
    reason: 'unsubscribe',
    messageId: expect.stringMatching(/^msg_/),
  });
  const { body } = await service.send(account.key, anEmail({ to: ['reader@bücher.example'] }));
  await until(async () => {
    const { events } = (await service.get(account.key, `/v1/messages/${body.id}`)).body;
    expect(events).toMatchObject([{ type: 'bounced', bounce_type: 'suppressed' }]);
    return true;
  });
});

it('a GET shows a page with a button and changes nothing', async () => {
  const url = await unsubscribeUrl('looker@example.net');
  const page = await fetch(url);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toContain('<form method="post">');
  expect(html).toContain('looker@example.net');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await suppressed()).not.toContain('looker@example.net');
});

it('also works when the email itself is long forgotten', async () => {
  const url = await unsubscribeUrl('late@example.net');
  await service.database.query('DELETE FROM messages WHERE recipients = $1', [
    ['late@example.net'],
  ]);
  expect((await fetch(url, { method: 'POST' })).status).toBe(200);
  expect(await suppressed()).toContain('late@example.net');
});

it('a link that was changed does nothing', async () => {
  const url = await unsubscribeUrl('victim@example.net');
  const [base, token] = url.split('/u/');
  const bytes = Buffer.from(token!, 'base64url');
  for (let at = 0; at < bytes.length; at += 5) {
    const bent = Buffer.from(bytes);
    bent[at]! ^= 1;
    const answer = await fetch(`${base}/u/${bent.toString('base64url')}`, { method: 'POST' });
    expect(answer.status).toBe(404);
  }
  expect(await suppressed()).not.toContain('victim@example.net');
});

it('the link in the source that people of the account can read does nothing', async () => {
  const { key } = await createKey(service.database, systemClock, {
    ...{ accountId: account.id, scopes: ['messages:read'] },
  });
  const to = 'watched@example.net';
  const { id } = (await service.send(account.key, anEmail({ to: [to] }))).body;
  await captured(service.database, id);
  const { body } = await service.get(key, `/v1/messages/${id}/source`);
  const source = Buffer.from(body.content_base64, 'base64').toString();
  const [, url] = /^List-Unsubscribe:\s+<(http.*)>/m.exec(source)!;
  expect((await fetch(url!, { method: 'POST' })).status).toBe(404);
  expect(await suppressed()).not.toContain(to);
});

describe('several recipients', () => {
  it('get a copy each, with a link of their own; it is one message', async () => {
    const to = ['one@example.net', 'two@example.net'];
    const { body } = await service.send(account.key, anEmail({ to, bcc: ['three@example.net'] }));
    const copies = await until(async () => {
      const all = await listCaptured(service.database, 50);
      const mine = all.filter((it) => it.messageId === body.id);
      return mine.length === 3 && mine;
    });
    expect(copies.map((copy) => copy.recipients).sort()).toEqual([
      ['one@example.net'],
      ['three@example.net'],
      ['two@example.net'],
    ]);
    const links = new Set<string>();
    for (const copy of copies) {
      const { email: got } = await captured(service.database, copy.id);
      links.add(header(got, 'list-unsubscribe')!);
      expect(got.to?.map((it) => it.address)).toEqual(to);
    }
    expect(links.size).toBe(3);
    const { events, status } = await until(async () => {
      const timeline = (await service.get(account.key, `/v1/messages/${body.id}`)).body;
      return timeline.events.length === 4 && timeline;
    });
    expect(status).toBe('delivered');
    expect(events[0]).toMatchObject({ type: 'sent', recipients: [...to, 'three@example.net'] });
  });

  it('a header of the sender’s own is left alone', async () => {
    const own = '<https://shop.example/unsubscribe>';
    const { body } = await service.send(
      account.key,
      anEmail({ to: ['a@example.net', 'b@example.net'], headers: { 'List-Unsubscribe': own } }),
    );
    const { email: got } = await captured(service.database, body.id);
    expect(header(got, 'list-unsubscribe')).toBe(own);
    expect(header(got, 'list-unsubscribe-post')).toBeUndefined();
  });
});
