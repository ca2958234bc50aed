// Images inside an email, files below it, invitations: sent through the service, read back by an
// independent parser.
import PostalMime, { type Email } from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

let sink: Awaited<ReturnType<typeof startSink>>;
let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  sink = await startSink();
  service = await startTestService({ RELAY_URL: sink.url });
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
const image = {
  filename: 'logo.png',
  content_type: 'image/png',
  content_base64: base64(PNG),
  content_id: 'logo',
};
const file = {
  filename: 'a.pdf',
  content_type: 'application/pdf',
  content_base64: base64('%PDF-1.7'),
};
const invitation = {
  filename: 'invite.ics',
  content_type: 'text/calendar; method=REQUEST',
  content_base64: base64('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n'),
};
const SHOWN = '<p>Hello <img src="cid:logo" alt="Acme"></p>';

async function arrived(changes: Record<string, unknown>): Promise<{ raw: string; read: Email }> {
  const { status, body } = await service.send(account.key, anEmail(changes));
  expect(body).toMatchObject({ status: 'queued' });
  expect(status).toBe(202);
  const got = await until(() => sink.emails.find((it) => it.envelopeId === body.id));
  const raw = got.raw.toString();
  return { raw, read: await PostalMime.parse(raw) };
}

async function refused(changes: Record<string, unknown>): Promise<string> {
  const { status, body } = await service.send(account.key, anEmail(changes));
  expect(status).toBe(400);
  return body.detail;
}

it('the fault names its field', async () => {
  const html = '<img src="cid:nowhere">';
  const { body } = await service.send(account.key, anEmail({ html }));
  expect(body.faults).toMatchObject([{ path: 'html' }]);
});

/** The multiparts in the order in which they open, with the leaves' types. */
const tree = (raw: string) =>
  [...raw.matchAll(/^content-type: ([\w/-]+)/gim)].map(([, type]) => type!.toLowerCase());

describe('the tree', () => {
  const text = 'Hello';
  const either = [true, false];
  const cases = either
    .flatMap((hasText) => either.map((hasHtml) => ({ hasText, hasHtml })))
    .flatMap((has) => either.map((hasImage) => ({ ...has, hasImage })))
    .flatMap((has) => either.map((hasFile) => ({ ...has, hasFile })))
    .flatMap((has) => either.map((hasInvite) => ({ ...has, hasInvite })))
    // An email has a body, and an image stands in HTML.
    .filter((has) => (has.hasText || has.hasHtml) && (has.hasHtml || !has.hasImage));
  it.each(cases)(
    'text $hasText, html $hasHtml, image $hasImage, file $hasFile, invite $hasInvite',
    async (has) => {
      const { raw, read } = await arrived({
        html: has.hasHtml ? (has.hasImage ? SHOWN : '<p>Hello</p>') : undefined,
        text: has.hasText ? text : undefined,
        attachments: [
          ...(has.hasFile ? [file] : []),
          ...(has.hasInvite ? [invitation] : []),
          ...(has.hasImage ? [image] : []),
        ],
      });
      const html = has.hasImage ? ['multipart/related', 'text/html', 'image/png'] : ['text/html'];
      const forms = [
        ...(has.hasText ? [['text/plain']] : []),
        ...(has.hasHtml ? [html] : []),
        ...(has.hasInvite ? [['text/calendar']] : []),
      ];
      const bodies = forms.length > 1 ? ['multipart/alternative', ...forms.flat()] : forms.flat();
      expect(tree(raw)).toEqual(
        has.hasFile ? ['multipart/mixed', ...bodies, 'application/pdf'] : bodies,
      );
      if (has.hasHtml) expect(read.html).toContain(has.hasImage ? 'cid:logo' : 'Hello');
      expect(read.text?.trim()).toBe(has.hasText ? text : undefined);
      // The invitation is a form of the email, so it has no name.
      const parts = read.attachments.filter((it) => it.mimeType !== 'text/calendar');
      expect(parts.map((it) => [it.filename, it.disposition, it.contentId])).toEqual([
        ...(has.hasImage ? [['logo.png', 'inline', '<logo>']] : []),
        ...(has.hasFile ? [['a.pdf', 'attachment', undefined]] : []),
      ]);
      for (const it of parts) {
        const bytes = Buffer.from(it.content as ArrayBuffer);
        expect(bytes.equals(it.filename === 'a.pdf' ? Buffer.from('%PDF-1.7') : PNG)).toBe(true);
      }
      const invites = read.attachments.filter((it) => it.mimeType === 'text/calendar');
      expect(invites.map((it) => it.method)).toEqual(has.hasInvite ? ['REQUEST'] : []);
      for (const { content } of invites) {
        const words =
          typeof content === 'string' ? content : Buffer.from(content as ArrayBuffer).toString();
        expect(words.trim().split(/\r?\n/)).toEqual(
          Buffer.from(invitation.content_base64, 'base64').toString().trim().split('\r\n'),
        );
      }
    },
  );

  it('two images, one of them in a style, and a file that is shown', async () => {
    const { raw, read } = await arrived({
      text: undefined,
      html: `<div style="background:url('cid:bg@acme')"><img src=cid:logo></div>`,
      attachments: [
        image,
        { ...image, filename: 'bg.png', content_id: 'bg@acme' },
        { ...file, disposition: 'inline' },
      ],
    });
    expect(tree(raw)).toEqual([
      'multipart/mixed',
      'multipart/related',
      'text/html',
      'image/png',
      'image/png',
      'application/pdf',
    ]);
    expect(read.attachments.map((it) => it.disposition)).toEqual(['inline', 'inline', 'inline']);
  });

  it('an invitation is another form of the email, after the HTML', async () => {
    const { raw } = await arrived({
      html: '<p>Hello</p>',
      text: 'Hello',
      attachments: [invitation, file],
    });
    expect(tree(raw)).toEqual([
      'multipart/mixed',
      'multipart/alternative',
      'text/plain',
      'text/html',
      'text/calendar',
      'application/pdf',
    ]);
    expect(raw).toContain('Content-Type: text/calendar; method=REQUEST; charset=utf-8');
  });

  it('a calendar without a method is a file like any other', async () => {
    const { raw } = await arrived({
      text: undefined,
      html: '<p>Hello</p>',
      attachments: [{ ...invitation, content_type: 'text/calendar' }],
    });
    expect(tree(raw)).toEqual(['multipart/mixed', 'text/html', 'text/calendar']);
  });
});

describe('what does not fit together is named', () => {
  it.each([
    ['an image that is not there', { html: '<img src="cid:nowhere">' }, /cid:nowhere/],
    [
      'an image that the HTML does not show',
      { html: '<p>Hi</p>', attachments: [image] },
      /^attachments\[0\]\.content_id: .*"logo"/,
    ],
    [
      'an image without HTML',
      { html: undefined, text: 'Hi', attachments: [image] },
      /^attachments\[0\]/,
    ],
    [
      'two of one name',
      { html: SHOWN, attachments: [image, image] },
      /^attachments\[1\].*attachments\[0\]/,
    ],
    [
      'brackets in the name',
      { html: SHOWN, attachments: [{ ...image, content_id: '<logo>' }] },
      /angle brackets/,
    ],
    [
      'a line break in the name',
      { html: SHOWN, attachments: [{ ...image, content_id: 'a\r\nBcc: x@y.example' }] },
      /^attachments\[0\]\.content_id/,
    ],
    [
      'an image that shall be an attachment',
      { html: SHOWN, attachments: [{ ...image, disposition: 'attachment' }] },
      /^attachments\[0\]\.disposition/,
    ],
    [
      'a disposition that there is not',
      { html: SHOWN, attachments: [{ ...file, disposition: 'hidden' }] },
      /disposition/,
    ],
  ])('%s', async (_, changes, detail) => {
    expect(await refused(changes)).toMatch(detail);
  });

  it('words about cid: in the text are words', async () => {
    const { read } = await arrived({ html: '<p>Write cid:logo to show it</p>' });
    expect(read.html).toContain('cid:logo');
  });

  it('takes no longer for much of it', async () => {
    const detail = await refused({
      html: `<p>${'=cid:'.repeat(100_000)}${'url( '.repeat(100_000)}`,
    });
    expect(detail).toMatch(/^html: it shows cid:/);
  });
});
