// All the way through a real Postfix: our API → Postfix as relay → Postfix as receiving server →
// DSN → timeline. All emails are sent first and their results awaited together: some take a queue's
// lifetime.

import { Resolver } from 'node:dns/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDomain } from '../../src/accounts/domains.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { missingPostfix, type PostfixPair, startPostfixPair } from '../support/postfix.ts';
import { freePort } from '../support/process.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const missing = missingPostfix();
if (missing !== undefined) {
  process.stderr.write(`\n*** POSTFIX SCENARIOS SKIPPED: ${missing}\n\n`);
}

const BOUNCES = 'bounces.test';
const WAIT_MS = 50_000;

let database: TestDatabase;
let dns: TestDns;
let postfix: PostfixPair;
let service: TestService;
let account: TestAccount;
/** Recipients that were seen before, for greylisting. */
const seen = new Set<string>();
let released = false;

/** What the receiving server says. */
function judge(recipient: string): string {
  const first = !seen.has(recipient);
  seen.add(recipient);
  const name = recipient.split('@')[0]!.split('+')[0]!;
  switch (name) {
    case 'nouser':
    case 'nöuser':
      return `550 5.1.1 <${recipient}>: Recipient address rejected: User unknown in virtual mailbox table`;
    case 'full':
      return `552 5.2.2 <${recipient}>: Mailbox is over quota`;
    case 'grey':
      return first ? `450 4.2.0 <${recipient}>: Greylisted, see you later` : 'DUNNO';
    case 'late':
      return released ? 'DUNNO' : '451 4.3.0 The mailbox is being moved, try again';
    case 'never':
      return '451 4.3.0 Temporary failure, try again';
    default:
      return 'DUNNO';
  }
}

describe.skipIf(missing !== undefined)('through a real Postfix', () => {
  const ids = new Map<string, string>();

  beforeAll(async () => {
    database = await createTestDatabase();
    dns = await startDns();
    const feedbackPort = await freePort();
    postfix = await startPostfixPair({ feedbackPort, bounceDomain: BOUNCES, judge });
    service = await startTestService(
      {
        RELAY_URL: postfix.relayUrl,
        FEEDBACK_PORT: String(feedbackPort),
        BOUNCE_DOMAIN: BOUNCES,
        DNS_SERVERS: dns.address,
      },
      { on: database },
    );
    account = await service.account({ identities: [] });
    const { vault } = await openSecret(database.database, undefined);
    const { records } = await addDomain(
      { database: database.database, bounceDomain: BOUNCES, vault },
      account.id,
      'example.com',
      true,
    );
    for (const { type, name, value } of records) dns.publish(type, name, value);

    const emails: Record<string, string[]> = {
      delivered: ['ok@sink.test'],
      relayed: ['ok@plain.test'],
      'user unknown': ['nouser@sink.test'],
      'over quota': ['full@sink.test'],
      greylisted: ['grey@sink.test'],
      delayed: ['late@sink.test'],
      expired: ['never@sink.test'],
      mixed: ['ok+m@sink.test', 'nouser+m@sink.test', 'ok+m@plain.test', 'full+m@plain.test'],
      'utf-8': ['jürgen@sink.test'],
      'utf-8 unknown': ['nöuser@sink.test'],
    };
    for (const [name, to] of Object.entries(emails)) {
      const answer = await service.send(account.key, anEmail({ to, subject: `Grüße: ${name}` }));
      expect(answer.status).toBe(202);
      ids.set(name, answer.body.id);
    }
  });

  afterAll(async () => {
    await service?.stop();
    await postfix?.stop();
    await dns?.close();
    await database?.drop();
  });

  interface Event {
    type: string;
    recipients: string[];
    [field: string]: unknown;
  }
  const timeline = async (name: string): Promise<{ status: string; events: Event[] }> =>
    (await service.get(account.key, `/v1/messages/${ids.get(name)}`)).body;
  const ended = (name: string, events: number) =>
    until(async () => {
      const story = await timeline(name);
      return story.events.length >= events && story;
    }, WAIT_MS).catch((error) => {
      throw new Error(`${name}: ${error.message}\n${postfix.log()}`);
    });
  const suppressed = async () =>
    (await database.database.query<{ address: string }>('SELECT address FROM suppressions')).map(
      (row) => row.address,
    );
  const delayOf = async (recipient: string) =>
    (
      await database.database.query<{ delay: { smtp_response: string } | null }>(
        'SELECT last_delay AS delay FROM messages WHERE recipients = $1',
        [[recipient]],
      )
    )[0]?.delay;

  it.each([
    ['delivered', 'ok@sink.test', 'mx.sink.test'],
    ['relayed', 'ok@plain.test', '127.0.0.1'],
    ['utf-8', 'jürgen@sink.test', 'mx.sink.test'],
  ])('%s: the receiving server took it', async (name, recipient, host) => {
    const { status, events } = await ended(name, 2);
    expect(status).toBe('delivered');
    expect(events).toMatchObject([
      { type: 'sent', recipients: [recipient], subject: `Grüße: ${name}` },
      {
        type: 'delivered',
        recipients: [recipient],
        [host.startsWith('mx') ? 'reporting_mta' : 'remote_mta']: host,
      },
    ]);
    expect(events[1]!.smtp_response).not.toBe('');
  });

  it.each([
    ['user unknown', 'nouser@sink.test', 'user-unknown', /^550 5\.1\.1 .*User unknown/, true],
    ['over quota', 'full@sink.test', 'mailbox-full', /^552 5\.2\.2 .*over quota/, false],
    ['utf-8 unknown', 'nöuser@sink.test', 'user-unknown', /^550 5\.1\.1/, true],
  ])(
    '%s: a permanent bounce, and the address is suppressed where it is dead',
    async (name, recipient, reason, said, isDead) => {
      const { status, events } = await ended(name, 2);
      expect(status).toBe('bounced');
      expect(events[1]).toMatchObject({
        type: 'bounced',
        recipients: [recipient],
        bounce_type: 'permanent',
        reason,
        smtp_response: expect.stringMatching(said),
        remote_mta: '127.0.0.1',
        suppressed: isDead,
      });
      expect((await suppressed()).includes(recipient)).toBe(isDead);
    },
  );

  it('greylisted: delivered on the second try, and never a bounce', async () => {
    const { status, events } = await ended('greylisted', 2);
    expect(status).toBe('delivered');
    expect(events.map((event) => event.type)).toEqual(['sent', 'delivered']);
  });

  it('delayed: kept on the message, delivered in the end', async () => {
    const delay = await until(() => delayOf('late@sink.test'), WAIT_MS);
    expect(delay.smtp_response).toContain('451 4.3.0');
    expect(await timeline('delayed')).toMatchObject({ status: 'sent', events: [{ type: 'sent' }] });
    released = true;
    const { events } = await ended('delayed', 2);
    expect(events.map((event) => event.type)).toEqual(['sent', 'delivered']);
  });

  it('expired: a transient bounce after the queue’s lifetime, and nobody is suppressed', async () => {
    const { status, events } = await ended('expired', 2);
    expect(status).toBe('bounced');
    expect(events[1]).toMatchObject({
      type: 'bounced',
      recipients: ['never@sink.test'],
      bounce_type: 'transient',
    });
    expect(await delayOf('never@sink.test')).toBeTruthy();
    expect(await suppressed()).not.toContain('never@sink.test');
  });

  it('mixed recipients: each has their own end', async () => {
    const { status, events } = await ended('mixed', 5);
    expect(status).toBe('bounced');
    expect(events[0]).toMatchObject({ type: 'sent' });
    const of = (type: string) =>
      events
        .filter((event) => event.type === type)
        .flatMap((event) => event.recipients)
        .sort();
    expect(of('delivered')).toEqual(['ok+m@plain.test', 'ok+m@sink.test']);
    expect(of('bounced')).toEqual(['full+m@plain.test', 'nouser+m@sink.test']);
  });

  it('what arrives carries both DKIM signatures, unbroken by the way', async () => {
    await ended('delivered', 2);
    const arrived = readdirSync(postfix.emailFolder).map((file) =>
      readFileSync(join(postfix.emailFolder, file)),
    );
    const ours = arrived.find((raw) => raw.includes(ids.get('delivered')!))!;
    const resolver = new Resolver();
    resolver.setServers([dns.address]);
    const { results } = await dkimVerify(ours, {
      resolver: (name: string, type: string) => resolver.resolve(name, type) as Promise<string[][]>,
    });
    expect(results.map((result) => result.status.result)).toEqual(['pass', 'pass']);
  });
});
