// Streams: what a send may name, which emails an unsubscribe keeps from whom, and where
// List-Unsubscribe is present.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { oneClick, openStreams, passwordReset, type Streams } from './support.ts';

let service: TestService;
let mine: Streams;

beforeAll(async () => {
  service = await startTestService();
  mine = await openStreams(service);
  await mine.put('news', { kind: 'broadcast', title: 'Product news' });
  await mine.put('offers', { kind: 'broadcast' });
  await mine.put('receipts', { kind: 'transactional' });
});
afterAll(() => service.stop());

const leave = async (to: string, stream = 'news'): Promise<void> => {
  const url = await mine.unsubscribeUrl(await mine.send({ to: [to], stream }));
  expect((await oneClick(url!)).status).toBe(200);
};

describe('a send', () => {
  it('goes through the stream it names, which its message shows and the search finds', async () => {
    const id = await mine.send({ stream: 'receipts', to: ['shown@example.net'] });
    const other = await mine.send({ to: ['shown@example.net'] });
    const details = await mine.call('GET', `/v1/messages/${id}/details`);
    expect(details.body).toMatchObject({ id, stream: 'receipts' });
    const list = async (stream: string) =>
      (
        await mine.call('GET', `/v1/messages?recipient=shown@example.net&stream=${stream}`)
      ).body.data.map((it: { id: string; stream: string }) => [it.id, it.stream]);
    expect(await list('receipts')).toEqual([[id, 'receipts']]);
    expect(await list('transactional')).toEqual([[other, 'transactional']]);
    expect(await list('news')).toEqual([]);
  });

  it('is refused with 400 and the nearest name when there is no such stream', async () => {
    for (const [stream, words] of [
      ['newz', 'Did you mean news?'],
      ['marketing-2026', 'It has transactional, '],
      ['constructor', 'It has transactional, '],
      ['*', 'It has '],
    ]) {
      const { status, body } = await service.send(mine.account.key, {
        ...anEmail(),
        stream,
      });
      expect(status).toBe(400);
      expect(body.detail).toContain(words);
      expect(body.faults[0].path).toBe('stream');
    }
  });

  it('cannot name a stream of another account, nor one that is archived until it is back', async () => {
    const theirs = await openStreams(service);
    await expect(theirs.send({ stream: 'news' })).rejects.toThrow('no stream');
    await theirs.put('seasonal', { kind: 'broadcast' });
    await theirs.send({ stream: 'seasonal' });
    expect((await theirs.call('DELETE', '/v1/streams/seasonal')).body.archived_at).not.toBeNull();
    await expect(theirs.send({ stream: 'seasonal' })).rejects.toThrow('no stream');
    await theirs.put('seasonal', {});
    await theirs.send({ stream: 'seasonal' });
  });

  it('takes the stream of its template, unless it names one', async () => {
    const draft = { subject: 'Hi', html: '<p>Hi</p>', stream: 'receipts', publish: true };
    expect((await mine.call('PUT', '/v1/templates/receipt', draft)).body.stream).toBe('receipts');
    const from = { from_email: 'hello@example.com', to: ['t@example.net'], template: 'receipt' };
    const streamOf = async (wish: Record<string, unknown>) =>
      (await mine.call('GET', `/v1/messages/${await mine.send(wish)}/details`)).body.stream;
    expect(await streamOf(from)).toBe('receipts');
    expect(await streamOf({ ...from, stream: 'news' })).toBe('news');
    const shown = async (slug: string) => (await mine.call('GET', `/v1/templates/${slug}`)).body;
    expect(await shown('receipt')).toMatchObject({ own: true, stream: 'receipts' });
    expect(await shown('welcome')).toMatchObject({ stream: null });
    const removed = await mine.call('DELETE', '/v1/streams/receipts');
    expect(removed.status).toBe(409);
    expect(removed.body.detail).toContain('receipt');
    await mine.call('PUT', '/v1/templates/receipt', { stream: null });
    expect(await streamOf(from)).toBe('transactional');
    const unknown = await mine.call('PUT', '/v1/templates/receipt', { stream: 'recipts' });
    expect(unknown.status).toBe(400);
    expect(unknown.body.detail).toContain('Did you mean receipts?');
  });

  it('of a template about access goes through no broadcast stream', async () => {
    await expect(
      mine.send({ ...passwordReset('ada@example.net'), stream: 'news' }),
    ).rejects.toThrow('broadcast');
    const draft = { subject: 'Hi', html: '<p>Hi</p>', category: 'security', stream: 'news' };
    expect((await mine.call('PUT', '/v1/templates/alarm', draft)).status).toBe(400);
  });
});

describe('an unsubscribe', () => {
  it('holds for its stream alone: password resets, receipts and other news still leave', async () => {
    const to = 'left-news@example.net';
    await leave(to);
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'news' }))).toBe('suppressed');
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'offers' }))).toBe('sent');
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'receipts' }))).toBe('sent');
    expect(await mine.fateOf(await mine.send({ to: [to] }))).toBe('sent');
    expect(await mine.fateOf(await mine.send(passwordReset(to)))).toBe('sent');
  });

  it('from every stream lets through what is about access, and streams that cannot be left', async () => {
    const to = 'left-all@example.net';
    const add = { addresses: [to], reason: 'unsubscribe' };
    expect((await mine.call('POST', '/v1/suppressions', add)).body.added).toBe(1);
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'news' }))).toBe('suppressed');
    expect(await mine.fateOf(await mine.send({ to: [to] }))).toBe('sent');
    await mine.put('later', { kind: 'broadcast' });
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'later' }))).toBe('suppressed');
    await mine.call('PUT', `/v1/suppressions/${to}`, { stream: 'transactional' });
    expect(await mine.fateOf(await mine.send({ to: [to] }))).toBe('suppressed');
    expect(await mine.fateOf(await mine.send(passwordReset(to)))).toBe('sent');
  });

  it('is shown before a send as it will be: a preview names who gets no copy, and nobody else', async () => {
    const to = 'asked-before@example.net';
    const withoutCopy = async (wish: Record<string, unknown>) =>
      (await mine.call('POST', '/v1/send/preview', wish)).body.suppressed;
    const inline = (stream?: string) => ({
      ...{ from_email: 'hello@example.com', to: [to], subject: 'Hi', text: 'Hi' },
      ...(stream && { stream }),
    });
    await mine.call('POST', '/v1/suppressions', { addresses: [to], reason: 'unsubscribe' });
    expect(await withoutCopy(inline('news'))).toEqual([to]);
    expect(await withoutCopy(inline())).toEqual([]);
    expect(await withoutCopy(inline('receipts'))).toEqual([]);
    await mine.call('PUT', `/v1/suppressions/${to}`, { stream: 'transactional' });
    expect(await withoutCopy(inline())).toEqual([to]);
    expect(await withoutCopy(passwordReset(to))).toEqual([]);
    await mine.call('PUT', `/v1/suppressions/${to}`);
    expect(await withoutCopy(passwordReset(to))).toEqual([to]);
  });

  it('is one thing, a bounce another: that holds for every stream and every email', async () => {
    const to = 'gone@example.net';
    await mine.call('PUT', `/v1/suppressions/${to}`);
    expect(await mine.fateOf(await mine.send({ to: [to], stream: 'news' }))).toBe('suppressed');
    expect(await mine.fateOf(await mine.send(passwordReset(to)))).toBe('suppressed');
  });

  it('is asked for each of thirty recipients, and says nothing about another account', async () => {
    const theirs = await openStreams(service);
    await theirs.put('news', { kind: 'broadcast' });
    const to = Array.from({ length: 30 }, (_, n) => `many-${n}@example.net`);
    const add = (addresses: string[], more: object = {}) =>
      mine.call('POST', '/v1/suppressions', { addresses, ...more });
    const third = (rest: number) => to.filter((_, n) => n % 5 === rest);
    await add(third(0), { stream: 'news' });
    await add(third(1), { stream: 'offers' });
    await add(third(2));
    await add(third(3), { reason: 'unsubscribe' });
    const keptFrom = async (whose: Streams, stream: string) => {
      const id = await whose.send({ to, stream });
      await whose.fateOf(id);
      const { events } = (await whose.call('GET', `/v1/messages/${id}/details`)).body;
      return events
        .filter((it: { type: string }) => it.type === 'bounced')
        .flatMap((it: { recipients: string[] }) => it.recipients)
        .sort();
    };
    expect(await keptFrom(mine, 'news')).toEqual([0, 2, 3].flatMap(third).sort());
    expect(await keptFrom(mine, 'offers')).toEqual([1, 2, 3].flatMap(third).sort());
    expect(await keptFrom(mine, 'receipts')).toEqual(third(2).sort());
    expect(await keptFrom(theirs, 'news')).toEqual([]);
  });

  it('outlives its stream: who left it has left it when it comes back', async () => {
    await mine.put('spring', { kind: 'broadcast' });
    await leave('spring@example.net', 'spring');
    await mine.call('DELETE', '/v1/streams/spring');
    await mine.put('spring', {});
    const id = await mine.send({ to: ['spring@example.net'], stream: 'spring' });
    expect(await mine.fateOf(id)).toBe('suppressed');
  });
});

describe('List-Unsubscribe', () => {
  const linkOf = async (wish: Record<string, unknown>) =>
    await mine.unsubscribeUrl(await mine.send(wish));

  it('is on broadcasts always, elsewhere where the stream or the account says so, on access never', async () => {
    expect(await linkOf({ stream: 'news' })).toBeDefined();
    expect(await linkOf({ stream: 'receipts' })).toBeUndefined();
    expect(await linkOf({})).toBeUndefined();

    await mine.put('receipts', { unsubscribe: true });
    expect(await linkOf({ stream: 'receipts' })).toBeDefined();
    await changeAccount(service.database, mine.account.id, { oneClickUnsubscribe: true });
    expect(await linkOf({})).toBeDefined();
    await mine.put('receipts', { unsubscribe: false });
    expect(await linkOf({ stream: 'receipts' })).toBeUndefined();
    expect(await linkOf(passwordReset('never@example.net'))).toBeUndefined();
    await changeAccount(service.database, mine.account.id, { oneClickUnsubscribe: false });
  });
});

describe('a stream', () => {
  it('keeps its kind, can be left when it is a broadcast, and the first is always there', async () => {
    const put = (name: string, body: object) => mine.call('PUT', `/v1/streams/${name}`, body);
    expect((await put('news', { kind: 'transactional' })).status).toBe(400);
    expect((await put('news', { unsubscribe: false })).status).toBe(400);
    expect((await put('transactional', { kind: 'broadcast' })).status).toBe(400);
    expect((await put('nothing-said', {})).status).toBe(400);
    expect((await mine.call('DELETE', '/v1/streams/transactional')).status).toBe(400);
    const titled = await put('transactional', { title: 'About your orders' });
    expect(titled.body).toMatchObject({ kind: 'transactional', title: 'About your orders' });
    const { data } = (await mine.call('GET', '/v1/streams')).body;
    expect(data[0].name).toBe('transactional');
  });

  it('is one of fifty at most', async () => {
    const many = await openStreams(service);
    for (let n = 1; n < 50; n++) await many.put(`s${n}`, { kind: 'broadcast' });
    expect((await many.call('PUT', '/v1/streams/s50', { kind: 'broadcast' })).status).toBe(400);
    await many.put('s49', { title: 'One of them' });
  });
});

it('two people who put one stream at once make one stream', async () => {
  const both = await Promise.all(
    ['One', 'Two'].map((title) =>
      mine.call('PUT', '/v1/streams/twice', { kind: 'broadcast', title }),
    ),
  );
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  await until(async () => {
    const { data } = (await mine.call('GET', '/v1/streams')).body;
    return data.filter((it: { name: string }) => it.name === 'twice').length === 1;
  });
});
