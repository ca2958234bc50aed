// Opens and clicks over HTTP, from the email that the relay got to the timeline.
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAccount } from '../../src/accounts/accounts.ts';
import { readUuid } from '../../src/ids.ts';
import { cloneTemplate } from '../../src/templates/account-templates.ts';
import { catalogFolder, loadCatalog } from '../../src/templates/catalog.ts';
import { captured, hrefs, pixelOf } from '../support/captured.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0';
const GMAIL =
  'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)';
const HTML =
  '<p><a href="https://shop.example/a?b=1&amp;c=ü">A</a> <a href="mailto:x@y.example">M</a> <a href="#top">T</a> <a data-sm-track="off" href="https://shop.example/off">O</a></p>';

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

async function send(changes: Record<string, unknown> = {}, by = account): Promise<string> {
  const answer = await service.send(by.key, anEmail({ html: HTML, ...changes }));
  expect(answer.status).toBe(202);
  return answer.body.id;
}

const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

const visit = (url: string, userAgent = FIREFOX, headers: Record<string, string> = {}) =>
  fetch(url, { redirect: 'manual', headers: { 'user-agent': userAgent, ...headers } });

async function eventOf(id: string, type: string) {
  return await until(async () =>
    (await timeline(id)).events.find((event: { type: string }) => event.type === type),
  );
}

describe('the email', () => {
  it('has a pixel and led links; what is marked or no web address stays', async () => {
    const { email: got } = await captured(service.database, await send());
    const [tracked, ...kept] = hrefs(got.html);
    expect(tracked).toMatch(`${service.url}/c/`);
    expect(kept).toEqual(['mailto:x@y.example', '#top', 'https://shop.example/off']);
    expect(pixelOf(got.html)).toMatch(`${service.url}/o/`);
  });

  it('without HTML is not touched', async () => {
    const id = await send({ html: undefined, text: 'See https://shop.example/a' });
    expect((await captured(service.database, id)).email.text?.trim()).toBe(
      'See https://shop.example/a',
    );
  });
});

describe('templates', () => {
  const variablesOf = (slug: string) => loadCatalog(catalogFolder).templates.get(slug)!.sample;
  const linksOf = async (template: string, by = account, sample = template) => {
    const id = await send(
      {
        template,
        variables: variablesOf(sample),
        html: undefined,
        text: undefined,
        subject: undefined,
      },
      by,
    );
    const { email: got } = await captured(service.database, id);
    return hrefs(got.html).filter((href) => href.startsWith('http'));
  };

  it('about logging in and security keep every link as it is', async () => {
    for (const slug of ['password-reset', 'magic-link', 'new-device-login']) {
      const links = await linksOf(slug);
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) expect(link).not.toContain('/c/');
    }
  });

  it('of other kinds are led through us', async () => {
    expect((await linksOf('order-shipped')).some((link) => link.includes('/c/'))).toBe(true);
  });

  it('that an account cloned from them keep their links too', async () => {
    const other = await service.account();
    const deps = { database: service.database, catalog: loadCatalog(catalogFolder) };
    await cloneTemplate(deps, other.id, 'password-reset', 'our-reset');
    for (const link of await linksOf('our-reset', other, 'password-reset')) {
      expect(link).not.toContain('/c/');
    }
  });
});

describe('two people on one network', () => {
  it('with the same program stay apart: each opens and clicks for themselves', async () => {
    const people = ['ada@example.net', 'bob@example.net'];
    const id = await send({ to: people });
    const copies = await until(async () => {
      const rows = await service.database.query<{ recipients: string[]; raw: Buffer }>(
        'SELECT recipients, raw FROM sandbox_mails WHERE account_id = $1 AND message_id = $2',
        [account.id, readUuid('msg_', id)],
      );
      return rows.length === 2 ? rows : undefined;
    });
    for (const { raw } of copies) {
      const { html } = await PostalMime.parse(raw);
      await visit(pixelOf(html)!);
      await visit(hrefs(html)[0]!);
    }
    const seen = await until(async () => {
      const rows = await service.database.query<{ kind: string; recipients: string[] }>(
        `SELECT kind::text, recipients FROM events
         WHERE account_id = $1 AND message_id = $2 AND kind IN ('opened', 'clicked')
         ORDER BY kind::text, recipients`,
        [account.id, readUuid('msg_', id)],
      );
      return rows.length >= 4 ? rows : undefined;
    });
    expect(seen).toEqual([
      { kind: 'clicked', recipients: ['ada@example.net'] },
      { kind: 'clicked', recipients: ['bob@example.net'] },
      { kind: 'opened', recipients: ['ada@example.net'] },
      { kind: 'opened', recipients: ['bob@example.net'] },
    ]);
  });
});

describe('opens', () => {
  it('are recorded with program and address', async () => {
    const id = await send();
    const pixel = pixelOf((await captured(service.database, id)).email.html)!;
    const answer = await visit(pixel);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('image/gif');
    expect(answer.headers.get('cache-control')).toContain('no-store');
    expect(
      Buffer.from(await answer.arrayBuffer())
        .subarray(0, 6)
        .toString(),
    ).toBe('GIF89a');
    expect(await eventOf(id, 'opened')).toMatchObject({
      user_agent: FIREFOX,
      ip_address: '127.0.0.1',
      machine: false,
    });
    expect((await timeline(id)).status).toBe('opened');
    // Webhooks name the recipients of every event.
    const [row] = await service.database.query<{ recipients: string[] }>(
      `SELECT recipients FROM events WHERE kind = 'opened'`,
    );
    expect(row!.recipients).toEqual(['ada@example.net']);
  });

  it('by image proxies are marked, and still raise the status', async () => {
    const id = await send();
    await visit(pixelOf((await captured(service.database, id)).email.html)!, GMAIL);
    expect(await eventOf(id, 'opened')).toMatchObject({ machine: true });
    expect((await timeline(id)).status).toBe('opened');
  });

  it('take the address from a proxy that is trusted, the first from the right that is not one', async () => {
    const id = await send();
    await visit(pixelOf((await captured(service.database, id)).email.html)!, FIREFOX, {
      'x-forwarded-for': '203.0.113.9, 198.51.100.7, 127.0.0.2',
    });
    expect(await eventOf(id, 'opened')).toMatchObject({ ip_address: '198.51.100.7' });
  });

  it('count once a minute for the same program at the same place', async () => {
    const id = await send();
    const pixel = pixelOf((await captured(service.database, id)).email.html)!;
    await Promise.all([visit(pixel), visit(pixel), visit(pixel)]);
    await visit(pixel, GMAIL);
    await until(async () =>
      (await timeline(id)).events.some((it: { machine?: boolean }) => it.machine),
    );
    const opens = (await timeline(id)).events.filter(
      (it: { type: string }) => it.type === 'opened',
    );
    // A minute may just have turned between the requests.
    expect(opens.length).toBeGreaterThanOrEqual(2);
    expect(opens.length).toBeLessThanOrEqual(3);
  });

  it('with a token that is not ours get the same image and no event', async () => {
    const id = await send();
    const pixel = pixelOf((await captured(service.database, id)).email.html)!;
    const forged = `${pixel.slice(0, -2)}${pixel.endsWith('AA') ? 'BB' : 'AA'}`;
    for (const url of [forged, `${service.url}/o/x`]) {
      const answer = await visit(url);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('image/gif');
    }
    // A true open after them is the only one there is.
    await visit(pixel);
    await eventOf(id, 'opened');
    const opens = (await timeline(id)).events.filter(
      (it: { type: string }) => it.type === 'opened',
    );
    expect(opens).toHaveLength(1);
  });
});

describe('clicks', () => {
  it('lead to the link as the sender wrote it, and are recorded', async () => {
    const id = await send();
    const [link] = hrefs((await captured(service.database, id)).email.html);
    const answer = await visit(link!);
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('https://shop.example/a?b=1&c=%C3%BC');
    expect(await eventOf(id, 'clicked')).toMatchObject({
      url: 'https://shop.example/a?b=1&c=ü',
      user_agent: FIREFOX,
      ip_address: '127.0.0.1',
      machine: false,
    });
    expect((await timeline(id)).status).toBe('clicked');
  });

  it('by scanners are marked and do not raise the status', async () => {
    const id = await send();
    const [link] = hrefs((await captured(service.database, id)).email.html);
    expect((await visit(link!, 'BarracudaCentral/1.0')).status).toBe(302);
    expect(await eventOf(id, 'clicked')).toMatchObject({ machine: true });
    await until(async () => (await timeline(id)).status === 'delivered');
  });

  it('never go anywhere else: a token that was changed, or one of another kind, is refused', async () => {
    const { email: got } = await captured(service.database, await send());
    const [link] = hrefs(got.html);
    const token = link!.split('/c/')[1]!;
    const bytes = Buffer.from(token, 'base64url');
    for (let at = 0; at < bytes.length; at += 7) {
      const bent = Buffer.from(bytes);
      bent[at]! ^= 1;
      const answer = await visit(`${service.url}/c/${bent.toString('base64url')}`);
      expect(answer.status).toBe(404);
      expect(answer.headers.get('location')).toBeNull();
    }
    const pixel = pixelOf(got.html)!.split('/o/')[1]!;
    expect((await visit(`${service.url}/c/${pixel}`)).status).toBe(404);
    expect(
      (await visit(`${service.url}/c/${token}?url=https://evil.example`)).headers.get('location'),
    ).toMatch(/^https:\/\/shop\.example/);
  });

  it('work for links of 2,000 characters', async () => {
    const long = `https://shop.example/${'a'.repeat(1900)}`;
    const id = await send({ html: `<a href="${long}">x</a>` });
    const [link] = hrefs((await captured(service.database, id)).email.html);
    expect((await visit(link!)).headers.get('location')).toBe(long);
  });
});

describe('switches of the account', () => {
  it('turn opens and clicks off, each by itself, at once', async () => {
    const other = await service.account();
    await changeAccount(service.database, other.id, { trackOpens: false });
    const first = (await captured(service.database, await send({}, other))).email;
    expect(pixelOf(first.html)).toBeUndefined();
    expect(hrefs(first.html)[0]).toContain('/c/');
    await changeAccount(service.database, other.id, { trackOpens: true, trackClicks: false });
    const second = (await captured(service.database, await send({}, other))).email;
    expect(pixelOf(second.html)).toBeDefined();
    expect(hrefs(second.html)[0]).toBe('https://shop.example/a?b=1&c=ü');
    await changeAccount(service.database, other.id, { trackOpens: false });
    expect((await captured(service.database, await send({}, other))).email.html?.trim()).toBe(HTML);
  });
});

describe('a real relay', () => {
  it.each([
    ['gets no tracked email while nobody said where recipients reach us', {}, false],
    ['gets tracked email with TRACKING_URL', { TRACKING_URL: 'https://t.example/' }, true],
  ])('%s', async (_, env, tracked) => {
    const relay = await startSink();
    const other = await startTestService({ RELAY_URL: relay.url, ...env });
    try {
      const { key } = await other.account();
      await other.send(key, anEmail({ html: HTML }));
      const got = await until(() => relay.emails[0]);
      const { html } = await PostalMime.parse(got.raw);
      expect(html?.trim() === HTML).toBe(!tracked);
      if (tracked) expect(pixelOf(html)).toMatch(/^https:\/\/t\.example\/o\//);
    } finally {
      await other.stop();
      await relay.stop();
    }
  });
});
