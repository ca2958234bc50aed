// POST /v1/send/batch: up to 100 emails in one call and one transaction. Strict: one fault and
// nothing is queued. Permissive: the others are. Nothing is delivered here, so that what is queued
// can be counted.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { fromTemplate, storedEmail } from '../templates/support.ts';
import { emails, PERMISSIVE, postBatch, queued, spoilt } from './batch-support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ROLES: 'api' });
});
afterAll(() => service.stop());

const post = (key: string, batch: unknown, headers?: Record<string, string>) =>
  postBatch(service, key, batch, headers);
const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

describe('a batch', () => {
  it('of 100 is answered with 100 ids, in its order, all queued', async () => {
    const { id, key } = await service.account();
    const { status, body, headers } = await post(key, emails(100));
    expect(status).toBe(202);
    expect(Object.keys(body)).toEqual(['data', 'errors']);
    expect(body.errors).toEqual([]);
    expect(body.data).toHaveLength(100);
    expect(new Set(ids(body)).size).toBe(100);
    for (const each of body.data) {
      expect(each).toEqual({ id: expect.stringMatching(/^msg_[0-9A-Z]{26}$/), status: 'queued' });
    }
    expect(headers.get('ratelimit-remaining')).toBe('49900');
    expect(await queued(service, id)).toHaveLength(100);
    const rows = await service.database.query<{ id: string; to: string[] }>(
      'SELECT id, recipients AS to FROM messages WHERE account_id = $1',
      [id],
    );
    const byId = new Map(rows.map((row) => [row.id, row.to[0]]));
    expect(ids(body).map((shown) => byId.get(readUuid('msg_', shown)!))).toEqual(
      emails(100).map(({ to }) => (to as string[])[0]),
    );
  });

  it('of one is a batch too', async () => {
    const { key } = await service.account();
    const { status, body } = await post(key, emails(1));
    expect({ status, count: body.data.length }).toEqual({ status: 202, count: 1 });
  });

  it('takes whatever a send takes: templates, attachments, cc and bcc, tags, headers', async () => {
    const { key } = await service.account();
    const { status, body } = await post(key, [
      fromTemplate('welcome', {
        name: 'Ada',
        action_url: 'https://example.com/',
      }),
      anEmail({
        attachments: [{ filename: 'a.txt', content_base64: 'aGk=', content_type: 'text/plain' }],
      }),
      anEmail({
        cc: ['c@example.net'],
        bcc: ['b@example.net'],
        tags: ['x'],
        headers: { 'X-Order': '1' },
      }),
    ]);
    expect({ status, errors: body.errors }).toEqual({ status: 202, errors: [] });
    expect((await storedEmail(service.database, body.data[0].id)).html).toContain('Ada');
  });

  it('keeps numbers as they are written, in every email', async () => {
    const { key } = await service.account();
    const email = (n: string) =>
      `{"from_email":"hello@example.com","to":["a@example.net"],"template":"welcome","subject":"{{ n }}","variables":{"name":"A","action_url":"https://example.com/","n":${n}}}`;
    const { body } = await post(key, `[${email('1234567890123456789')},${email('10.0')}]`);
    const subjects = await Promise.all(
      ids(body).map(async (id) => (await storedEmail(service.database, id)).subject),
    );
    expect(subjects).toEqual(['1234567890123456789', '10.0']);
  });

  it('stays in the class that its emails have by themselves: urgent where a login waits', async () => {
    const { id, key } = await service.account();
    const { status } = await post(key, [
      fromTemplate('one-time-code', { code: '482 913' }, { to: ['a@example.net'] }),
      anEmail({ to: ['b@example.net'] }),
    ]);
    expect(status).toBe(202);
    const [urgent, normal] = await queued(service, id);
    expect(urgent!.class).toBeLessThan(normal!.class);
  });
});

describe('what is no batch', () => {
  it.each([
    ['nothing', '[]', /at least one/],
    ['101 emails', JSON.stringify(emails(101)), /at most 100/],
    ['a text', '"emails"', /JSON object/],
    ['null', 'null', /names no emails/],
    ['an object without a list', '{}', /names no emails/],
    ['a single send', JSON.stringify(anEmail()), /There is no field "to"/],
    [
      'both lists',
      JSON.stringify({ emails: emails(1), recipients: [{ to: 'a@example.net' }] }),
      /beside emails/,
    ],
    [
      'a common field beside a list of emails',
      JSON.stringify({ emails: emails(1), subject: 'x' }),
      /subject cannot be given beside emails/,
    ],
    ['text that is not JSON', '[{', /not valid JSON/],
  ])('%s → 400', async (_, text, detail) => {
    const { key, id } = await service.account();
    const { status, body } = await post(key, text);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid' });
    expect(body.detail).toMatch(detail);
    expect(await queued(service, id)).toEqual([]);
  });

  it('an unknown x-batch-validation → 400 that names it', async () => {
    const { key } = await service.account();
    const { status, body } = await post(key, emails(1), { 'x-batch-validation': 'loose' });
    expect({ status, path: body.faults[0].path }).toEqual({ status: 400, path: 'validation' });
  });

  it('bytes that are not UTF-8 → 400', async () => {
    const { key } = await service.account();
    const response = await fetch(`${service.url}/v1/send/batch`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(emails(1, { subject: 'Café' })), 'latin1'),
    });
    expect(response.status).toBe(400);
  });
});

const FAULTS: [what: string, changes: Record<string, unknown>, status: number, code: string][] = [
  ['an invalid address', { to: ['nobody'] }, 400, 'invalid'],
  ['an unknown field', { subjekt: 'x' }, 400, 'invalid'],
  ['no body', { html: undefined, text: undefined }, 400, 'invalid'],
  ['51 recipients', { to: Array(51).fill('a@example.net') }, 400, 'invalid'],
  ['another’s sender', { from_email: 'x@elsewhere.example' }, 403, 'forbidden'],
  [
    'an unknown template',
    { template: 'no-such-template', subject: undefined, html: undefined, text: undefined },
    404,
    'not-found',
  ],
  [
    'a template without its variables',
    { template: 'welcome', subject: undefined, html: undefined, text: undefined },
    400,
    'invalid',
  ],
];

describe.each(FAULTS)('one email with %s', (_, changes, status, code) => {
  it(`strict: ${status}, and nothing is queued`, async () => {
    const { id, key } = await service.account();
    const answer = await post(key, spoilt(5, 3, changes));
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ code, data: [], errors: [{ index: 3, code }] });
    expect(answer.body.errors).toHaveLength(1);
    expect(answer.body.detail).toContain('Nothing was queued: emails[3] of 5');
    expect(answer.body.detail).toContain(answer.body.errors[0].detail);
    expect(await queued(service, id)).toEqual([]);
    // Nothing of it is counted.
    const after = await service.send(key, anEmail());
    expect(after.headers.get('ratelimit-remaining')).toBe('49999');
  });

  it('permissive: the others are queued', async () => {
    const { id, key } = await service.account();
    const answer = await post(key, spoilt(5, 3, changes), PERMISSIVE);
    expect(answer.status).toBe(202);
    expect(answer.body.data).toHaveLength(4);
    expect(answer.body.errors).toEqual([
      { index: 3, code, detail: expect.any(String), faults: expect.any(Array) },
    ]);
    expect((await queued(service, id)).map(({ to }) => to[0])).toEqual(
      [0, 1, 2, 4].map((n) => `person-${n}@example.net`),
    );
  });

  it('permissive, and all have it: refused as strict', async () => {
    const { id, key } = await service.account();
    const answer = await post(key, emails(3, changes), PERMISSIVE);
    expect(answer.status).toBe(status);
    expect(answer.body.data).toEqual([]);
    expect(answer.body.errors.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2]);
    expect(await queued(service, id)).toEqual([]);
  });

  it('says of it what a send by itself is told', async () => {
    const { key } = await service.account();
    const alone = await service.send(key, anEmail({ to: ['person-3@example.net'], ...changes }));
    const { body } = await post(key, spoilt(5, 3, changes));
    expect(body.errors[0]).toMatchObject({
      detail: alone.body.detail.replace(/ See .*$/, ''),
      faults: alone.body.faults ?? [],
    });
  });
});

describe('several faults', () => {
  it('are all listed; the status is that of the first', async () => {
    const { key } = await service.account();
    const batch = spoilt(5, 1, { from_email: 'x@elsewhere.example' });
    batch[4] = { ...batch[4], to: ['nobody'] };
    batch[2] = 'no email' as never;
    const { status, body } = await post(key, batch);
    expect(status).toBe(403);
    expect(body.errors.map((it: { index: number; code: string }) => [it.index, it.code])).toEqual([
      [1, 'forbidden'],
      [2, 'invalid'],
      [4, 'invalid'],
    ]);
  });

  it('the top-level faults name the place in the batch', async () => {
    const { key } = await service.account();
    const { body } = await post(key, spoilt(2, 1, { to: [7] }));
    expect(body.errors[0].faults[0].path).toBe('to[0]');
    expect(body.faults[0].path).toBe('emails[1].to[0]');
  });
});

describe('one email for many', () => {
  const VARIABLES = { action_url: 'https://example.com/' };
  const toMany = (recipients: unknown[], changes: object = {}) => ({
    from_email: 'hello@example.com',
    template: 'welcome',
    variables: VARIABLES,
    recipients,
    ...changes,
  });

  it('makes an email for each, with variables of their own over the common ones', async () => {
    const { id, key } = await service.account();
    const { status, body } = await post(
      key,
      toMany([
        { to: 'ada@example.net', variables: { name: 'Ada' } },
        { to: ['bob@example.net'], cc: ['c@example.net'], variables: { name: 'Bob' } },
      ]),
    );
    expect({ status, errors: body.errors }).toEqual({ status: 202, errors: [] });
    const [ada, bob] = await Promise.all(
      ids(body).map((shown) => storedEmail(service.database, shown)),
    );
    expect(ada!.html).toContain('Ada');
    expect(ada!.html).not.toContain('Bob');
    expect(bob!.html).toContain('Bob');
    expect((await queued(service, id)).map(({ to }) => to)).toEqual([
      ['ada@example.net'],
      ['bob@example.net', 'c@example.net'],
    ]);
  });

  it('an own field replaces the common one', async () => {
    const { key } = await service.account();
    const { body } = await post(
      key,
      toMany(
        [
          { to: 'a@example.net', variables: { name: 'A' } },
          { to: 'b@example.net', variables: { name: 'B' }, subject: 'For {{ name }} alone' },
        ],
        { subject: 'For all' },
      ),
    );
    const subjects = await Promise.all(
      ids(body).map(async (shown) => (await storedEmail(service.database, shown)).subject),
    );
    expect(subjects).toEqual(['For all', 'For B alone']);
  });

  it('works with a body of its own, too', async () => {
    const { key } = await service.account();
    const { status } = await post(key, {
      ...{ from_email: 'hello@example.com', subject: 'Hi', text: 'Hi!' },
      recipients: [{ to: 'a@example.net' }, { to: 'b@example.net' }],
    });
    expect(status).toBe(202);
  });

  it('who lacks a variable is named; strict and permissive as ever', async () => {
    const { key } = await service.account();
    const batch = toMany([{ to: 'a@example.net', variables: VARIABLES }, { to: 'b@example.net' }], {
      variables: { name: 'A' },
    });
    const strict = await post(key, batch);
    expect({ status: strict.status, path: strict.body.faults[0].path }).toEqual({
      status: 400,
      path: 'recipients[1].variables.action_url',
    });
    const permissive = await post(key, { ...batch, validation: 'permissive' });
    expect(permissive.status).toBe(202);
    expect(permissive.body).toMatchObject({ data: [{ status: 'queued' }], errors: [{ index: 1 }] });
  });

  it.each([
    ['no object', ['ada@example.net']],
    ['no address', [{ variables: { name: 'A' } }]],
    ['variables that are no object', [{ to: 'a@example.net', variables: 'A' }]],
    ['an unknown field', [{ to: 'a@example.net', nmae: 'A' }]],
  ])('%s → 400', async (_, recipients) => {
    const { key } = await service.account();
    const { status, body } = await post(key, toMany(recipients));
    expect({ status, index: body.errors[0].index }).toEqual({ status: 400, index: 0 });
  });

  it('101 recipients → 400', async () => {
    const { key } = await service.account();
    const { status, body } = await post(key, toMany(Array(101).fill({ to: 'a@example.net' })));
    expect({ status, path: body.faults[0].path }).toEqual({ status: 400, path: 'recipients' });
  });

  it('numbers keep their form in common and own variables', async () => {
    const { key } = await service.account();
    const { body } = await post(
      key,
      `{"from_email":"hello@example.com","template":"welcome","subject":"{{ a }} {{ b }}","variables":{"name":"A","action_url":"https://example.com/","a":1234567890123456789},"recipients":[{"to":"a@example.net","variables":{"b":10.0}}]}`,
    );
    const { subject } = await storedEmail(service.database, body.data[0].id);
    expect(subject).toBe('1234567890123456789 10.0');
  });
});
