// Section 2.1: the send request. One test per row of its table, over real HTTP against the real
// server.

import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getCaptured, listCaptured } from '../../src/sandbox/inbox.ts';
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
});
afterAll(() => service.stop());

const send = (changes: Record<string, unknown>) => service.send(account.key, anEmail(changes));

/** What the sandbox relay received for an accepted send. */
async function received(changes: Record<string, unknown>) {
  const answer = await send(changes);
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ status: 'queued' });
  const { id } = answer.body;
  // Each recipient has a copy; when the message is sent, all of them are there.
  await until(async () => {
    const { events } = (await service.get(account.key, `/v1/messages/${id}`)).body;
    return events.some((event: { type: string }) => event.type === 'sent');
  });
  const copies = (await listCaptured(service.database, 1000)).filter((it) => it.messageId === id);
  const captured = await getCaptured(service.database, id);
  return {
    envelope: copies.toReversed().flatMap((copy) => copy.recipients),
    raw: captured.raw.toString('utf8'),
    email: await PostalMime.parse(captured.raw),
  };
}

async function refused(changes: Record<string, unknown>, words: RegExp) {
  const answer = await send(changes);
  expect(answer.status, JSON.stringify(answer.body)).toBe(400);
  expect(answer.body.detail).toMatch(words);
}

describe('from_email', () => {
  it('is required', () => refused({ from_email: undefined }, /from_email is missing/));
  it('takes a bare address', async () => {
    const { email: seen } = await received({ from_email: 'hello@example.com' });
    expect(seen.from).toMatchObject({ address: 'hello@example.com' });
  });
  it('takes a display name', async () => {
    const { email: seen } = await received({ from_email: 'Zoë at Acme <hello@example.com>' });
    expect(seen.from).toMatchObject({ name: 'Zoë at Acme', address: 'hello@example.com' });
  });
  it('must be a verified identity', async () => {
    expect((await send({ from_email: 'hello@elsewhere.example' })).status).toBe(403);
  });
});

describe('to', () => {
  it('is required', () => refused({ to: undefined }, /to is missing/));
  it('has at least one recipient', () => refused({ to: [] }, /at least one/));
  it('is a list', () => refused({ to: 'ada@example.net' }, /to must be an array/));
  it('takes 50 recipients', async () => {
    const to = Array.from({ length: 50 }, (_, index) => `r${index}@example.net`);
    expect((await received({ to })).envelope).toHaveLength(50);
  });
  it('refuses 51', () =>
    refused(
      { to: Array.from({ length: 51 }, (_, index) => `r${index}@example.net`) },
      /51 recipients/,
    ));
  it('names the address that is wrong', () =>
    refused({ to: ['ada@example.net', 'not an address'] }, /to\[1\].*not an address/));
  it('puts the same address into the envelope once, and counts it as written', async () => {
    const { envelope } = await received({ to: ['ada@example.net', 'ADA@example.net'] });
    expect(envelope).toEqual(['ada@example.net']);
    const to = Array.from({ length: 51 }, () => 'ada@example.net');
    await refused({ to }, /51 recipients/);
  });
});

describe('cc', () => {
  it('is seen in the header and is in the envelope', async () => {
    const { email: seen, envelope } = await received({ cc: ['Bo <bo@example.net>'] });
    expect(seen.cc?.[0]).toMatchObject({ name: 'Bo', address: 'bo@example.net' });
    expect(envelope).toEqual(['ada@example.net', 'bo@example.net']);
  });
  it('counts toward the total of 50', () =>
    refused({ cc: Array.from({ length: 50 }, (_, index) => `c${index}@example.net`) }, /51/));
});

describe('bcc', () => {
  it('is in the envelope only', async () => {
    const { raw, envelope } = await received({ bcc: ['secret@example.net'] });
    expect(envelope).toContain('secret@example.net');
    expect(raw).not.toContain('secret@example.net');
  });
  it('counts toward the total of 50', () =>
    refused({ bcc: Array.from({ length: 50 }, (_, index) => `b${index}@example.net`) }, /51/));
});

describe('reply_to', () => {
  it('becomes the Reply-To header', async () => {
    const { email: seen } = await received({ reply_to: 'help@example.org' });
    expect(seen.replyTo?.[0]).toMatchObject({ address: 'help@example.org' });
  });
  it('must be an address', () => refused({ reply_to: 'nobody' }, /reply_to/));
});

describe('subject', () => {
  it('arrives as it was written', async () => {
    const subject = 'Ünïcode — 你好 🎉 and a rather long tail so that the header has to be folded';
    expect((await received({ subject })).email.subject).toBe(subject);
  });
  it('is one line', () => refused({ subject: 'a\r\nBcc: x@example.net' }, /one line/));
  it('is required without a template', () => refused({ subject: undefined }, /subject is missing/));
});

describe('html and text', () => {
  it('html alone', async () => {
    const { email: seen } = await received({ text: undefined, html: '<p>only html é</p>' });
    expect(seen.html?.trim()).toMatch(/^<p>only html é<\/p><img [^>]*>$/);
  });
  it('text alone', async () => {
    const { email: seen } = await received({ html: undefined, text: 'only text é' });
    expect(seen.text?.trim()).toBe('only text é');
    expect(seen.html).toBeUndefined();
  });
  it('both become alternatives', async () => {
    const { email: seen, raw } = await received({});
    expect(raw).toContain('multipart/alternative');
    // The pixel that tells of opens stands at the end.
    expect(seen.html?.trim()).toMatch(/^<p>Hello!<\/p><img [^>]*>$/);
    expect(seen.text?.trim()).toBe('Hello!');
  });
  it('one of them is required', () => refused({ html: undefined, text: undefined }, /no body/));
});

describe('template', () => {
  it('an unknown slug answers 404', async () => {
    const answer = await send({ html: undefined, text: undefined, template: 'no-such-template' });
    expect(answer.status).toBe(404);
    expect(answer.body.detail).toContain('no-such-template');
  });
  it('does not go together with html', () =>
    refused({ template: 'welcome' }, /either template or html/));
});

describe('variables', () => {
  it('need a template', () => refused({ variables: { name: 'Ada' } }, /variables/));
  it('may be empty without one', async () => {
    expect((await send({ variables: {} })).status).toBe(202);
  });
  it('must be an object', () => refused({ variables: ['a'] }, /variables must be an object/));
  it.each([101, 5_000])('are refused when nested %i levels deep', async (depth) => {
    // As text: JSON.stringify would not follow that far.
    const [before, after] = JSON.stringify(anEmail({ template: 'welcome', variables: 0 })).split(
      '"variables":0',
    );
    const nested = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const answer = await fetch(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body: `${before}"variables":${nested}${after}`,
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { detail: string }).detail).toMatch(
      /more than 100 levels deep|nested at most 100 deep/,
    );
  });
});

describe('headers', () => {
  it('are added to the email', async () => {
    const { email: seen } = await received({ headers: { 'X-Order': '4711', 'X-Name': 'Zoë' } });
    const value = (name: string) => seen.headers.find((header) => header.key === name)?.value;
    expect(value('x-order')).toBe('4711');
    expect(value('x-name')).toBeDefined();
  });
  it.each([
    'From',
    'to',
    'CC',
    'Bcc',
    'Subject',
    'Date',
    'Sender',
    'Reply-To',
    'Message-ID',
    'MIME-Version',
    'Content-Type',
    'Content-Anything',
    'DKIM-Signature',
    'ARC-Seal',
    'Received',
    'Return-Path',
    'Authentication-Results',
    'X-SM-Message-Id',
  ])('refuse the structural header %s', (name) => refused({ headers: { [name]: 'x' } }, /headers/));
  it.each(['', 'has space', 'colon:', 'ümlaut', 'new\nline'])('refuse the name %j', (name) =>
    refused({ headers: { [name]: 'x' } }, /not a header name/),
  );
  it.each(['a\rb', 'a\nb'])('refuse the value %j', (value) =>
    refused({ headers: { 'X-A': value } }, /line break or NUL/),
  );
  it('refuse a NUL', () => refused({ headers: { 'X-A': 'a\0b' } }, /headers\.X-A contains a NUL/));
  it('are at most 50', () =>
    refused(
      { headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`X-H${i}`, 'v'])) },
      /at most 50/,
    ));
  it('are at most 8 KiB', () => refused({ headers: { 'X-Big': 'v'.repeat(8192) } }, /8 KiB/));
  it('have text values', () => refused({ headers: { 'X-A': 1 } }, /headers/));
});

describe('tags', () => {
  it('20 of 128 characters are fine', async () => {
    const tags = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(128, 'é'));
    expect((await send({ tags })).status).toBe(202);
  });
  it('21 are too many', () =>
    refused({ tags: Array.from({ length: 21 }, () => 'a') }, /at most 20/));
  it('129 characters are too long', () => refused({ tags: ['a'.repeat(129)] }, /1 to 128/));
  it('an empty one is refused', () => refused({ tags: [''] }, /1 to 128/));
  it('control characters are refused', () => refused({ tags: ['a\nb'] }, /control/));
});

describe('attachments', () => {
  const attachment = (changes: Record<string, unknown> = {}) => ({
    filename: 'hällo.txt',
    content_base64: Buffer.from('file content').toString('base64'),
    content_type: 'text/plain',
    ...changes,
  });
  it('arrive byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7) % 256));
    const { email: seen } = await received({
      attachments: [
        attachment(),
        attachment({
          filename: 'b.bin',
          content_type: 'application/octet-stream',
          content_base64: bytes.toString('base64'),
        }),
      ],
    });
    expect(seen.attachments.map((it) => it.filename)).toEqual(['hällo.txt', 'b.bin']);
    expect(Buffer.from(seen.attachments[1]!.content as ArrayBuffer)).toEqual(bytes);
  });
  it.each(['!!!!', 'YWJj\nYWJj', 'YWI', 'YW-_'])('refuse %j as base64', (content_base64) =>
    refused({ attachments: [attachment({ content_base64 })] }, /strict base64/),
  );
  it.each(['../x', 'a\\b', '/etc/passwd', 'a\u0000', ' '])('refuse the name %j', (filename) =>
    refused({ attachments: [attachment({ filename })] }, /filename/),
  );
  it.each(['text', 'text/', '/plain', 'text/plain\r\nX: y', 'text/plain;\r\nX: y', 'té/xt'])(
    'refuse the media type %j',
    (content_type) => refused({ attachments: [attachment({ content_type })] }, /content_type/),
  );
  it.each(['filename', 'content_base64', 'content_type'])('need %s', (field) =>
    refused(
      { attachments: [attachment({ [field]: undefined })] },
      new RegExp(`${field} is missing`),
    ),
  );
  it('name an unknown field', () =>
    refused({ attachments: [attachment({ contenttype: 'x' })] }, /contenttype.*content_type/));
  it('are at most 50', () =>
    refused({ attachments: Array.from({ length: 51 }, () => attachment()) }, /at most 50/));
});

describe('fields', () => {
  it('an unknown one is named, with the nearest known', async () => {
    await refused({ attachment: [] }, /"attachment".*did you mean attachments\?/);
    await refused({ foo: 1 }, /^There is no field "foo"\.$/);
    await refused({ from: 'x' }, /"from" \(did you mean from_email\?\)/);
  });
  it.each([
    'cc',
    'bcc',
    'reply_to',
    'template',
    'variables',
    'headers',
    'tags',
    'attachments',
    'text',
  ])('null and "" for %s are the same as absent', async (field) => {
    expect((await send({ [field]: null })).status).toBe(202);
    expect((await send({ [field]: '' })).status).toBe(202);
  });
  it('__proto__ is an unknown field', async () => {
    const body = JSON.stringify(anEmail()).replace('{', '{"__proto__":{"admin":true},');
    const answer = await fetch(`${service.url}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
      body,
    });
    expect(answer.status).toBe(400);
  });
});
