// The link that approvers get by email: looking shows the email and decides nothing, one click
// decides, once, about exactly what the page showed.
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { lapseApprovals } from '../../src/approvals/approvals.ts';
import { readUuid, showUuid } from '../../src/ids.ts';
import { setMember } from '../../src/people/users.ts';
import { systemClock } from '../../src/process/clock.ts';
import { makeUser } from '../dashboard/dashboard-client.ts';
import { captured, hrefs } from '../support/captured.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let account: TestAccount;
let owner: { id: string; email: string };
let agent: string;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  account = await service.account();
  owner = await makeUser(service.database, { accountId: account.id, role: 'owner' });
  agent = await keyOf(account.id);
});

const keyOf = async (accountId: number): Promise<string> =>
  (
    await createKey(service.database, systemClock, {
      ...{ accountId, scopes: ['email:send', 'email:read'], limits: { approval: 'always' } },
    })
  ).key;

async function hold(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await service.send(agent, anEmail(changes));
  expect(status).toBe(202);
  return body.id;
}

/** The links that this person got so far, oldest first. */
async function linksTo(email: string, count = 1): Promise<string[]> {
  const rows = await until(async () => {
    const found = await service.database.query<{ id: string }>(
      `SELECT id FROM messages WHERE tags = '{approval}' AND recipients = $1 ORDER BY id`,
      [[email]],
    );
    return found.length >= count && found;
  });
  const emails = await Promise.all(
    rows.map(({ id }) => captured(service.database, showUuid('msg_', id))),
  );
  return emails.map(({ email: { html } }) => hrefs(html).find((it) => it.includes('/approve/'))!);
}

const get = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, { redirect: 'manual', ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
};
/** By the button of a page that was looked at before, or of one that is looked at now. */
const decide = async (url: string, what: 'approve' | 'decline', page?: { text: string }) => {
  const { text } = page ?? (await get(url));
  const [, sha256 = 'a'.repeat(64)] = new RegExp(`action="\\?${what}=(\\w{64})"`).exec(text) ?? [];
  return await get(`${url}?${what}=${sha256}`, { method: 'POST' });
};

const status = async (id: string) =>
  (await service.get(account.key, `/v1/messages/${id}`)).body as Record<string, unknown>;
const isWaiting = async (id: string) => (await status(id)).held !== undefined;
const hasLeft = (id: string) =>
  until(async () => ['sent', 'delivered'].includes(String((await status(id)).status)));

describe('an emailed link', () => {
  it('shows the email; only a click approves, and it says who did', async () => {
    const id = await hold({ subject: 'Your <invoice>', html: '<p>Pay "now"</p>', text: 'Pay' });
    const [link] = await linksTo(owner.email);
    const page = await get(link!);
    expect(page.status).toBe(200);
    expect(page.text).toContain('Your &lt;invoice&gt;');
    expect(page.text).toMatch(/srcdoc="[^"]*Pay &quot;now&quot;/);
    expect(page.headers.get('cache-control')).toMatch(/no-store/);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await isWaiting(id)).toBe(true);

    const done = await decide(link!, 'approve');
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('goes out to')]);
    await hasLeft(id);
    expect((await status(id)).approval).toMatchObject({ state: 'approved', by: owner.email });
    const [audit] = await service.database.query(
      `SELECT actor_kind, actor_name FROM audit WHERE account_id = $1 AND action = 'approve_email'`,
      [account.id],
    );
    expect(audit).toEqual({ actor_kind: 'person', actor_name: owner.email });
  });

  it('programs that look at every link of an email cannot approve', async () => {
    const id = await hold();
    const [link] = await linksTo(owner.email);
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'GET']) {
      await get(link!, { method });
      await get(`${link}?approve`, { method });
    }
    for (const also of [
      ...['', '/', '/approve', '/decline', '/declin', '?approve=&decline=', '?yes', '?approve'],
      ...['?decline', '?approve=', `?approve=${'g'.repeat(64)}`, `?approve=${'a'.repeat(63)}`],
    ]) {
      const answer = await get(`${link}${also}`, { method: 'POST' });
      expect([also, answer.status]).toEqual([also, 400]);
    }
    expect(await isWaiting(id)).toBe(true);
  });

  it('declining is final, whatever stands behind the link', async () => {
    const id = await hold();
    const [link] = await linksTo(owner.email);
    expect((await decide(`${link}/`, 'decline')).text).toContain('Nobody receives');
    expect((await status(id)).approval).toMatchObject({ state: 'declined', by: owner.email });
    expect((await decide(link!, 'approve')).status).toBe(404);
    expect((await status(id)).approval).toMatchObject({ state: 'declined' });
  });

  it('acts once: neither it nor that of another approver works again', async () => {
    const other = await makeUser(service.database, { accountId: account.id, role: 'developer' });
    const id = await hold();
    const [[first], [second]] = [await linksTo(owner.email), await linksTo(other.email)];
    const both = await Promise.all([decide(first!, 'approve'), decide(second!, 'decline')]);
    expect(both.map((it) => it.status).sort()).toEqual([200, 404]);
    for (const link of [first!, second!]) {
      expect((await get(link)).status).toBe(404);
      expect((await decide(link, 'approve')).status).toBe(404);
    }
    const { approval } = (await status(id)) as { approval: { state: string } };
    expect(approval.state).toBe(both[0]!.status === 200 ? 'approved' : 'declined');
  });

  it('decides about what the page showed: after a change it has to be looked at again', async () => {
    const id = await hold();
    const [link] = await linksTo(owner.email);
    const before = await get(link!);
    expect(before.text).toContain('once approved');
    expect(before.text).not.toContain('was changed');
    const moved = await fetch(`${service.url}/v1/messages/${id}`, {
      method: 'PATCH',
      headers: { 'x-api-key': agent, 'content-type': 'application/json' },
      body: JSON.stringify({ scheduled_at: new Date(Date.now() + 3_600_000).toISOString() }),
    });
    expect(moved.status).toBe(200);
    for (const wish of ['approve', 'decline'] as const) {
      const late = await decide(link!, wish, before);
      expect([late.status, late.text]).toEqual([
        409,
        expect.stringContaining('Nothing was decided'),
      ]);
    }
    expect(await isWaiting(id)).toBe(true);
    const now = await get(link!);
    expect(now.text).toContain('It was changed after this link was emailed to you');
    expect(now.text).toMatch(/Goes out<\/th><td>\d+ \w+ \d{4}.{1,4}\d\d:\d\d UTC/);
    expect((await decide(link!, 'approve', now)).status).toBe(200);
    expect((await status(id)).approval).toMatchObject({ state: 'approved', by: owner.email });
  });

  it('ends with its email’s day', async () => {
    const id = await hold();
    const [link] = await linksTo(owner.email);
    await service.database.query(
      `UPDATE approvals SET expires_at = now() - interval '1 second' WHERE message_id = $1`,
      [readUuid('msg_', id)],
    );
    expect((await get(link!)).status).toBe(404);
    expect((await decide(link!, 'approve')).status).toBe(404);
    await lapseApprovals(service.database);
    expect((await status(id)).approval).toMatchObject({ state: 'expired', by: null });
  });

  it('is nothing without its person, in another account, or changed by one letter', async () => {
    const id = await hold();
    const [link] = await linksTo(owner.email);
    const token = link!.split('/').at(-1)!;
    const other = await service.account();
    const bytes = Buffer.from(token, 'base64url');
    bytes.writeUIntBE(other.id, 0, 6);
    const forged = [
      bytes.toString('base64url'),
      token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A'),
      `${token}A`,
      token.slice(1),
      '',
      'x'.repeat(40),
      `${token}%00`,
    ];
    for (const wrong of forged) {
      const answer = await decide(link!.replace(token, wrong), 'approve');
      expect([wrong, answer.status]).toEqual([wrong, 404]);
    }
    await setMember(service.database, account.id, owner.id, 'viewer');
    expect((await decide(link!, 'approve')).status).toBe(404);
    expect(await isWaiting(id)).toBe(true);
    await setMember(service.database, account.id, owner.id, 'owner');
    expect((await decide(link!, 'approve')).status).toBe(200);
  });

  it('goes to those who may approve, and to nobody else', async () => {
    const viewer = await makeUser(service.database, { accountId: account.id, role: 'viewer' });
    const elsewhere = await makeUser(service.database, {
      accountId: (await service.account()).id,
      role: 'owner',
    });
    await hold();
    await linksTo(owner.email);
    const others = await service.database.query(
      `SELECT FROM messages WHERE tags = '{approval}' AND recipients && $1`,
      [[viewer.email, elsewhere.email]],
    );
    expect(others).toEqual([]);
  });

  it('is readable by no key of the account, in the mailbox for tests either', async () => {
    await hold();
    const [link] = await linksTo(owner.email);
    const token = link!.split('/').at(-1)!;
    const { key } = await createKey(service.database, systemClock, {
      ...{ accountId: account.id, scopes: ['admin', 'email:read'] },
    });
    const [own] = await service.database.query<{ id: string }>(
      `SELECT id FROM messages WHERE tags = '{approval}' AND recipients = $1`,
      [[owner.email]],
    );
    const id = showUuid('msg_', own!.id);
    const answers = await Promise.all(
      [
        `/v1/messages/${id}`,
        `/v1/messages/${id}/content`,
        `/v1/messages/${id}/source`,
        '/v1/messages',
        '/v1/sandbox/messages',
        '/v1/audit',
      ].map((path) => service.get(key, path).catch(() => ({ body: null }))),
    );
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(token);
    const emails = await service.get(key, '/v1/sandbox/messages');
    for (const { id: captureId } of emails.body.data as { id: string }[]) {
      for (const part of ['', '/raw', '/html']) {
        const one = await get(`${service.url}/v1/sandbox/messages/${captureId}${part}`, {
          headers: { 'x-api-key': key },
        });
        expect(one.text).not.toContain(token);
      }
    }
  });
});

describe('large emails', () => {
  /** Asks, and never reads the answer; whether it began, and how to hang up. */
  function ask(link: string) {
    const { port, pathname } = new URL(link);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
    const began = new Promise<void>((resolve) => socket.once('readable', () => resolve()));
    return { began, hangUp: () => void socket.destroy() };
  }

  // Five times as long once it is escaped: more than sockets take for readers that do not read.
  const html = "'".repeat(3_000_000);

  it('are shown in the turns of all that read whole emails: two of an account at a time', async () => {
    for (let n = 0; n < 3; n++) await hold({ html, subject: `Large ${n}` });
    const links = await linksTo(owner.email, 3);
    const first = links.slice(0, 2).map(ask);
    await Promise.all(first.map(({ began }) => began));
    const third = ask(links[2]!);
    let thirdBegan = false;
    void third.began.then(() => {
      thirdBegan = true;
    });
    account = await service.account();
    const other = await makeUser(service.database, { accountId: account.id, role: 'owner' });
    agent = await keyOf(account.id);
    await hold();
    const [ofOther] = await linksTo(other.email);
    expect((await get(ofOther!)).status).toBe(200);
    expect(thirdBegan).toBe(false);
    first[0]!.hangUp();
    await third.began;
    for (const { hangUp } of [...first, third]) hangUp();
  });

  it('are shown whole, and leave as they were shown', async () => {
    const text = `${'x'.repeat(65_535)}😀&<é`;
    const id = await hold({ html: `<p>${text}</p>`, text });
    const [link] = await linksTo(owner.email);
    const page = await get(link!);
    expect(page.text).toContain(`<pre>${text.replace('&<', '&amp;&lt;')}</pre>`);
    expect((await decide(link!, 'approve', page)).status).toBe(200);
    await hasLeft(id);
  });
});
