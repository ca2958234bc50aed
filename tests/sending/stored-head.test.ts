// What is stored of an email's head comes back complete: an email that was accepted can always be
// composed.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Mailbox, parseMailbox } from '../../src/addresses.ts';
import { readHead, type StoredHead, writeHead } from '../../src/sending/stored-head.ts';

const { addresses } = JSON.parse(
  readFileSync(new URL('../fixtures/addresses.json', import.meta.url), 'utf8'),
) as { addresses: { address: string }[] };
const mailboxes = addresses
  .flatMap(({ address }) => [address, `"A \\"name\\", ${'long '.repeat(40)}é" <${address}>`])
  .map((text) => parseMailbox(text))
  .filter((mailbox): mailbox is Mailbox => !('fault' in mailbox));

const bare: StoredHead = {
  from: mailboxes[0]!,
  to: [mailboxes[1]!],
  cc: [],
  replyTo: null,
  headers: [],
  attachments: [],
};
const stored = (head: StoredHead): StoredHead => readHead(Buffer.from(writeHead(head)));

it('every mailbox that is accepted', () => {
  expect(mailboxes.length).toBeGreaterThan(300);
  expect(stored({ ...bare, to: mailboxes })).toEqual({ ...bare, to: mailboxes });
});

it('with nothing but what it must have, and with everything', () => {
  expect(stored(bare)).toEqual(bare);
  const full: StoredHead = {
    ...bare,
    cc: mailboxes.slice(0, 3),
    replyTo: mailboxes[4]!,
    headers: [['X-Order', '4711']],
    attachments: [{ filename: 'ä.pdf', contentType: 'application/pdf', size: 3 }],
    sandbox: true,
    keepLinks: true,
  };
  expect(stored(full)).toEqual(full);
});

describe('every form that was ever written is read', () => {
  const { heads } = JSON.parse(
    readFileSync(new URL('../fixtures/stored-heads.json', import.meta.url), 'utf8'),
  ) as { heads: { form: number; written: string }[] };
  const mailbox = (text: string) => parseMailbox(text) as Mailbox;
  const meant: StoredHead = {
    from: mailbox('Acme <hello@example.com>'),
    to: [mailbox('ada@example.net')],
    cc: [mailbox('Jö <jö@example.net>')],
    replyTo: null,
    headers: [['X-Order', '4711']],
    attachments: [{ filename: 'a.pdf', contentType: 'application/pdf', size: 3 }],
    sandbox: true,
  };

  const withImage: StoredHead = {
    ...meant,
    attachments: [
      { filename: 'a.png', contentType: 'image/png', contentId: 'logo', size: 3 },
      { filename: 'a.pdf', contentType: 'application/pdf', inline: true, size: 3 },
    ],
  };

  const cameWhole: StoredHead = {
    ...meant,
    attachments: [
      {
        ...{ filename: 'a.pdf', contentType: 'application/pdf', size: 3 },
        place: { at: 99, length: 4, encoding: 'base64' },
      },
    ],
    mime: {
      fields: 'Content-Type: multipart/mixed; boundary=a\r\n',
      text: { at: 7, length: 5 },
      html: null,
      sevenBit: true,
    },
  };

  it.each(heads)('form $form', ({ form, written }) => {
    const said = form < 4 ? meant : form === 4 ? withImage : cameWhole;
    expect(readHead(Buffer.from(written))).toEqual(said);
  });

  it('and what is written now is the newest among them', () => {
    expect(writeHead(cameWhole)).toBe(heads.at(-1)!.written);
    // Processes of the version before can read whatever needs no more than they know.
    expect(writeHead(withImage)).toBe(heads.at(-2)!.written);
    expect(writeHead(meant)).toBe(heads.at(-3)!.written);
  });

  it('with what its template was filled with', () => {
    const variables = { name: 'Bo', __proto__x: [1, null], nested: { deep: 'ö"' } };
    const written = writeHead(meant, JSON.stringify(variables));
    expect(readHead(Buffer.from(written))).toEqual({ ...meant, variables });
  });

  it('a newer form, and damage, are told in a sentence', () => {
    expect(() => readHead(Buffer.from('{"v":6,"from":"a@b.example","to":[]}'))).toThrow(
      'format 6, which this version of Sandmartin does not know',
    );
    expect(() => readHead(Buffer.from('{"v":3'))).toThrow('The stored head is damaged');
    expect(() => readHead(Buffer.from('{}'))).toThrow('The stored head is damaged');
  });
});
