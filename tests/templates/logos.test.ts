// A logo that an account uploads: known by its bytes, served from its own address forever, and
// carried by every email where branding says so.
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { readImageKind } from '../../src/templates/image-kinds.ts';
import { readLogo } from '../../src/templates/logos.ts';
import { carryQrCodes } from '../../src/templates/qr-codes.ts';
import { request, startTestService, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { fromTemplate } from './support.ts';

/** A PNG of our own making, each text another one. */
const png = (text: string): Buffer =>
  Buffer.from(carryQrCodes(`<img src="qr:${text}">`).files[0]!.content);
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const WEBP = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');
const WELCOME = { name: 'Ada', action_url: 'https://acme.example/begin' };
/** An application segment before the frame, as cameras write it. */
const JPEG = Buffer.from('ffd8ffe000044a46ffc0000b08002000400101110000ffd9', 'hex');

describe('what kind of image it is', () => {
  it('is read from its bytes, with its size', () => {
    expect(readImageKind(png('a'))).toMatchObject({ contentType: 'image/png', extension: 'png' });
    expect(readImageKind(GIF)).toMatchObject({ contentType: 'image/gif', width: 1, height: 1 });
    expect(readImageKind(WEBP)).toMatchObject({ contentType: 'image/webp', width: 1, height: 1 });
    expect(readImageKind(JPEG)).toMatchObject({
      ...{ contentType: 'image/jpeg', extension: 'jpg', width: 64, height: 32 },
    });
  });

  it('every beginning of one is refused or read, never a fault of ours', () => {
    for (const whole of [png('a'), GIF, WEBP, JPEG]) {
      for (let length = 0; length < Math.min(whole.length, 100); length++) {
        readImageKind(whole.subarray(0, length));
      }
    }
    // Segments of a length of nothing end.
    expect(readImageKind(Buffer.from(`ffd8ff${'e00000'.repeat(50)}`, 'hex'))).toBeUndefined();
    const growing = Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(131_072, 0xff)]);
    expect(readImageKind(growing)).toBeUndefined();
  });

  it.each([
    ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>')],
    ['HTML', Buffer.from('<html><script>alert(1)</script></html>')],
    ['nothing', Buffer.alloc(0)],
    ['more than 128 KB', Buffer.concat([png('a'), Buffer.alloc(131_072)])],
    ['5000 pixels', Buffer.from(GIF).fill(0x88, 6, 8).fill(0x13, 7, 8)],
  ])('%s is refused', (_, bytes) => {
    expect(() => readLogo(bytes.toString('base64'))).toThrow(/^content_base64: the file /);
  });
});

describe('a logo', () => {
  let sink: SmtpSink;
  let service: TestService;
  beforeAll(async () => {
    sink = await startSink();
    service = await startTestService({ RELAY_URL: sink.url });
  });
  afterAll(async () => {
    await service.stop();
    await sink.stop();
  });

  async function someone() {
    const { id } = await service.account();
    const scopes = ['email:send', 'branding:read', 'branding:write', 'templates:read'] as const;
    const { key } = await createKey(service.database, systemClock, { accountId: id, scopes });
    const call = (method: string, path: string, body: object) =>
      request(`${service.url}/v1/${path}`, {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const upload = (bytes: Buffer, more: object = {}) =>
      call('PUT', 'branding/logo', { content_base64: bytes.toString('base64'), ...more });
    return { id, key, call, upload };
  }

  async function received(key: string) {
    const { status, body } = await service.send(key, fromTemplate('welcome', WELCOME));
    expect(status, JSON.stringify(body)).toBe(202);
    const taken = await until(() => sink.emails.find(({ envelopeId }) => envelopeId === body.id));
    return await PostalMime.parse(taken.raw);
  }

  it('is served from its own address, which never changes', async () => {
    const { id, key, upload } = await someone();
    const logo = png('served');
    const { status, body } = await upload(logo);
    expect(status, JSON.stringify(body)).toBe(200);
    const { logo_url } = body.branding;
    expect(logo_url).toMatch(new RegExp(`^${service.url}/logos/${id}/[0-9a-f]{64}\\.png$`));
    // The same again is the same image.
    expect((await upload(logo)).body.branding.logo_url).toBe(logo_url);

    const shown = await fetch(logo_url);
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(logo);
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const headers = { 'if-none-match': shown.headers.get('etag')! };
    expect((await fetch(logo_url, { headers })).status).toBe(304);
    expect((await fetch(logo_url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(logo_url.replace(/[0-9a-f]{4}\.png/, '0000.png'))).status).toBe(404);

    const { html = '', attachments } = await received(key);
    expect(html).toContain(`src="${logo_url}"`);
    expect(attachments).toEqual([]);
  });

  it('is carried by each email when it is inline, and nothing has to be loaded', async () => {
    const { key, call, upload } = await someone();
    const logo = png('carried');
    expect((await upload(logo, { logo_inline: true })).body.branding.logo_inline).toBe(true);
    const { html = '', attachments } = await received(key);
    expect(attachments).toHaveLength(1);
    expect(attachments[0]).toMatchObject({
      ...{ mimeType: 'image/png', related: true, filename: 'logo.png' },
    });
    expect(Buffer.from(attachments[0]!.content as ArrayBuffer)).toEqual(logo);
    const contentId = attachments[0]!.contentId!.replace(/[<>]/g, '');
    expect(html).toContain(`src="cid:${contentId}"`);
    expect(html).not.toContain('/logos/');
    const preview = await call('POST', 'branding/preview', { branding: {}, slugs: ['welcome'] });
    expect(preview.body.previews[0].email.html).toContain(
      `src="data:image/png;base64,${logo.toString('base64')}"`,
    );

    // An address of one's own cannot be carried: nothing is ever fetched.
    const logo_url = 'https://acme.example/logo.png';
    const elsewhere = await call('PATCH', 'branding', { logo_url });
    expect(elsewhere.body.branding).toMatchObject({ logo_url });
    expect(elsewhere.body.branding.logo_inline).toBeUndefined();
    const refused = await call('PATCH', 'branding', { logo_inline: true });
    expect([refused.status, refused.body.faults[0].path, refused.body.detail]).toEqual([
      400,
      'logo_inline',
      'branding.logo_inline needs a logo that was uploaded. Upload it, and do not set logo_url yourself. See PUT /v1/branding/logo.',
    ]);
    const { attachments: none } = await received(key);
    expect(none).toEqual([]);
  });

  it('of another account is not carried', async () => {
    const [owner, thief] = [await someone(), await someone()];
    const { logo_url } = (await owner.upload(png('owned'))).body.branding;
    await thief.call('PATCH', 'branding', { logo_url, logo_inline: true });
    expect((await received(thief.key)).attachments).toEqual([]);
  });

  it('fifty are kept, so that emails that are out still show theirs', async () => {
    const { id, upload } = await someone();
    const first = (await upload(png('0'))).body.branding.logo_url;
    for (let n = 1; n <= 50; n++) expect((await upload(png(`${n}`))).status).toBe(200);
    expect((await fetch(first)).status).toBe(404);
    const [{ kept }] = (await service.database.query(
      'SELECT count(*)::integer AS kept FROM logos WHERE account_id = $1',
      [id],
    )) as [{ kept: number }];
    expect(kept).toBe(50);
  });
});
