// Reads a submitted email: who writes to whom and what the header asks of us, while the MIME tree
// stays as received. Before: lines.ts has checked its line ends. After: sending/accept.ts checks it
// by the rules for every send.
import { addressKey, formatMailbox, type Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { bytesIn } from '../mime/decoding.ts';
import { type Field, readFields, textOf } from '../mime/fields.ts';
import { inTurns } from '../process/in-turns.ts';
import { commandsRelay, isWrittenByUs } from '../sending/header-names.ts';
import type { SendRequest } from '../sending/request.ts';
import { readMime, type Submitted, type SubmittedMime } from '../sending/submitted.ts';
import { readAddressList } from './address-list.ts';
import { readWishes } from './wishes.ts';

export interface SubmittedEmail {
  request: SendRequest;
  submitted: Submitted;
  idempotencyKey: string | undefined;
}

const LONGEST_HEADER = 64 * 1024;
const EMPTY_LINE = Buffer.from('\r\n\r\n');

/** `envelope`: who gets it, whatever its header says. */
export async function readEmail(
  raw: Buffer,
  envelope: readonly string[],
  sevenBit: boolean,
): Promise<SubmittedEmail> {
  const { fields, bodyAt } = splitHeader(raw);
  refuseCircle(fields);
  const wished = readWishes(fields);
  const { idempotencyKey, ...wishes } = wished instanceof Promise ? await wished : wished;
  const read = readMime(contentLines(fields), raw.subarray(bodyAt), sevenBit);
  const mime = read instanceof Promise ? await read : read;
  const people = await readPeople(fields);
  const subject = oneLine(fields.find(({ key }) => key === 'subject'));
  return {
    request: {
      from_email: formatMailbox(people.from),
      ...asAddressed(people, envelope),
      ...(people.replyTo && { reply_to: formatMailbox(people.replyTo) }),
      ...(subject !== '' && { subject }),
      ...wishes,
      ...(wishes.template !== undefined && (await attachmentsOf(mime))),
    },
    submitted: {
      to: people.to,
      cc: people.cc,
      unread: people.unread,
      headers: ownHeaders(fields),
      mime: wishes.template === undefined ? mime : null,
    },
    idempotencyKey,
  };
}

function splitHeader(raw: Buffer): { fields: Field[]; bodyAt: number } {
  const emptyLine = raw.indexOf(EMPTY_LINE);
  const headerEnd = emptyLine < 0 ? LONGEST_HEADER : emptyLine + EMPTY_LINE.length;
  const head = raw.toString('latin1', 0, Math.min(headerEnd, LONGEST_HEADER));
  const { fields, end } = readFields(head);
  if (end >= LONGEST_HEADER) {
    throw new Problem(
      'invalid',
      `The header of the email is larger than ${LONGEST_HEADER / 1024} KB. Send fewer or shorter fields.`,
    );
  }
  return { fields, bodyAt: end };
}

/** An email that we sent and that comes back would loop forever. */
function refuseCircle(fields: readonly Field[]): void {
  const ours = fields.find(({ key }) => key === 'x-sm-message-id');
  if (ours === undefined) return;
  throw new Problem(
    'invalid',
    `This email was sent by this service before, as ${ours.value.slice(0, 40)}. The relay must not lead back here; to send it again, take out its X-SM- headers.`,
  );
}

interface People {
  from: Mailbox;
  to: Mailbox[];
  cc: Mailbox[];
  replyTo: Mailbox | undefined;
  unread: [string, string][];
}

const NAMES_PEOPLE = new Set(['from', 'to', 'cc', 'reply-to']);

/** The fields that name people, with those they name; undefined: not a list of mailboxes. */
type Lists = [Field, Mailbox[] | undefined][];

async function readPeople(fields: readonly Field[]): Promise<People> {
  const lists: Lists = [];
  for (const field of fields) {
    if (!NAMES_PEOPLE.has(field.key)) continue;
    const list = readAddressList(field.value);
    lists.push([field, list instanceof Promise ? await list : list]);
  }
  const unread: [string, string][] = [];
  /** What cannot be read as a list of mailboxes is shown as received. */
  const listOf = (key: string, most = Number.POSITIVE_INFINITY): Mailbox[] => {
    const found = lists.filter(([field]) => field.key === key);
    if (found.length === 0) return [];
    const all = found.flatMap(([, list]) => list ?? []);
    if (found.every(([, list]) => list !== undefined) && all.length <= most) return all;
    unread.push(...found.map(([field]): [string, string] => [field.name, oneLine(field)]));
    return [];
  };
  const to = listOf('to');
  const cc = listOf('cc');
  const [replyTo] = listOf('reply-to', 1);
  return { from: fromIn(lists), to, cc, replyTo, unread };
}

/** Exactly one: the author of the email must not depend on which program reads it. */
function fromIn(lists: Lists): Mailbox {
  const found = lists.filter(([{ key }]) => key === 'from');
  if (found.length !== 1) {
    throw new Problem(
      'invalid',
      found.length === 0
        ? 'The email has no From header. Name a verified sender in it.'
        : `The email has ${found.length} From headers. Send one.`,
    );
  }
  const [field, mailboxes] = found[0]!;
  if (mailboxes?.length === 1) return mailboxes[0]!;
  throw new Problem(
    'invalid',
    `From: "${oneLine(field).slice(0, 200)}" is not one address. Write it as Name <hello@acme.example>.`,
  );
}

/** Recipients of the envelope that no header names get hidden copies. */
function asAddressed(
  { to, cc }: People,
  envelope: readonly string[],
): Pick<SendRequest, 'to' | 'cc' | 'bcc'> {
  const [inTo, inCc] = [to, cc].map((list) => new Set(list.map((it) => addressKey(it.address))));
  const addressed = { to: [] as string[], cc: [] as string[], bcc: [] as string[] };
  for (const address of envelope) {
    const key = addressKey(address);
    addressed[inTo!.has(key) ? 'to' : inCc!.has(key) ? 'cc' : 'bcc'].push(address);
  }
  return addressed;
}

const isContent = ({ key }: Field): boolean =>
  key.startsWith('content-') && key !== 'content-length';

/** Each once: the description of the content must be unambiguous. */
function contentLines(fields: readonly Field[]): string {
  const described = fields.filter(isContent);
  const seen = new Set<string>();
  const twice = described.find(({ key }) => seen.size === seen.add(key).size);
  if (twice === undefined) return described.map(({ lines }) => lines).join('');
  throw new Problem('invalid', `The email has two ${twice.name} headers. Send one.`);
}

/** Where an email has been, who vouched for it there, and what only its last server needs. */
const TRACE = new Set([
  'delivered-to',
  'x-original-to',
  'x-envelope-to',
  'x-envelope-from',
  'received-spf',
  'domainkey-signature',
  'x-received',
  'x-google-dkim-signature',
  'x-google-smtp-source',
  'x-gm-message-state',
  'content-length',
  'lines',
  'status',
]);
const TRACE_FAMILIES = ['x-ms-exchange-', 'x-forefront-', 'x-microsoft-antispam'];

const isTrace = (key: string): boolean =>
  TRACE.has(key) || TRACE_FAMILIES.some((family) => key.startsWith(family));

/** The sender's own headers; those that would give a relay instructions are refused later. */
function ownHeaders(fields: readonly Field[]): [string, string][] {
  const own = fields
    .filter(({ key }) => !isTrace(key) && (!isWrittenByUs(key) || commandsRelay(key)))
    .filter(({ key }) => key !== 'references')
    .map((field): [string, string] => [field.name, oneLine(field)]);
  const references = referencesOf(fields);
  return references === '' ? own : [...own, ['References', references]];
}

const MOST_REFERENCES = 20;

/**
 * The email goes out under an id of ours, by which reports are matched. Its own id becomes the last
 * reference, so that answers and later emails of the same thread still find it.
 */
function referencesOf(fields: readonly Field[]): string {
  const idsIn = (key: string): string[] =>
    fields.filter((field) => field.key === key).flatMap(({ value }) => value.match(ID) ?? []);
  const ids = [...new Set([...idsIn('references'), ...idsIn('message-id').slice(0, 1)])];
  return (ids.length > MOST_REFERENCES ? [ids[0], ...ids.slice(1 - MOST_REFERENCES)] : ids).join(
    ' ',
  );
}

const ID = /<[!-;=?-~]{1,250}>/g;

/** With a template only the files of an email are sent. */
async function attachmentsOf({
  files,
  body,
}: SubmittedMime): Promise<Pick<SendRequest, 'attachments'>> {
  const attachments: SendRequest['attachments'] = [];
  for (const { filename, contentType, place } of files) {
    if (contentType === 'text/x-amp-html') continue;
    const bytes = await inTurns(bytesIn(body, place!));
    attachments.push({
      filename,
      content_type: contentType,
      content_base64: bytes.toString('base64'),
    });
  }
  return attachments.length === 0 ? {} : { attachments };
}

const oneLine = (field: Field | undefined): string =>
  field === undefined
    ? ''
    : textOf(field)
        .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
        .trim();
