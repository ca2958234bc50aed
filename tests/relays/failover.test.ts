// Several relays, each a real SMTP server of the test, with every fault in every phase: nothing is
// lost, nothing comes twice but where an answer was cut, and sends are refused only when no relay
// can take them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { type FaultyRelay, type RelayFault, startFaultyRelay } from '../support/faulty-relay.ts';
import { inFull } from '../support/longer.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { type SmtpSink, smtpError, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays, removeRelay } from './support.ts';

let service: TestService;
let account: TestAccount;
let all: FaultyRelay[];

/** The first is that of RELAY_URL. */
async function start(urls: string[]): Promise<void> {
  service = await startTestService({ RELAY_URL: urls[0]!, RELAY_CONNECTIONS: '4' });
  account = await service.account();
  for (const [at, url] of urls.slice(1).entries()) {
    await addRelay(service, { name: `relay-${at + 2}`, url });
  }
  await until(async () => (await states()).length === urls.length);
}
/** As the one delivery process tells it. */
async function states(): Promise<{ name: string; down: boolean }[]> {
  const [row] = await service.database.query<{ relays: { name: string; down: boolean }[] | null }>(
    'SELECT relays FROM delivery_processes',
  );
  return row?.relays ?? [];
}
const allAreUp = () => until(async () => (await states()).every(({ down }) => !down), 30_000);

async function sendMany(count: number, changes: Record<string, unknown> = {}): Promise<string[]> {
  const ids: string[] = [];
  await Promise.all(
    Array.from({ length: count }, async () => {
      const { status, body } = await service.send(account.key, anEmail(changes));
      expect(status).toBe(202);
      ids.push(body.id);
    }),
  );
  return ids;
}
const left = async (): Promise<number> =>
  (await service.database.query<{ left: number }>('SELECT count(*) AS left FROM due_messages'))[0]!
    .left;
/** As if every wait were over, until nothing is left. */
const drain = () =>
  until(async () => {
    await service.database.query(
      `UPDATE due_messages SET due_at = now() WHERE state = 'waiting' AND attempts > 0`,
    );
    return (await left()) === 0;
  }, 60_000);

const FAULTS: RelayFault[] = [
  'refuses',
  'closes',
  'greets with 421',
  'greets with 554',
  'silent',
  'breaks TLS',
  'refuses the login',
  'hangs at MAIL',
  'hangs at RCPT',
  'hangs at DATA',
  'cuts at MAIL',
  'cuts at RCPT',
  'cuts at DATA',
  'says 421 at MAIL',
  'says 421 at RCPT',
  'says 421 at DATA',
];

describe.each([2, 3])('%i relays', (count) => {
  beforeAll(async () => {
    all = await Promise.all(Array.from({ length: count }, () => startFaultyRelay()));
    await start(all.map(({ url }) => url));
  });
  afterAll(async () => {
    await service.stop();
    for (const relay of all) await relay.stop();
  });
  const taken = () => all.flatMap((relay) => relay.taken);
  const expectOnce = (ids: string[]) => {
    for (const id of ids) expect(taken().filter((it) => it === id)).toHaveLength(1);
  };

  // With three there is more to choose from, and nothing else is different.
  const some: readonly RelayFault[] = ['refuses', 'hangs at DATA', 'cuts at DATA'];
  it.each(inFull(FAULTS, count === 2 ? FAULTS : some))(
    'one of them %s: nothing is lost, nothing comes twice, no 502',
    async (fault) => {
      await allAreUp();
      await all[0]!.fail(fault);
      const ids = await sendMany(30);
      await drain();
      expectOnce(ids);
      await all[0]!.heal();
    },
    90_000,
  );

  it('all of them are away: 502; one is back: 202', async () => {
    await allAreUp();
    for (const relay of all) await relay.fail('closes');
    await until(async () => (await service.send(account.key, anEmail())).status === 502, 30_000);
    await all[1]!.heal();
    await until(async () => (await service.send(account.key, anEmail())).status === 202, 30_000);
    await drain();
    for (const relay of all) await relay.heal();
  });

  it('cut after the email: it stays with its relay, and only such emails come twice', async () => {
    await allAreUp();
    await all[0]!.fail('cuts after the email');
    const before = all[0]!.arrivals.length;
    const ids: string[] = [];
    // It was left alone for a while, because it had been away.
    await until(async () => {
      ids.push(...(await sendMany(10)));
      return all[0]!.arrivals.length > before;
    });
    await until(async () => {
      const rows = await service.database.query(
        "SELECT FROM due_messages WHERE state <> 'waiting'",
      );
      return rows.length === 0;
    });
    // Nothing that the first may have went to another.
    const cut = new Set(all[0]!.arrivals.filter((it) => !it.answered).map((it) => it.id));
    for (const id of taken()) expect(cut.has(id)).toBe(false);
    await all[0]!.heal();
    await drain();
    expectOnce(ids);
  });
});

describe('what a relay says of the email', () => {
  /** What the first says: to the recipient, or of the content. */
  let says: { at: 'rcpt' | 'content'; code: number; words: string } | undefined;
  const saidAt = (at: string) => (says?.at === at ? smtpError(says.code, says.words) : undefined);
  let one: SmtpSink;
  let two: SmtpSink;
  beforeAll(async () => {
    one = await startSink({
      onRcptTo: (_, __, done) => done(saidAt('rcpt')),
      onEmail: async () => {
        const said = saidAt('content');
        if (said) throw said;
      },
    });
    two = await startSink();
    await start([one.url, two.url]);
    // All to the first, as long as it takes them.
    await changeRelays(service, { 'relay-2': { weight: 0 } });
  });
  afterAll(async () => {
    await service.stop();
    await one.stop();
    await two.stop();
  });

  it.each([
    ['rcpt', 421, '4.3.2 too many', 'goes elsewhere'],
    ['rcpt', 450, '4.7.1 slow down', 'goes elsewhere'],
    ['rcpt', 451, '4.3.0 try again', 'stays'],
    ['content', 454, '4.7.0 too much today', 'goes elsewhere'],
    ['content', 451, '4.3.0 try again', 'stays'],
    ['rcpt', 550, '5.7.1 not wanted', 'bounces'],
    ['content', 554, '5.6.0 not wanted', 'bounces'],
  ] as const)(
    '%s: %i %s: the email %s',
    async (at, code, words, outcome) => {
      says = { at, code, words };
      const before = two.emails.length;
      const [id] = await sendMany(1);
      if (outcome === 'stays') {
        const kept = () =>
          service.database.query<{ recipients: { relay: string }[] }>(
            'SELECT recipients FROM delivery_attempts WHERE message_id = $1',
            [readUuid('msg_', id!)],
          );
        const [attempt] = await until(async () => (await kept()).length > 0 && (await kept()));
        expect(attempt!.recipients[0]!.relay).toBe('default');
        says = undefined;
        await drain();
      } else {
        const ends = outcome === 'bounces' ? 'bounced' : 'sent';
        await until(async () => (await timeline(id!)).status === ends);
      }
      expect(two.emails.length - before).toBe(outcome === 'goes elsewhere' ? 1 : 0);
    },
    60_000,
  );

  it('a relay that keeps slowing us down is left alone for a while', async () => {
    says = { at: 'rcpt', code: 450, words: '4.7.1 slow down' };
    const before = two.emails.length;
    await sendMany(30);
    await until(() => two.emails.length === before + 30);
    says = undefined;
    expect(one.emails.length).toBeLessThan(10);
  });
});

const timeline = async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body;

describe('a retry', () => {
  beforeAll(async () => {
    all = await Promise.all([startFaultyRelay(), startFaultyRelay()]);
    await start(all.map(({ url }) => url));
  });
  afterAll(async () => {
    await service.stop();
    for (const relay of all) await relay.stop();
  });

  /** One email that the second relay deferred; from then on new email goes to the first. */
  async function deferred(): Promise<string> {
    await changeRelays(service, { default: { weight: 0 }, 'relay-2': { weight: 1 } });
    await all[1]!.fail('defers the recipient');
    const [id] = await sendMany(1);
    await until(async () => {
      const rows = await service.database.query(
        "SELECT FROM due_messages WHERE state = 'waiting' AND attempts > 0",
      );
      return rows.length === 1;
    });
    await changeRelays(service, { default: { weight: 1 }, 'relay-2': { weight: 0 } });
    return id!;
  }

  it('stays with the relay that deferred', async () => {
    const id = await deferred();
    await all[1]!.heal();
    await drain();
    expect(all[1]!.taken).toContain(id);
  });

  it('goes to another when that is down', async () => {
    const id = await deferred();
    await all[1]!.fail('refuses');
    await drain();
    expect(all[0]!.taken).toContain(id);
  });

  it('goes to another when that was removed', async () => {
    await all[1]!.heal();
    const id = await deferred();
    await removeRelay(service, 'relay-2');
    await haveRelays(service, ['default']);
    await drain();
    expect(all[0]!.taken).toContain(id);
  });
});

describe('an email that is larger than what is under way on a line', () => {
  beforeAll(async () => {
    all = await Promise.all([startFaultyRelay(), startFaultyRelay()]);
    await start(all.map(({ url }) => url));
    await changeRelays(service, { 'relay-2': { weight: 0 } });
  });
  afterAll(async () => {
    await service.stop();
    for (const relay of all) await relay.stop();
  });
  const large = {
    attachments: [
      {
        ...{ filename: 'large.bin', content_type: 'application/octet-stream' },
        content_base64: Buffer.alloc(15_000_000, 7).toString('base64'),
      },
    ],
  };

  it('cut inside its content goes to another at once: the relay cannot have it', async () => {
    await all[0]!.fail('cuts in the email');
    const [id] = await sendMany(1, large);
    await until(() => all[1]!.taken.includes(id!), 60_000);
    expect(all[0]!.arrivals).toEqual([]);
    await all[0]!.heal();
  });

  it('cut after its end stays with its relay', async () => {
    await allAreUp();
    await all[0]!.fail('cuts after the email');
    const [id] = await sendMany(1, large);
    await until(() => all[0]!.arrivals.some((it) => it.id === id), 60_000);
    await all[0]!.heal();
    await drain();
    expect(all[0]!.taken).toEqual([id]);
    expect(all[1]!.taken).not.toContain(id);
  });
});
