// Links that no longer lead anywhere: of a suspended or deleted account, or switched off by an
// operator. Pixels still answer, and unsubscribing still works.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { resumeAccount, suspendAccount } from '../../src/accounts/suspension.ts';
import { registerLink } from '../../src/cli/link.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import { makeToken } from '../../src/tracking/token.ts';
import { captured, header, hrefs, pixelOf } from '../support/captured.ts';
import { runInProcess } from '../support/command.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0';
const HTML =
  '<p><a href="https://shop.example/a?b=1">A</a> <a href="https://www.evil.example/x">B</a></p>';
let service: TestService;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

const visit = (url: string) => fetch(url, { redirect: 'manual', headers: { 'user-agent': AGENT } });

async function sendTracked(account: TestAccount) {
  const { id } = (await service.send(account.key, anEmail({ html: HTML }))).body;
  const { email: got } = await captured(service.database, id);
  const [shop, evil] = hrefs(got.html);
  const unsubscribe = header(got, 'list-unsubscribe')?.slice(1, -1);
  return { id: id as string, shop: shop!, evil: evil!, pixel: pixelOf(got.html)!, unsubscribe };
}

/** Of its one message; its keys answer 403 while the account is suspended. */
const kindsOf = async (account: TestAccount): Promise<string[]> =>
  (
    await service.database.query<{ kind: string }>(
      'SELECT kind FROM events WHERE account_id = $1 ORDER BY at',
      [account.id],
    )
  ).map(({ kind }) => kind);

const link = (...args: string[]) =>
  runInProcess((program) => registerLink(program), ['link', ...args], {
    DATABASE_URL: service.databaseUrl,
  });

/** What is switched off is so within seconds, everywhere. */
const untilStatus = (url: string, status: number) =>
  until(async () => (await visit(url)).status === status);

describe('a suspended account', () => {
  it('leads nobody anywhere and learns of nobody; unsubscribing still works', async () => {
    const account = await service.account();
    await changeAccount(service.database, account.id, { oneClickUnsubscribe: true });
    const { shop, pixel, unsubscribe } = await sendTracked(account);
    expect((await visit(shop)).headers.get('location')).toBe('https://shop.example/a?b=1');
    await until(async () => (await kindsOf(account)).includes('clicked'));

    await suspendAccount(service.database, account.id, 'phishing');
    await untilStatus(shop, 410);
    const answer = await visit(shop);
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.get('cache-control')).toContain('no-store');
    const page = await answer.text();
    expect(page).toContain('This link is switched off');
    expect(page).not.toContain('shop.example');
    const opened = await visit(pixel);
    expect(opened.status).toBe(200);
    expect(opened.headers.get('content-type')).toBe('image/gif');
    expect((await fetch(unsubscribe!, { method: 'POST' })).status).toBe(200);
    const rows = await service.database.query(
      `SELECT FROM unsubscribes WHERE account_id = $1 AND stream = 'transactional'`,
      [account.id],
    );
    expect(rows).toHaveLength(1);

    await resumeAccount(service.database, account.id);
    await until(async () => (await visit(shop)).status === 302);
    // The pixel's visit while it was suspended would have been recorded long before this one.
    await until(async () => {
      await visit(pixel);
      return (await kindsOf(account)).includes('opened');
    });
    const opens = (await kindsOf(account)).filter((kind) => kind === 'opened');
    expect(opens.length).toBeLessThanOrEqual(2);
  });

  it('that is gone altogether leads nobody anywhere either', async () => {
    const key = (await openSecret(service.database, undefined)).tokenKeys('tracking')[0];
    const token = makeToken(key, {
      kind: 'click',
      accountId: 987_654,
      messageId: createHmac('sha256', key).update('x').digest().subarray(0, 16),
      index: 0,
      place: 0,
      expiresMs: Date.now() + 86_400_000,
      url: 'https://shop.example/',
    });
    expect((await visit(`${service.url}/c/${token}`)).status).toBe(410);
  });
});

describe('an operator', () => {
  it('switches off one target of a message, and on again', async () => {
    const account = await service.account();
    const { id, shop, evil } = await sendTracked(account);
    const other = await sendTracked(account);
    const url = 'https://www.evil.example/x';
    expect((await link('disable', id, '--url', url, '--reason', 'phishing')).code).toBe(0);
    await untilStatus(evil, 410);
    expect((await visit(shop)).status).toBe(302);
    expect((await visit(other.evil)).status).toBe(302);
    expect((await link('list')).stdout).toMatch(new RegExp(`${id}.*${url}.*phishing`));
    expect((await link('enable', id, '--url', url)).code).toBe(0);
    await untilStatus(evil, 302);
  });

  it('switches off all links of a message', async () => {
    const account = await service.account();
    const { id, shop, evil } = await sendTracked(account);
    const other = await sendTracked(account);
    await link('disable', id);
    await untilStatus(shop, 410);
    expect((await visit(evil)).status).toBe(410);
    expect((await visit(other.shop)).status).toBe(302);
  });

  it('switches off a host and the names below it, for everyone', async () => {
    const one = await sendTracked(await service.account());
    const two = await sendTracked(await service.account());
    await link('disable', '--host', 'Evil.Example.');
    await untilStatus(one.evil, 410);
    await untilStatus(two.evil, 410);
    expect((await visit(one.shop)).status).toBe(302);
    expect((await link('enable', '--host', 'evil.example')).code).toBe(0);
    await untilStatus(one.evil, 302);
  });

  it.each([
    [['disable'], 'Give a message'],
    [['disable', 'msg_x', '--host', 'a.example'], 'Give a message'],
    [['disable', 'nonsense'], 'not a message id'],
    [['disable', 'msg_01M7HPT4FG4PMXVJD4EMG60KQ8'], 'There is no message'],
    [['disable', '--host', 'https://a.example/'], 'not a host name'],
    [['disable', '--host', 'a.example', '--url', 'https://a.example/'], 'Use --url with'],
    [['enable', 'msg_01M7HPT4FG4PMXVJD4EMG60KQ8'], 'Nothing like that'],
  ])('is told what is wrong with %j', async (args, said) => {
    expect(await link(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
  });
});
