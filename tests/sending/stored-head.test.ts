// What is stored of a mail's head comes back whole: a mail that was accepted can always be composed.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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
