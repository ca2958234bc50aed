// QR codes and pictures in templates: read back by an independent decoder, out of the email that
// arrived.
import { createRequire } from 'node:module';
import { inflateSync } from 'node:zlib';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { Problem } from '../../src/errors.ts';
import { systemClock } from '../../src/process/clock.ts';
import { showCarried } from '../../src/templates/carried-file.ts';
import { carryQrCodes } from '../../src/templates/qr-codes.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

type Jsqr = (
  pixels: Uint8ClampedArray,
  width: number,
  height: number,
) => { binaryData: number[] } | null;
const { default: jsqr } = createRequire(import.meta.url)('jsqr') as { default: Jsqr };

/** What a camera reads. The PNG is taken apart here: one bit a pixel, not filtered. */
function scan(png: Buffer): string | undefined {
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  const side = png.readUInt32BE(16);
  const start = png.indexOf('IDAT') + 4;
  const lines = inflateSync(png.subarray(start, start + png.readUInt32BE(start - 8)));
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  const perLine = 1 + Math.ceil(side / 8);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const white = (lines[y * perLine + 1 + (x >> 3)]! >> (7 - (x & 7))) & 1;
      if (!white) pixels.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    }
  }
  const read = jsqr(pixels, side, side);
  return read ? Buffer.from(read.binaryData).toString() : undefined;
}

const shownAs = (text: string): string => `<img src="qr:${encodeURIComponent(text)}" alt="">`;

describe('a QR code', () => {
  it.each([
    'https://acme.example/tickets/4711?seat=12&row=B',
    'Grüße aus Köln ☀',
    '4711',
    ...[14, 26, 42, 62, 84, 106, 122, 152, 180, 213, 251, 287, 331, 362, 412, 450, 500].map(
      (length) => 'x1'.repeat(250).slice(0, length),
    ),
  ])('says %s', (text) => {
    const { html, files } = carryQrCodes(`<p>${shownAs(text)}</p>`);
    expect(files).toHaveLength(1);
    expect(html).toBe(`<p><img src="cid:${files[0]!.contentId}" alt=""></p>`);
    expect(scan(Buffer.from(files[0]!.content))).toBe(text);
    expect(showCarried(html, files)).toContain('src="data:image/png;base64,iVBORw');
  });

  it('stands twice and is carried once; HTML without one stays as it is', () => {
    expect(carryQrCodes(shownAs('a') + shownAs('b') + shownAs('a')).files).toHaveLength(2);
    expect(carryQrCodes('<p>qr: and src=</p>')).toEqual({
      html: '<p>qr: and src=</p>',
      files: [],
    });
  });

  it.each([
    ['nothing', shownAs('')],
    ['more than 500 bytes', shownAs('ü'.repeat(251))],
    ['a megabyte', shownAs('x'.repeat(1_000_000))],
    ['broken encoding', '<img src="qr:%zz">'],
    ['eleven of them', Array.from({ length: 11 }, (_, n) => shownAs(`${n}`)).join('')],
  ])('%s is refused', (_, html) => {
    expect(() => carryQrCodes(html)).toThrow(Problem);
  });
});

describe('a template with pictures', () => {
  let sink: SmtpSink;
  let service: TestService;
  let key: string;
  const call = async (path: string, body: object, method = 'POST') => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' };
    const url = `${service.url}/v1/templates${path}`;
    const answer = await request(url, { method, headers, body: JSON.stringify(body) });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const HTML = `{% extends "layout.html" %}{% import "macros.html" as ui with context %}
{% block content %}{{ ui.image('https://acme.example/hall.jpg', 'The hall', url='https://acme.example/') }}
{{ ui.qr(ticket.url, 'Ticket ' ~ ticket.number) }}{% endblock %}`;
  const variables = { ticket: { url: 'https://acme.example/t/4711?a=1&b=2', number: 4711 } };

  beforeAll(async () => {
    sink = await startSink();
    service = await startTestService({ RELAY_URL: sink.url });
    const { id } = await service.account();
    const scopes = ['email:send', 'email:read', 'templates:read', 'templates:write'] as const;
    key = (await createKey(service.database, systemClock, { accountId: id, scopes })).key;
    const about = { name: 'Ticket', category: 'bookings', subject: 'Your ticket' };
    await call('/ticket', { ...about, html: HTML, sample: variables }, 'PUT');
  });
  afterAll(async () => {
    await service.stop();
    await sink.stop();
  });

  const arrived = async (id: string) => {
    const taken = await until(() => sink.emails.find(({ envelopeId }) => envelopeId === id));
    return await PostalMime.parse(taken.raw);
  };

  async function expectTicket(id: string) {
    const { html = '', text = '', attachments } = await arrived(id);
    const [code] = attachments;
    expect(attachments).toHaveLength(1);
    expect(code).toMatchObject({ mimeType: 'image/png', related: true });
    expect(html).toContain(`src="cid:${code!.contentId!.replace(/[<>]/g, '')}"`);
    expect(html).toContain('alt="Ticket 4711"');
    expect(scan(Buffer.from(code!.content as ArrayBuffer))).toBe(variables.ticket.url);
    expect(text).toContain('Ticket 4711');
    expect(text).not.toContain('qr:');
  }

  it('is seen in its preview, as a test and in the email: the code is carried, nothing is fetched', async () => {
    const preview = await call('/ticket/render', {});
    expect(preview.html).toContain('src="data:image/png;base64,');
    expect(preview.html).toContain(
      'src="https://acme.example/hall.jpg" alt="The hall" width="510"',
    );
    await expectTicket((await call('/ticket/test-send', { to: 'ada@example.net' })).id);
    await call('/ticket/publish', { version: 1 });
    const { subject: _s, html: _h, text: _t, ...rest } = anEmail();
    const { status, body } = await service.send(key, { ...rest, template: 'ticket', variables });
    expect(status).toBe(202);
    await expectTicket(body.id);
  });
});
