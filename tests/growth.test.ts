// What strangers write is read in time that grows with it: every reader that has no such test
// beside its own, in one table. Elsewhere: JSON (http/json-bytes), reports (feedback/growth,
// feedback/dkim), MIME (mime/tree, mime/attacks), HTML, links and plain text (html/growth), Jinja
// (jinja/growth, jinja/search), lint (lint/lint), captured emails (sandbox/captured-email).
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { describe, expect, it } from 'vitest';
import { readDmarc } from '../src/accounts/dmarc.ts';
import { judge, type RecordPurpose } from '../src/accounts/domain-records.ts';
import { accountOfKey, hasChecksum } from '../src/accounts/keys.ts';
import { strangeLink, strangeLinkIn } from '../src/accounts/link-hosts.ts';
import { readToken as readOneTimeToken } from '../src/accounts/one-time-token.ts';
import { addressKey, parseAddress, parseMailbox } from '../src/addresses.ts';
import { compareTexts } from '../src/approvals/comparison.ts';
import { readCookie } from '../src/dashboard/session-cookie.ts';
import { mailgun } from '../src/feedback/providers/mailgun.ts';
import { postmark } from '../src/feedback/providers/postmark.ts';
import { sendgrid } from '../src/feedback/providers/sendgrid.ts';
import { readCopyToken } from '../src/feedback/return-path.ts';
import { readSes } from '../src/feedback/ses.ts';
import { canonicalString, isCertificateUrl, subscribeUrl } from '../src/feedback/sns.ts';
import { apiKeyIn } from '../src/http/api-key.ts';
import { kindOf, readRequest } from '../src/http/plain-requests.ts';
import { readId } from '../src/ids.ts';
import { readRequesters } from '../src/inbound/requester.ts';
import { lint } from '../src/lint/lint.ts';
import { fence, unfenced } from '../src/mcp/fence.ts';
import { describedBy, readFields } from '../src/mime/fields.ts';
import { nearest, similarSlugs } from '../src/nearest.ts';
import { isNetwork } from '../src/networks.ts';
import { readMark } from '../src/people/known-browser.ts';
import { deviceOf } from '../src/people/sign-in-places.ts';
import { challengeOf, readNewKey } from '../src/people/webauthn.ts';
import { systemClock } from '../src/process/clock.ts';
import { atOnce } from '../src/process/in-turns.ts';
import { readRule } from '../src/relays/rule-words.ts';
import { toSendRequest } from '../src/resend/emails.ts';
import { readAfter } from '../src/sandbox/account-inbox.ts';
import { codesIn } from '../src/sandbox/codes.ts';
import { linksInText } from '../src/sandbox/links.ts';
import { readAttachments } from '../src/sending/attachments.ts';
import { readHeaders, readTags } from '../src/sending/headers.ts';
import { readIdempotencyKey } from '../src/sending/idempotency.ts';
import { checkInlineParts } from '../src/sending/inline-parts.ts';
import { readInstant } from '../src/sending/schedule.ts';
import { createReplyReader } from '../src/smtp/reply.ts';
import { readAddressList } from '../src/submission/address-list.ts';
import { readWishes } from '../src/submission/wishes.ts';
import { changeBranding } from '../src/templates/branding.ts';
import { defaultBranding } from '../src/templates/branding-fields.ts';
import { carryCalendarFile } from '../src/templates/calendar-file.ts';
import { readImageKind } from '../src/templates/image-kinds.ts';
import { canonicalLocale, fallbacks, requireLocale } from '../src/templates/locales.ts';
import { readLogo } from '../src/templates/logos.ts';
import { piecesOf } from '../src/templates/messages.ts';
import { carryQrCodes } from '../src/templates/qr-codes.ts';
import { namesReadBy, requireFit } from '../src/templates/variable-fit.ts';
import { readSubscriber } from '../src/tracking/apply.ts';
import { isMachine } from '../src/tracking/machines.ts';
import { readToken } from '../src/tracking/token.ts';
import { expectLinear, expectLinearFor } from './support/growth.ts';

const quietly = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (problem) {
    return problem;
  }
};
const { read: readRequester } = readRequesters(['127.0.0.0/8', '10.0.0.0/8']);
const requestWith = (headers: Record<string, string>) =>
  ({
    headers,
    method: 'GET',
    socket: { remoteAddress: '127.0.0.1' },
  }) as unknown as IncomingMessage;
const KEY = Buffer.alloc(32, 7);
/** The reader of commands by itself: over a line it gets no more than 16 KB at a time. */
const commands = Object.assign(Object.create(SMTPConnection.prototype), {
  _server: { options: {}, logger: { error: () => undefined } },
  session: {},
}) as { _parseAddressCommand(name: string, command: string): unknown };
const reply = (text: string) =>
  quietly(() => createReplyReader().feed(Buffer.from(text, 'latin1'), () => undefined));
/** What a domain's servers answer, as one record and as many. */
const record = (purpose: RecordPurpose) => ({
  ...{ purpose, type: 'TXT' as const, name: 'example.com' },
  value: purpose === 'spf' ? 'v=spf1 include:a.example ~all' : 'v=DKIM1; k=rsa; p=AbCd',
});
const answered = (values: string[]) =>
  ({ values, fault: null, unknown: false, nonexistent: false }) as const;
const PROVIDED = ['a', '@', '<', '5.1.1', ' ', 'user ', 'unknown', '\n', '"', '='];
const event = (text: string) => ({
  ...{ RecordType: 'Bounce', Type: text, Description: text, Details: text, Email: text },
  ...{ event: 'failed', reason: text, recipient: text, email: text, response: text, status: text },
  'event-data': { event: 'failed', recipient: text, 'delivery-status': { message: text } },
});
const LINE = 'POST /v1/send HTTP/1.1\r\n';
const SEND = kindOf('POST /v1/send');
const HOSTS = ['example.com'];
const LINTED = { broadcast: true, unsubscribe: false } as const;
const MARKUP = ['<a href="', '<img src="', '">', '{{', '}}', '&amp;', ' ', 'https://', 'a.example'];
const passkey = (data: string) => ({
  id: data,
  clientData: Buffer.from(`{"challenge":"a","type":"webauthn.create","origin":"${data}"}`).toString(
    'base64url',
  ),
  authenticatorData: Buffer.from(data, 'latin1').toString('base64url'),
});
const party = { origin: 'https://a.example', id: 'a.example' };

it.each<[string, string[], (text: string) => unknown]>([
  ['mailboxes', ['a', '.', '@', '"', '\\', '<', '>', ' ', '-', 'xn--', 'ü', '('], parseMailbox],
  ['addresses', ['a', '.', '@', '-', 'xn--', 'ü', '1', '_', '[', ']'], parseAddress],
  ['address keys', ['a', '.', '@', 'ü', 'xn--', '。'], addressKey],
  ['names', ['from', '_', 'email', 'a', 'é'], (text) => nearest(text, ['from_email', 'to'])],
  ['slugs', ['pass', '-', 'word', ' '], (text) => similarSlugs(text, ['password-reset'])],
  ['ids', ['msg_', '0', 'A', '-'], (text) => readId('msg_', text)],
  [
    'headers',
    ['X', '-', ':', ' ', '\t', 'é'],
    (text) => quietly(() => readHeaders([[text, text]], new Set())),
  ],
  ['tags', ['a', '\n', '😀'], (text) => quietly(() => readTags([text]))],
  [
    'media types',
    ['a', '/', ';', ' ', '=', '"', '.'],
    (text) =>
      quietly(() =>
        readAttachments([{ filename: text, content_type: text, content_base64: text }]),
      ),
  ],
  [
    'X-Forwarded-For',
    ['10.0.0.1', ',', ' ', '[', ']', ':', '::ffff:', '1'],
    (text) => readRequester(requestWith({ 'x-forwarded-for': text, 'user-agent': text })),
  ],
  [
    'heads of plain posts',
    ['\r', '\n', '\r\n', ':', ' ', 'a', '\t', 'content-length: 1\r\n', '\xff'],
    (text) => readRequest(Buffer.from(`${LINE}${text}\r\n\r\n`, 'latin1'), [SEND]),
  ],
  ['API keys', ['Bearer ', ' ', 'sm_', 'live_', 'a', '0'], (text) => [apiKeyIn(undefined, text)]],
  ['keys’ shapes', ['sm_live_', 'a', '0', '_'], (text) => [accountOfKey(text), hasChecksum(text)]],
  [
    'cookies',
    ['=', ';', ' ', 'session', '"', 'a'],
    (text) => readCookie({ headers: { cookie: text } } as FastifyRequest, 'https://a.example'),
  ],
  ['tracking tokens', ['A', '-', '_', '=', '.', 'é'], (text) => readToken(KEY, text, 0)],
  ['return paths', ['a', '2', '7', '=', 'A'], (text) => readCopyToken(KEY, text, 0)],
  ['who unsubscribes', [' ', 'a', '@', '.'], readSubscriber],
  ['user agents', ['Mozilla/', '(', ')', ';', ' ', 'bot', 'via ', '5.0'], (t) => isMachine(t, t)],
  ['networks', ['10.', '0', '/', ':', '::', '8', '[', '%'], isNetwork],
  [
    'instants',
    ['2026', '-', 'T', ':', '.', '0', 'Z', '+'],
    (t) => quietly(() => readInstant('a', t)),
  ],
  [
    'idempotency keys',
    ['a', ' ', '\0', 'é', '😀'],
    (text) => quietly(() => readIdempotencyKey({ key: text, name: 'a' }, {} as never)),
  ],
  ['replies of a relay', ['250', '-', ' ', '\r\n', '\n', '\r', '5.1.1', 'a', '\xe9'], reply],
  ['address lists', ['a@b.c', ',', ';', ':', '<', '>', '"', '\\', '(', ')', ' '], readAddressList],
  [
    'header fields',
    [
      'A: ',
      'Content-Type: ',
      'a/b; ',
      'x=',
      '"',
      '\\',
      '\r\n',
      ' ',
      "*0*=utf-8''%41",
      '=?utf-8?q?a?=',
    ],
    (text) => readFields(text).fields.map(describedBy),
  ],
  [
    'references to images',
    ['="', 'cid:', 'url(', ' ', '%41', '"', '<'],
    (text) => quietly(() => checkInlineParts([], text)),
  ],
  ['QR codes', ['src="qr:', '"', 'a', '%41', '&amp;'], (text) => quietly(() => carryQrCodes(text))],
  ['codes', ['code ', '123456', ' ', '\n', '-', ':', 'A1'], (text) => codesIn(text, text)],
  [
    'links in text',
    ['https://', 'a.example', '/', '?', ' ', ')', '<', '>', '.'],
    (text) => linksInText(text, () => undefined),
  ],
  ['DMARC', ['v=DMARC1', ';', ' ', 'p', '=', 'reject', 'sp=none'], readDmarc],
  [
    'rules for relays',
    ['from', '=', ',', ' ', 'a', 'to='],
    (text) => quietly(() => readRule(text)),
  ],
  ['SES', ['{', '}', '"', '[', ':', ',', 'a', '\\', '{"mail":'], readSes],
  [
    'SNS addresses',
    ['https://', 'sns.', 'amazonaws.com', '/', '.', '-', '%', '?'],
    (text) =>
      quietly(() => [
        isCertificateUrl(text),
        subscribeUrl({ Type: 'a', SubscribeURL: text } as never),
        canonicalString({ Type: text, Message: text } as never),
      ]),
  ],
  [
    'languages',
    ['de', '-', '_', 'u-nu-', 'x-', 'Hant', '1', 'é'],
    (text) => [quietly(() => requireLocale(text)), fallbacks([canonicalLocale(text)])],
  ],
  [
    'calendar files',
    ['<!--calendar:', '-->', '&', 'title=', 'start=2026-06-20', '%41', '+', ';', '\n', 'é'],
    (text) => quietly(() => carryCalendarFile(`<!--calendar:start=2026-06-20&title=${text}-->`)),
  ],
  [
    'SMTP commands',
    ['MAIL FROM:', '<', '>', '@', ':', ',', '=', '+41', ' ', 'SIZE=1', '.', 'xn--', '[', 'é'],
    (text) => commands._parseAddressCommand('MAIL FROM', `MAIL FROM:${text}`),
  ],
  ['Postmark', PROVIDED, (text) => postmark.read(event(text))],
  ['Mailgun', PROVIDED, (text) => mailgun.read(event(text))],
  ['SendGrid', PROVIDED, (text) => sendgrid.read({ ...event(text), event: 'bounce' })],
  [
    'kinds of images',
    [
      '\x89PNG\r\n\x1a\n',
      '\xff\xd8',
      '\xff\xc0',
      '\xff\xe0\0\x02',
      '\0',
      'RIFF',
      'WEBPVP8X',
      'GIF89a',
    ],
    (text) => [
      readImageKind(Buffer.from(text, 'latin1')),
      quietly(() => readLogo(Buffer.from(text, 'latin1').toString('base64'))),
      quietly(() => readLogo(text)),
    ],
  ],
  [
    'marks of browsers, tokens of links',
    ['usr_', '.', 'A', '-', '9', 'é'],
    (text) => [
      readMark({ clock: systemClock, factorKey: KEY }, text),
      readOneTimeToken(text),
      readAfter(text),
    ],
  ],
  ['devices', ['Mozilla/5.0 ', '(', 'Windows', 'Mac OS X', ' Edg', '/', 'Chrome', ';'], deviceOf],
  [
    'passkeys',
    ['\xa5', '\x01\x02', '\x03\x26', '\x20', '\xff', '"', '\\', 'a', '\0'],
    (text) => [
      quietly(() => challengeOf(passkey(text))),
      quietly(() => readNewKey(passkey(text), party)),
    ],
  ],
  [
    'words for agents',
    ['"', '“', '”', " '", "' ", 'said: ', '⟪', '⟫', '/0123456789', 'a', ':', '.', '\u200b', '\n'],
    (text) => [fence({ detail: text, subject: text, [text]: { note: text } }), unfenced([text])],
  ],
  [
    'emails as Resend has them',
    [...MARKUP, '<p>', '</p>', ':', '2030-01-01'],
    (text) => [
      quietly(() => toSendRequest({ from: text, to: text, subject: text, html: text })),
      quietly(() => toSendRequest({ to: text, scheduled_at: text, tags: [{ name: text }] })),
    ],
  ],
  [
    'headers that ask for something',
    ['a', ',', ' ', '{', '"', ':', '=?utf-8?q?a?=', '\r\n ', '['],
    (text) => {
      const { fields } = readFields(`X-SM-Tags: ${text}\r\nX-SM-${text}: a\r\n`);
      return Promise.allSettled(fields.map((field) => readWishes([field])));
    },
  ],
  ['lint', MARKUP, (text) => lint({ ...LINTED, subject: text, text, html: text })],
  ['texts compared', ['a', '\n', ' ', 'é'], (text) => compareTexts(text, `${text}\n${text}b`)],
  ['messages of languages', ['{', '}', 'name', '_', ' ', '{{'], piecesOf],
  ['names that are read', ['{{', '}}', '{%', '%}', ' a', 'é', '_', '{'], namesReadBy],
  [
    'branding',
    ['https://', 'a.example', '/', '#', '0', '"', '@', ' ', '<', ','],
    (text) =>
      ['brand_name', 'logo_url', 'primary_color', 'support_email', 'footer_html', 'font'].map(
        (field) => quietly(() => changeBranding(defaultBranding, { [field]: text })),
      ),
  ],
])('%s', (_, pieces, read) => expectLinearFor(pieces, read, { searchMs: 300 }));

// One call of a tenant about its own domain held everyone up for 20 s: each word of 64 KB was
// looked for in all of them.
describe('records of a domain', () => {
  const words = (size: number) =>
    Array.from({ length: Math.ceil(size / 8) }, (_, n) => `a:${n.toString(36).padStart(5, '0')}`);
  it.each<[string, RecordPurpose, (size: number) => string[]]>([
    ['SPF of many words', 'spf', (size) => [`v=spf1 ${words(size).join(' ')}`]],
    ['many SPF records', 'spf', (size) => words(size).map((word) => `v=spf1 ${word}`)],
    ['DKIM of blanks', 'dkim-rsa', (size) => [`v=DKIM1;${' '.repeat(size)}`]],
    ['DKIM of tags', 'dkim-rsa', (size) => ['; p'.repeat(size / 3)]],
  ])('%s', (_, purpose, make) => {
    expectLinear(make, (values) => judge(record(purpose), answered(values)), { to: 64_000 });
    expect(judge(record(purpose), answered(make(64))).ok).toBe(false);
  });
});

// Longer than one of the pieces in which they are read.
it('links that a key may not write', () => {
  const pieces = [
    'https:',
    '/',
    '//',
    'a.',
    'evil.com',
    '&#x41;',
    '&sol;',
    '.',
    '-',
    '@',
    ' ',
    '．',
  ];
  const read = (text: string) => [
    atOnce(strangeLink(text, HOSTS)),
    atOnce(strangeLink({ [text]: [text] }, HOSTS, { plain: true })),
    atOnce(
      strangeLinkIn(
        { filename: `${text}.ics`, contentType: 'text/calendar', content: Buffer.from(text) },
        HOSTS,
      ),
    ),
  ];
  expectLinearFor(pieces, read, { searchMs: 300, from: 20_000 });
});

// Each name was looked for in all of the sender's own text, again and again.
it('many variables, and a text that reads them all', () => {
  const template = { slug: 'a', variables: [], reads: null };
  const make = (size: number) => {
    const names = Array.from({ length: size / 8 }, (_, n) => `v${n}`);
    return {
      variables: Object.fromEntries(names.map((name) => [name, 1])),
      text: names.map((name) => `{{${name}}}`).join(''),
    };
  };
  expectLinear(make, ({ variables, text }) => requireFit(template, variables, [text]));
});
