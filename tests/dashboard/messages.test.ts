// Messages in the dashboard: searching, one message, its live timeline, its files, sending it
// again.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import type { MessageDetails } from '../../src/client/operations.ts';
import { bytesToUuid, idTimeMs, newIdBytes, readUuid, uuidToBytes } from '../../src/ids.ts';
import { searchMessages } from '../../src/messages/search.ts';
import {
  indexFinishedDays,
  indexGrowingDay,
  listIndexedRanges,
} from '../../src/messages/search-index.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createLog } from '../../src/process/log.ts';
import { readHead } from '../../src/sending/stored-head.ts';
import { dropOldPartitions, makePartitions } from '../../src/store/partitions.ts';
import type { Database } from '../../src/store/pool.ts';
import { catalog } from '../support/catalog.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type DashboardClient, openSignedIn } from './dashboard-client.ts';

const DAY_MS = 86_400_000;
const receiptSample = catalog.templates.get('receipt')!.sample;

let service: TestService;
let account: { id: number; key: string };
let client: DashboardClient;
/** A key that reads the account's messages. */
let reader: string;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
  client = await openSignedIn(service, { accountId: account.id, role: 'developer' });
  const scopes = ['messages:read'] as const;
  reader = (await createKey(service.database, systemClock, { accountId: account.id, scopes })).key;
});

afterAll(() => service.stop());

async function send(changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await service.send(account.key, anEmail(changes));
  expect(answer.status).toBe(202);
  return answer.body.id;
}

describe('searching', () => {
  let ids: Record<'receipt' | 'welcome' | 'bounced' | 'copies' | 'templated', string>;

  beforeAll(async () => {
    ids = {
      receipt: await send({
        subject: 'Your receipt 4711',
        to: ['Ada@example.net'],
        tags: ['shop'],
      }),
      welcome: await send({ subject: 'Welcome!', to: ['grace@example.org'] }),
      bounced: await send({ subject: 'Bounces', to: ['bounce@simulator.test'] }),
      copies: await send({
        subject: 'To many',
        to: ['one@example.net'],
        cc: ['two@example.net'],
        bcc: ['three@example.net'],
        tags: ['shop', 'Team A'],
      }),
      templated: await send({
        ...{ subject: '', html: '', text: '', to: ['cy@example.com'] },
        ...{ template: 'receipt', variables: receiptSample },
      }),
    };
    await until(async () => {
      const { data } = await client.api.messages.list({ status: 'bounced' });
      return data.length === 1;
    });
  });

  const found = async (query: object) => {
    const { data } = await client.api.messages.list(query);
    return data.map(({ id }) => id).sort();
  };

  it.each<[string, object, (keyof typeof ids)[]]>([
    ['recipient, in any case', { recipient: 'ADA@example.net' }, ['receipt']],
    ['a recipient of a hidden copy', { recipient: 'three@example.net' }, ['copies']],
    ['a part of a recipient', { recipient: 'example.net' }, ['receipt', 'copies']],
    ['a part of the subject', { subject: 'RECEIPT 4711' }, ['receipt']],
    ['a subject with SQL’s own letters', { subject: '%' }, []],
    ['tag', { tag: 'shop' }, ['receipt', 'copies']],
    ['tag with a blank', { tag: 'Team A' }, ['copies']],
    ['tag in another case: it is another', { tag: 'team a' }, []],
    ['status', { status: 'bounced' }, ['bounced']],
    ['template', { template: 'receipt' }, ['templated']],
    ['door', { door: 'mcp' }, []],
    ['several at once', { tag: 'shop', recipient: 'ada@example.net' }, ['receipt']],
    ['a status that contradicts', { status: 'bounced', tag: 'shop' }, []],
    ['a time that is over', { before: '2020-01-01T00:00:00Z' }, []],
    ['a time from now on', { after: '2999-01-01T00:00:00Z' }, []],
  ])('by %s', async (_, query, expected) => {
    expect(await found(query)).toEqual(expected.map((name) => ids[name]).sort());
  });

  it('by id', async () => {
    expect(await found({ id: ids.welcome })).toEqual([ids.welcome]);
    expect(await found({ id: 'msg_nonsense' })).toEqual([]);
  });

  it('page by page, newest first, each once', async () => {
    const seen: string[] = [];
    for await (const { id } of client.api.messages.list({ limit: 1 })) seen.push(id);
    const { templated, copies, bounced, welcome, receipt } = ids;
    expect(seen).toEqual([templated, copies, bounced, welcome, receipt]);
  });

  it('what cannot be asked is refused', async () => {
    const bad: Record<string, string>[] = [
      { status: 'nice' },
      { after: 'yesterday' },
      { cursor: 'x' },
      { door: 'window' },
      { limit: '0' },
      { q: '1' },
    ];
    for (const query of bad) {
      const answer = await service.get(reader, `/v1/messages?${new URLSearchParams(query)}`);
      expect([query, answer.status]).toEqual([query, 400]);
    }
  });
});

describe('searching days that are over', () => {
  const today = Math.floor(Date.now() / DAY_MS);
  let other: { id: number };

  /** Messages of the last days, many enough that a search cannot read them all in one step. */
  beforeAll(async () => {
    other = await service.account();
    for (let day = today - 4; day < today; day++) {
      await makePartitions(service.database, day * DAY_MS);
      const ids = Array.from({ length: 6000 }, (_, n) =>
        bytesToUuid(newIdBytes(day * DAY_MS + n * 1000)),
      );
      await service.database.query(
        `INSERT INTO messages (account_id, id, status, from_email, recipients, subject, tags, door)
         SELECT $1, id, 'delivered', 'a@example.com', ARRAY['User' || n || '@Day${day}.example'], 'Hello ' || n,
                CASE WHEN n % 3000 = 7 THEN ARRAY['rare'] ELSE ARRAY['common'] END, 'rest'
         FROM unnest($2::uuid[]) WITH ORDINALITY AS t (id, n)`,
        [other.id, ids],
      );
    }
    await indexFinishedDays({
      database: service.database,
      log: createLog('silent'),
      nowMs: today * DAY_MS + DAY_MS / 2,
    });
  });

  const search = (filter: object) =>
    searchMessages(service.database, other.id, { limit: 50, ...filter });

  /** A call stops when its time is over, so on a slow machine there may be another. */
  async function searchAll(filter: object) {
    const found = await search(filter);
    for (let calls = 1; found.beforeUuid !== null; calls++) {
      expect(calls).toBeLessThan(5);
      const more = await search({ ...filter, beforeUuid: found.beforeUuid });
      found.messages.push(...more.messages);
      found.beforeUuid = more.beforeUuid;
    }
    return found.messages;
  }

  /** Days since 1970 that are indexed as a whole, one after the other. */
  const indexed = async () =>
    (await listIndexedRanges(service.database)).map(({ from, until }) =>
      [from, until].map((uuid) => idTimeMs(uuidToBytes(uuid)) / DAY_MS),
    );

  it('they are indexed, today and the days to come are not', async () => {
    expect(await indexed()).toEqual([[today - 5, today]]);
  });

  it('a recipient is found over all days', async () => {
    const messages = await searchAll({ recipient: `user42@day${today - 4}.example` });
    expect(messages.map(({ subject }) => subject)).toEqual(['Hello 42']);
  });

  it('so is a tag, newest first', async () => {
    const messages = await searchAll({ tag: 'rare' });
    const subjects = ['Hello 3007', 'Hello 7'];
    expect(messages.map(({ subject }) => subject)).toEqual([
      ...subjects,
      ...subjects,
      ...subjects,
      ...subjects,
    ]);
  });

  it('a common tag fills its pages and goes on where it ended', async () => {
    const first = await search({ tag: 'common', limit: 30 });
    const second = await search({ tag: 'common', limit: 30, beforeUuid: first.beforeUuid! });
    const all = [...first.messages, ...second.messages];
    expect(all).toHaveLength(60);
    expect(all.map(({ id }) => id)).toEqual([...new Set(all.map(({ id }) => id))].sort().reverse());
  });

  it('bounds hold: only the days asked for', async () => {
    const fromMs = (today - 3) * DAY_MS;
    const messages = await searchAll({ tag: 'rare', fromMs, untilMs: fromMs + DAY_MS });
    expect(messages).toHaveLength(2);
  });

  it('other accounts’ messages of the same recipient are not found', async () => {
    const found = await searchMessages(service.database, account.id, {
      recipient: `user42@day${today - 4}.example`,
      limit: 50,
    });
    expect(found.messages).toEqual([]);
  });

  it('the index is used, not every row', async () => {
    const plan = await service.database.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN SELECT * FROM messages WHERE account_id = ${other.id}
         AND message_words(account_id, from_email, recipients, tags, template, stream, subject)
             @> ARRAY[hashtext('${other.id} to user42@day${today - 4}.example')]`,
    );
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/_words/);
  });

  it('domains, senders and words are found, together too', async () => {
    const at = `@day${today - 2}.example`;
    expect(await searchAll({ recipient: at, words: 'hello 77' })).toHaveLength(1);
    expect(await searchAll({ recipient: at, words: '77', from: 'A@example.com' })).toHaveLength(1);
    expect(await searchAll({ from: '@example.com', words: 'HELLO, 5999!' })).toHaveLength(4);
    // Words are whole: not those that 599 begins.
    expect(await searchAll({ words: '599' })).toHaveLength(4);
    expect(await searchAll({ words: 'hello', tag: 'rare', recipient: at })).toHaveLength(2);
    expect(await searchAll({ from: '@other.example', words: 'hello' })).toEqual([]);
  });

  it('a wish of hundreds of words is refused, not compared with every subject', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`).join(' ');
    expect(await searchAll({ words: words(16) })).toEqual([]);
    await expect(searchAll({ words: words(17) })).rejects.toThrow('at most 16 words');
  });

  it('today is indexed slice by slice, and a search goes through slices and what is newer', async () => {
    const database = service.database;
    const log = createLog('silent');
    const add = async (from: number, count: number, atMs: number) => {
      const ids = Array.from({ length: count }, (_, n) => bytesToUuid(newIdBytes(atMs + n)));
      await database.query(
        `INSERT INTO messages (account_id, id, status, from_email, recipients, subject, door)
         SELECT $1, id, 'sent', 'a@example.com', ARRAY['t' || $3 + n || '@today.example'], 'Today ' || n, 'rest'
         FROM unnest($2::uuid[]) WITH ORDINALITY AS t (id, n)`,
        [other.id, ids, from],
      );
      // The count of rows comes from statistics, which are told a moment later.
      await database.query('ANALYZE messages');
    };
    const nowMs = (today + 1) * DAY_MS - 60_000;
    await add(0, 20_500, today * DAY_MS);
    await until(async () => {
      await indexGrowingDay({ database, log, nowMs: today * DAY_MS + 100_000 });
      return (await listIndexedRanges(database)).length === 2;
    });
    // Too few for another slice.
    await add(20_500, 100, today * DAY_MS + 200_000);
    await indexGrowingDay({ database, log, nowMs });
    expect(await listIndexedRanges(database)).toHaveLength(2);
    await add(20_600, 20_100, today * DAY_MS + 300_000);
    await until(async () => {
      await indexGrowingDay({ database, log, nowMs: today * DAY_MS + 400_000 });
      return (await listIndexedRanges(database)).length === 3;
    });
    await add(40_700, 6000, today * DAY_MS + 500_000);
    for (const wanted of [1, 20_500, 20_501, 20_700, 40_700, 40_701, 46_700]) {
      const found = await searchAll({ recipient: `t${wanted}@today.example` });
      expect(found.map(({ recipients }) => recipients)).toEqual([[`t${wanted}@today.example`]]);
    }
    // A rare word: the indexes of all slices are asked together.
    const plans: string[] = [];
    const explaining: Database = {
      ...database,
      async query(text, values) {
        if (text.includes('message_words')) {
          const lines = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, values);
          plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'));
        }
        return await database.query(text, values);
      },
    };
    await until(async () => {
      plans.length = 0;
      const wish = { recipient: 't1@today.example', fromMs: today * DAY_MS, limit: 50 };
      await searchMessages(explaining, other.id, wish);
      return plans.length === 1;
    });
    expect(plans[0]).toMatch(/_words_1(?!\d)/);
    expect(plans[0]).toMatch(/_words_2(?!\d)/);
    // One that comes late is in its slice anyway.
    await add(90_000, 1, today * DAY_MS + 50_000);
    expect(await searchAll({ recipient: 't90001@today.example' })).toHaveLength(1);

    // When the day is over, one index takes the place of its slices.
    await indexFinishedDays({ database, log, nowMs: (today + 1) * DAY_MS + 3_600_000 });
    expect(await indexed()).toEqual([[today - 5, today + 1]]);
    expect(await searchAll({ recipient: 't20700@today.example' })).toHaveLength(1);
  });

  it('a day that is dropped takes its index along', async () => {
    const retention = { retentionDays: 2, contentRetentionDays: 2 };
    await dropOldPartitions(service.database, Date.now(), retention);
    expect(await indexed()).toEqual([[today - 2, today + 1]]);
  });
});

describe('one message', () => {
  it('shows content, recipients, key, relay and timeline', async () => {
    const id = await send({
      from_email: 'Acme <hello@example.com>',
      to: ['Ada <ada@example.net>'],
      cc: ['bounce+cc@simulator.test'],
      bcc: ['hidden@example.net'],
      reply_to: 'reply@example.com',
      headers: { 'X-Order': '4711' },
      tags: ['shop'],
      attachments: [
        { filename: 'a.txt', content_base64: 'Zmlyc3Q=', content_type: 'text/plain' },
        { filename: 'Rechnung „1“.txt', content_base64: 'c2Vjb25k', content_type: 'text/html' },
      ],
    });
    const which = { sm_mail_id: id };
    const shown = await until(async () => {
      const details = await client.api.messages.details(which);
      const done = details.recipient_states.every(
        ({ status }) => status !== 'queued' && status !== 'sent',
      );
      return done ? details : undefined;
    });
    expect(shown).toMatchObject({
      id,
      status: 'bounced',
      door: 'rest',
      tags: ['shop'],
      sealed: false,
      key: { prefix: account.key.slice(0, 18), revoked: false },
      pending: null,
      relay_message_id: expect.any(String),
    });
    expect(shown.recipient_states.map(({ kind, status }) => [kind, status])).toEqual([
      ['to', 'delivered'],
      ['cc', 'bounced'],
      ['bcc', 'delivered'],
    ]);
    expect(shown.recipient_states[1]!.response).toMatch(/^5/);
    expect(shown.events[0]).toMatchObject({ type: 'sent' });
    expect(await client.api.messages.content(which)).toMatchObject({
      from_email: 'Acme <hello@example.com>',
      to: ['Ada <ada@example.net>'],
      cc: ['bounce+cc@simulator.test'],
      bcc: ['hidden@example.net'],
      reply_to: 'reply@example.com',
      headers: [{ name: 'X-Order', value: '4711' }],
      html: '<p>Hello!</p>',
      text: 'Hello!',
      attachments: [{ index: 0 }, { index: 1, filename: 'Rechnung „1“.txt', size: 6 }],
    });

    expect(await client.api.messages.attachment({ ...which, index: 1 })).toEqual({
      filename: 'Rechnung „1“.txt',
      content_type: 'text/html',
      content_base64: 'c2Vjb25k',
    });
    const file = await fetch(`${service.url}/v1/messages/${id}/attachments/1`, {
      headers: { 'x-api-key': reader, accept: 'application/octet-stream' },
    });
    expect(await file.text()).toBe('second');
    expect(file.headers.get('content-disposition')).toBe(
      `attachment; filename="Rechnung _1_.txt"; filename*=UTF-8''Rechnung%20%E2%80%9E1%E2%80%9C.txt`,
    );
    // Whatever the sender called it, a browser must not show it as a page of ours.
    expect(file.headers.get('content-type')).toBe('application/octet-stream');
    for (const index of [2, -1]) {
      const { status } = await service.get(reader, `/v1/messages/${id}/attachments/${index}`);
      expect([index, status]).toEqual([index, index < 0 ? 400 : 404]);
    }
  });

  it('its source is what went over the wire', async () => {
    const id = await send({ subject: 'Source', html: '<a href="https://example.com/">x</a>' });
    const captured = await until(async () => {
      const { data } = await client.api.sandbox.list();
      return data.find(({ message_id }) => message_id === id);
    });
    const { raw } = await client.api.sandbox.get({ id: captured.id });
    const source = await client.api.messages.source({ sm_mail_id: id });
    // But for the recipient's own token, which is for nobody else.
    const shown = Buffer.from(source.content_base64, 'base64').toString();
    const token = /(?<=^X-SM-Token: )\w+/m;
    expect(token.exec(shown)![0]).not.toBe(token.exec(raw)![0]);
    expect(shown.replace(token, '')).toBe(raw.replace(token, ''));
    expect(source).toMatchObject({ filename: `${id}.eml`, content_type: 'message/rfc822' });
  });

  it('is sent again as it was, to the same people, as a new message', async () => {
    const id = await send({
      to: ['ada@example.net'],
      bcc: ['hidden@example.net'],
      subject: 'Twice',
      attachments: [{ filename: 'a.bin', content_base64: 'AAEC', content_type: 'image/png' }],
    });
    const again = await client.api.messages.sendAgain({ sm_mail_id: id });
    expect(again).toEqual({ id: expect.not.stringContaining(id), status: 'queued' });
    const read = async (sm_mail_id: string) => {
      const { sm_mail_id: _, ...content } = await client.api.messages.content({ sm_mail_id });
      return { content, details: await client.api.messages.details({ sm_mail_id }) };
    };
    const [one, two] = [await read(id), await read(again.id)];
    expect(two.content).toEqual(one.content);
    expect(two.details).toMatchObject({ door: 'dashboard', key: null, subject: 'Twice' });
    expect(two.details.recipients).toEqual(one.details.recipients);
  });

  it('what is about security stays so when it is sent again: nobody waits for it, its links stay', async () => {
    const id = await send({
      ...{ template: 'new-device-login', subject: '', html: '', text: '' },
      variables: catalog.templates.get('new-device-login')!.sample,
    });
    const again = await client.api.messages.sendAgain({ sm_mail_id: id });
    const rows = await service.database.query<{ head: string }>(
      `SELECT convert_from(head, 'UTF8') AS head FROM contents WHERE message_id = ANY ($1)`,
      [[id, again.id].map((it) => readUuid('msg_', it))],
    );
    expect(rows.map(({ head }) => readHead(Buffer.from(head)).keepLinks)).toEqual([true, true]);
  });

  it('past its retention there is no content to show or send', async () => {
    const id = await send();
    await service.database.query('DELETE FROM contents WHERE message_id = $1', [
      readUuid('msg_', id),
    ]);
    const { messages } = client.api;
    expect((await messages.details({ sm_mail_id: id })).recipient_states).toHaveLength(1);
    for (const call of [messages.content, messages.sendAgain, messages.source]) {
      await expect(call({ sm_mail_id: id })).rejects.toMatchObject({ status: 404 });
    }
  });
});

describe('live', () => {
  /** The events of a stream, one by one. */
  async function* events(response: Response): AsyncGenerator<{ event: string; data: never }> {
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [event, data] = text.slice(0, end).split('\n');
        text = text.slice(end + 2);
        if (event!.startsWith('event: ')) {
          yield { event: event!.slice(7), data: JSON.parse(data!.slice(6)) as never };
        }
      }
    }
  }

  it('a message’s timeline comes as it happens, until it is opened', async () => {
    const id = await send({ to: ['opened@simulator.test'] });
    const response = await client.raw('liveMessage', { params: { id } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const seen: string[] = [];
    for await (const { event, data } of events(response)) {
      const shown = data as MessageDetails;
      seen.push(`${event} ${shown.status}`);
      if (shown.status === 'opened') {
        expect(shown.recipient_states).toMatchObject([{ status: 'opened' }]);
        break;
      }
    }
    expect(seen.at(-1)).toBe('message opened');
    expect(seen.length).toBeGreaterThan(1);
  });

  it('an account’s first email is seen by who waits for it', async () => {
    const fresh = await service.account();
    const waiting = await openSignedIn(service, { accountId: fresh.id, role: 'viewer' });
    expect((await waiting.api.usage.get()).has_sent).toBe(false);
    const response = await waiting.raw('live');
    const stream = events(response);
    expect((await stream.next()).value).toEqual({
      event: 'messages',
      data: { data: [], has_more: false, next: null },
    });
    await service.send(fresh.key, anEmail({ subject: 'First' }));
    expect((await stream.next()).value.data).toMatchObject({ data: [{ subject: 'First' }] });
    await stream.return(undefined);
    expect((await waiting.api.usage.get()).has_sent).toBe(true);
  });

  it('one person cannot take the streams of everyone, and has them again when pages are closed', async () => {
    const fresh = await service.account();
    const [greedy, other] = await Promise.all(
      [1, 2].map(() => openSignedIn(service, { accountId: fresh.id })),
    );
    const answers = await Promise.all(Array.from({ length: 30 }, () => greedy!.raw('live')));
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(5);
    const seen = await other!.raw('live');
    expect(seen.status).toBe(200);
    await Promise.all([...answers, seen].map(({ body }) => body!.cancel()));
    await until(async () => {
      const { status, body } = await greedy!.raw('live');
      await body!.cancel();
      return status === 200;
    });
  });

  it('streams do not keep the service from stopping', async () => {
    const short = await startTestService();
    const { id } = await short.account();
    const watcher = await openSignedIn(short, { accountId: id });
    const response = await watcher.raw('live');
    const reading = response.text();
    await short.stop();
    expect(await reading).toContain('event: messages');
  });
});

it('statistics count what happened to the messages', async () => {
  const fresh = await service.account();
  const viewer = await openSignedIn(service, { accountId: fresh.id, role: 'viewer' });
  for (const to of ['ada@example.net', 'opened@simulator.test', 'bounce@simulator.test']) {
    await service.send(fresh.key, anEmail({ to: [to] }));
  }
  const shown = await until(async () => {
    // Figures of the current hour are counted again after ten seconds; a test does not wait.
    await service.database.query('DELETE FROM message_hours');
    const statistics = await viewer.api.usage.statistics();
    const { delivered, opened, bounced } = statistics.totals;
    return delivered === 2 && opened === 1 && bounced === 1 ? statistics : undefined;
  });
  expect(shown.totals.sends).toBe(3);
  expect(await viewer.api.usage.get()).toMatchObject({ limit: 50_000, used: 3, left: 49_997 });
  expect(shown.points).toHaveLength(7);
  expect(shown.points.at(-1)).toMatchObject({ sends: 3 });
  expect(shown.complete).toBe(true);
  expect(shown.rates.delivered).toBeCloseTo(2 / 3);
  const hours = await viewer.api.usage.statistics({ days: 1 });
  expect(hours.bucket).toBe('hour');
  expect(hours.points).toHaveLength(24);
});
