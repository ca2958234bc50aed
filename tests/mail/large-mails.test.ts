// Large emails: each leaves the connection to the relay as it found it, and arrives as it was
// written.
import PostalMime, { type Email } from 'postal-mime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../../src/addresses.ts';
import { piecesOf } from '../../src/bytes/chunks.ts';
import { asSent, assemble, assembleLarge, type CopyOrder } from '../../src/mail/assembling.ts';
import { hashBody } from '../../src/mail/dkim.ts';
import { captured, header } from '../support/captured.ts';
import { anEmail, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ RELAY_CONNECTIONS: '1' });
});
afterAll(() => service.stop());

it('fifteen of them leave no listeners behind', async () => {
  const warnings: string[] = [];
  const hear = (warning: Error) => warnings.push(warning.message);
  process.on('warning', hear);
  const { key, id } = await service.account();
  for (let n = 0; n < 15; n++) await service.send(key, anEmail({ text: 'x'.repeat(80_000) }));
  await until(async () => {
    const [row] = await service.database.query<{ waiting: number }>(
      'SELECT count(*)::int AS waiting FROM due_messages WHERE account_id = $1',
      [id],
    );
    return row!.waiting === 0;
  });
  process.off('warning', hear);
  expect(warnings).toEqual([]);
});

// An odd length before each character of three bytes, so that pieces end within some.
const html = `<p>${'a注文😀'.repeat(150_000)}</p><a href="https://example.com/end">x</a>`;
const bytes = Buffer.from(Array.from({ length: 1_300_000 }, (_, n) => (n * 7 + (n >> 8)) % 256));
const attachment = {
  filename: 'a.bin',
  content_type: 'application/octet-stream',
  content_base64: bytes.toString('base64'),
};
const dots = '.\n..\n'.repeat(1000);

it('one that is stored, loaded and made in pieces arrives as it was written, tracked and signed as others', async () => {
  const { key, id } = await service.account();
  const { body } = await service.send(
    key,
    anEmail({ html, text: dots, attachments: [attachment] }),
  );
  const { email: got } = await captured(service.database, body.id);
  expectAsWritten(got);
  const source = await service.database.query(
    'SELECT 1 FROM contents WHERE account_id = $1 AND octet_length(html) > 1000000',
    [id],
  );
  expect(source).toHaveLength(1);
});

function expectAsWritten(got: Email): void {
  expect(got.text!.trimEnd()).toBe(dots.trimEnd());
  const [start, end] = got.html!.split('<a href="');
  expect(start).toBe(html.split('<a href="')[0]);
  expect(end).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/c\/[^"]+">x<\/a><img src="[^"]+\/o\//);
  expect(Buffer.from(got.attachments[0]!.content as ArrayBuffer).equals(bytes)).toBe(true);
}

it('one to several arrives as it was written at each, and differs in their own tokens only', async () => {
  const { key } = await service.account();
  const people = ['one@example.net', 'two@example.net', 'three@example.net'];
  const [one, two, three] = people;
  const { body } = await service.send(
    key,
    anEmail({ to: [one], cc: [two], bcc: [three], html, text: dots, attachments: [attachment] }),
  );
  const copies = await until(async () => {
    const rows = await service.database.query<{ recipients: string[]; raw: Buffer }>(
      'SELECT recipients, raw FROM sandbox_mails WHERE envelope_id = $1 ORDER BY id',
      [body.id],
    );
    return rows.length === people.length ? rows : undefined;
  });
  expect(copies.map(({ recipients }) => recipients)).toEqual(people.map((it) => [it]));
  const tokens: string[] = [];
  const rest: string[] = [];
  for (const { raw } of copies) {
    const got = await PostalMime.parse(raw);
    expectAsWritten(got);
    const own = [
      header(got, 'x-sm-token')!,
      ...[...got.html!.matchAll(/\/[co]\/([\w-]+)"/g)].map((match) => match[1]!),
    ];
    tokens.push(...own);
    const others = got.headers.filter(({ key }) => key !== 'dkim-signature');
    let shown = `${JSON.stringify(others)}\n${got.html}`;
    for (const token of own) shown = shown.replaceAll(token, 'its own');
    rest.push(shown);
  }
  expect(new Set(tokens).size).toBe(3 * people.length);
  expect(new Set(rest).size).toBe(1);
});

it('assembled in a thread is the same as assembled here', () => {
  const mailbox = (address: string) => parseMailbox(address) as Mailbox;
  const order = {
    accountId: 1,
    tracking: {
      key: Buffer.alloc(32, 1),
      url: 'https://t.example',
      email: { accountId: 1, messageId: Buffer.alloc(16, 7), place: 0 },
      wanted: { opens: true, clicks: true },
    },
    email: {
      messageId: '<a@example.com>',
      date: new Date(0),
      from: mailbox('Ada <ada@example.com>'),
      to: [mailbox('jo@example.net')],
      cc: [],
      subject: 'Grüße',
      html: Buffer.from('<p>Hello</p><a href="https://example.com/">x</a>'),
      text: Buffer.from('Hello'),
      ownHeaders: [],
      headers: [],
      attachments: [{ filename: 'a', contentType: 'a/b', content: Buffer.from('bytes') }],
    },
  } satisfies CopyOrder;
  const here = assemble(order);
  // As postMessage hands it over.
  const there = assembleLarge(structuredClone(order) as CopyOrder);
  expect(there.head).toBe(here.head);
  const [wanted, made] = [here.body, there.body.map(asSent)].map((body) =>
    Buffer.concat([...piecesOf(body)]),
  );
  expect(made!.toString()).toBe(wanted!.toString());
  expect(there.bodyHash).toBe(hashBody([wanted!]));
});
