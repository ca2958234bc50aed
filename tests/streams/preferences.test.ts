// The preference page: whoever has the link chooses for themselves, and for nobody else; nothing
// works without the link.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suspendAccount } from '../../src/accounts/suspension.ts';
import { ALL_STREAMS, streamsLeftBy } from '../../src/suppressions/unsubscribes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { openStreams, type Streams } from './support.ts';

let service: TestService;
let mine: Streams;

beforeAll(async () => {
  service = await startTestService();
  mine = await openStreams(service);
  await mine.put('news', { kind: 'broadcast', title: 'Product news', description: 'Monthly.' });
  await mine.put('offers', { kind: 'broadcast', title: 'Offers <b>&' });
  await mine.put('receipts', { kind: 'transactional' });
  await mine.call('PATCH', '/v1/branding', {
    brand_name: 'Acme "& Sons" <script>alert(1)</script>',
    primary_color: '#123456',
    support_email: 'help@example.com',
  });
});
afterAll(() => service.stop());

/** The page that someone's own copy leads to. */
async function pageOf(to: string, whose = mine): Promise<string> {
  const url = await whose.unsubscribeUrl(await whose.send({ to: [to], stream: 'news' }));
  const unsubscribing = await (await fetch(url!)).text();
  const [, link] = /<a href="([^"]+)"/.exec(unsubscribing)!;
  return new URL(link!, url).href;
}

const post = (url: string, fields: [string, string][]) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });

const ASKED: [string, string][] = [
  ['asked', 'news'],
  ['asked', 'offers'],
];
const want = (...streams: string[]): [string, string][] => [
  ...ASKED,
  ...streams.map((stream): [string, string] => ['wanted', stream]),
];
const left = async (address: string) =>
  [...(await streamsLeftBy(service.database, mine.account.id, address))].sort();

const isChecked = (html: string, stream: string) =>
  new RegExp(`name="wanted" value="${stream}"[^>]* checked`).test(html);

it('shows the streams that can be left with what they mean, in the account’s name, every word escaped', async () => {
  const answer = await fetch(await pageOf('shown@example.net'));
  const html = await answer.text();
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(html).toContain('shown@example.net');
  expect(html).toContain('Product news');
  expect(html).toContain('Monthly.');
  expect(html).toContain('Offers &lt;b&gt;&amp;');
  expect(html).toContain('#123456');
  expect(html).not.toContain('<script');
  expect(html).not.toContain('receipts');
  expect([isChecked(html, 'news'), isChecked(html, 'offers')]).toEqual([true, true]);
});

it('looking at it changes nothing; choosing changes what was chosen, as often as wanted', async () => {
  const to = 'chooser@example.net';
  const url = await pageOf(to);
  for (const method of ['GET', 'HEAD', 'GET']) await fetch(url, { method });
  expect(await left(to)).toEqual([]);
  for (const chosen of [['offers'], ['news'], ['news', 'offers'], []]) {
    const answer = await post(url, want(...chosen));
    expect(answer.status).toBe(303);
    const html = await (await fetch(new URL(answer.headers.get('location')!, url))).text();
    expect(html).toContain('Your choices are saved.');
    const expected = ['news', 'offers'].filter((stream) => !chosen.includes(stream));
    expect(await left(to)).toEqual(expected);
    for (const stream of ['news', 'offers']) {
      expect(isChecked(html, stream)).toBe(chosen.includes(stream));
    }
  }
});

it('everything is left with one button, also what comes later; choosing one again leaves the rest', async () => {
  const to = 'nothing@example.net';
  const url = await pageOf(to);
  await post(url, [['none', 'yes']]);
  expect(await left(to)).toEqual([ALL_STREAMS]);
  const html = await (await fetch(url)).text();
  expect(html).toContain('unsubscribed from everything');
  expect(isChecked(html, 'news')).toBe(false);
  await post(url, want());
  expect(await left(to)).toContain(ALL_STREAMS);
  await post(url, want('news'));
  expect(await left(to)).toEqual(['offers']);
  expect(await mine.fateOf(await mine.send({ to: [to], stream: 'news' }))).toBe('sent');
});

it('a stream that was made after the page was opened was refused by nobody', async () => {
  const to = 'early@example.net';
  const url = await pageOf(to);
  await mine.put('later', { kind: 'broadcast' });
  await post(url, want('news'));
  expect(await left(to)).toEqual(['offers']);
  await mine.call('DELETE', '/v1/streams/later');
});

it('takes back no bounce and no complaint, and says that nothing is sent', async () => {
  const to = 'bounced@example.net';
  const url = await pageOf(to);
  await mine.call('PUT', `/v1/suppressions/${to}`);
  await post(url, want('news', 'offers'));
  expect((await mine.call('GET', `/v1/suppressions/${to}`)).body.reason).toBe('manual');
  expect(await (await fetch(url)).text()).toContain('No email is sent to this address');
});

it('what was left and cannot be left any more is still shown, so that it can be taken back', async () => {
  const to = 'stuck@example.net';
  await mine.call('PUT', `/v1/suppressions/${to}`, { stream: 'receipts' });
  const url = await pageOf(to);
  expect(await (await fetch(url)).text()).toContain('value="receipts"');
  const form: [string, string][] = [
    ['asked', 'receipts'],
    ['wanted', 'receipts'],
  ];
  await post(url, form);
  expect(await left(to)).toEqual([]);
});

it('works while the account is suspended', async () => {
  const to = 'late@example.net';
  const theirs = await openStreams(service);
  await theirs.put('news', { kind: 'broadcast' });
  const url = await pageOf(to, theirs);
  await suspendAccount(service.database, theirs.account.id, 'not paid');
  expect((await fetch(url)).status).toBe(200);
  expect((await post(url, [['asked', 'news']])).status).toBe(303);
  expect([...(await streamsLeftBy(service.database, theirs.account.id, to))]).toEqual(['news']);
});

describe('a hostile reader', () => {
  it('finds nothing without a whole token, with one of another purpose, or with one that was bent', async () => {
    const url = await pageOf('target@example.net');
    const token = url.slice(url.lastIndexOf('/') + 1);
    const bend = (at: number) =>
      `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
    const broken = ['', '%00', 'x'.repeat(9000), token.slice(0, -1), '../..', '*'];
    for (const text of [...broken, ...[0, 3, 8, 20, 30, token.length - 2].map(bend)]) {
      const answer = await post(url.replace(token, text), [['none', 'yes']]);
      expect([400, 404, 414]).toContain(answer.status);
    }
    expect(await left('target@example.net')).toEqual([]);
  });

  it('cannot leave streams that are not offered, nor fill the table with made-up ones', async () => {
    const to = 'inventive@example.net';
    const url = await pageOf(to);
    const invented = Array.from({ length: 200 }, (_, n): [string, string] => ['asked', `s-${n}`]);
    await post(url, [...invented, ['asked', 'transactional'], ['asked', '*'], ['asked', 'offers']]);
    expect(await left(to)).toEqual(['offers']);
    const huge = await post(url, [['asked', 'x'.repeat(100_000)]]);
    expect(huge.status).toBe(400);
    const odd = await fetch(url, { method: 'POST', body: '{"none":"yes"}' });
    expect(odd.status).toBe(200);
    expect(await left(to)).toEqual(['offers']);
  });

  it('chooses for nobody else: each copy of one email has a link of its own', async () => {
    const theirs = await openStreams(service);
    await theirs.put('news', { kind: 'broadcast' });
    const to = 'shared@example.net';
    const url = await pageOf(to);
    await post(url, [['none', 'yes']]);
    expect([...(await streamsLeftBy(service.database, theirs.account.id, to))]).toEqual([]);
    expect(await left('other@example.net')).toEqual([]);
  });
});

it('two tabs of one reader end with what was chosen last, of what each asked', async () => {
  const to = 'tabs@example.net';
  const url = await pageOf(to);
  await Promise.all(
    Array.from({ length: 12 }, (_, n) => post(url, want(...(n % 2 === 0 ? ['news'] : ['offers'])))),
  );
  await post(url, want('news'));
  expect(await left(to)).toEqual(['offers']);
});
