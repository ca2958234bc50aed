// An ordinary email of 3 KB as it goes into a batch, for queues that are filled without asking the
// API.
import { parseMailbox } from '../../src/addresses.ts';
import { newIdBytes } from '../../src/ids.ts';
import type { PackedSend } from '../../src/sending/packed-send.ts';
import { writeHead } from '../../src/sending/stored-head.ts';

export const HTML = `<html><body>${'<p>A paragraph of an ordinary email.</p>'.repeat(70)}</body></html>`;
export const TEXT = 'A paragraph of an ordinary email.';

export function packed(accountId: number, from = 'a@example.com'): PackedSend {
  const head = writeHead({
    from: mailbox(from),
    to: [mailbox('a@example.net')],
    cc: [],
    replyTo: null,
    headers: [],
    attachments: [],
  });
  return {
    id: newIdBytes(Date.now()),
    accountId,
    keyId: null,
    door: 'rest',
    from,
    envelope: ['a@example.net'],
    recipientCount: 1,
    subject: 'Many emails',
    tags: null,
    template: null,
    templateVersion: null,
    stream: null,
    brandingVersion: null,
    head,
    html: HTML,
    text: TEXT,
    attachments: null,
    size: HTML.length + 200,
    class: 'normal',
    idempotency: null,
    keyCap: null,
    scheduledAtMs: null,
    approval: null,
    listedForms: null,
  };
}

export function mailbox(text: string) {
  const found = parseMailbox(text);
  if ('fault' in found) throw new Error(text);
  return found;
}
