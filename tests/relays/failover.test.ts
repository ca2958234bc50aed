// Several relays, each a real SMTP server of the test, with every fault in every phase: nothing is
// lost, nothing arrives twice except where an answer was cut off, and sends are refused only if no
// relay can take them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUuid } from '../../src/ids.ts';
import { type FaultyRelay, type RelayFault, startFaultyRelay } from '../support/faulty-relay.ts';
import { inFull } from '../support/longer.ts';
import { anEmail, startTestService } from '../support/service.ts';
import { type SmtpSink, smtpError, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, changeRelays, haveRelays, removeRelay } from './support.ts';

type Stage = Awaited<ReturnType<typeof start>>;

/**
 * A service and what a group of tests does with it; the groups run beside each other. The first
 * relay is that of RELAY_URL.
 */
async function start(urls: string[]) {
  const service = await startTestService({ RELAY_URL: urls[0]!, RELAY_CONNECTIONS: '4' });
  const account = await service.account();
  for (const [at, url] of urls.slice(1).entries()) {
    await addRelay(service, { name: `relay-${at + 2}`, url });
  }

  /** As the one delivery process tells it. */
  async function states(): Promise<{ name: string; down: boolean }[]> {
    const [row] = await service.database.query<{
      relays: { name: string; down: boolean }[] | null;
    }>('SELECT relays FROM delivery_processes');
    return row?.relays ?? [];
  }
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
  const left = () => service.database.query('SELECT FROM due_messages');
  /** As if every wait were over, until nothing is left. */
  const drain = () =>
    until(async () => {
      await service.database.query(
        `UPDATE due_messages SET due_at = now() WHERE state = 'waiting' AND attempts > 0`,
      );
      return (await left()).length === 0;
    });
  await until(async () => (await states()).length === urls.length);
  return {
    ...{ service, account, sendMany, drain },
    allAreUp: () => until(async () => (await states()).every(({ down }) => !down)),
    timeline: async (id: string) => (await service.get(account.key, `/v1/messages/${id}`)).body,
  };
}

/** The same with relays that can be given faults. */
async function startFaulty(count: number): Promise<{ all: FaultyRelay[]; stage: Stage }> {
  const all = await Promise.all(Array.from({ length: count }, () => startFaultyRelay()));
  return { all, stage: await start(all.map(({ url }) => url)) };
}
async function stop({ all, stage }: { all: FaultyRelay[]; stage: Stage }): Promise<void> {
  await stage.service.stop();
  for (const relay of all) await relay.stop();
}

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

const BESIDE_EACH_OTHER = { concurrent: true };

describe.each([2, 3])('%i relays', BESIDE_EACH_OTHER, (count) => {
  let all: FaultyRelay[];
  let stage: Stage;
  beforeAll(async () => {
    ({ all, stage } = await startFaulty(count));
  });
  afterAll(() => stop({ all, stage }));
  const taken = () => all.flatMap((relay) => relay.taken);
  const expectOnce = (ids: string[]) => {
    for (const id of ids) expect(taken().filter((it) => it === id)).toHaveLength(1);
  };

  // With three there is more to choose from, and nothing else is different.
  const some: readonly RelayFault[] = ['refuses', 'hangs at DATA', 'cuts at DATA'];
  it.sequential.each(inFull(FAULTS, count === 2 ? FAULTS : some))(
    'one of them %s: nothing is lost, nothing comes twice, no 502',
    async (fault) => {
      await stage.allAreUp();
      await all[0]!.fail(fault);
      const ids = await stage.sendMany(30);
      await stage.drain();
      expectOnce(ids);
      await all[0]!.heal();
    },
  );

  it.sequential('all of them are away: 502; one is back: 202', async () => {
    await stage.allAreUp();
    for (const relay of all) await relay.fail('closes');
    await until(
      async () => (await stage.service.send(stage.account.key, anEmail())).status === 502,
    );
    await all[1]!.heal();
    await until(
      async () => (await stage.service.send(stage.account.key, anEmail())).status === 202,
    );
    await stage.drain();
    for (const relay of all) await relay.heal();
  });

  it.sequential('cut after the email: it stays with its relay, and only such emails come twice', async () => {
    await stage.allAreUp();
    await all[0]!.fail('cuts after the email');
    const before = all[0]!.arrivals.length;
    const ids: string[] = [];
    // It was left alone for a while, because it had been away.
    await until(async () => {
      ids.push(...(await stage.sendMany(10)));
      return all[0]!.arrivals.length > before;
    });
    await until(async () => {
      const rows = await stage.service.database.query(
        "SELECT FROM due_messages WHERE state <> 'waiting'",
      );
      return rows.length === 0;
    });
    // Nothing that the first may have went to another.
    const cut = new Set(all[0]!.arrivals.filter((it) => !it.answered).map((it) => it.id));
    for (const id of taken()) expect(cut.has(id)).toBe(false);
    await all[0]!.heal();
    await stage.drain();
    expectOnce(ids);
  });
});

describe('what a relay says of the email', BESIDE_EACH_OTHER, () => {
  let stage: Stage;
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
    stage = await start([one.url, two.url]);
    // All to the first, as long as it takes them.
    await changeRelays(stage.service, { 'relay-2': { weight: 0 } });
  });
  afterAll(async () => {
    await stage.service.stop();
    await one.stop();
    await two.stop();
  });

  it.sequential.each([
    ['rcpt', 421, '4.3.2 too many', 'goes elsewhere'],
    ['rcpt', 450, '4.7.1 slow down', 'goes elsewhere'],
    ['rcpt', 451, '4.3.0 try again', 'stays'],
    ['content', 454, '4.7.0 too much today', 'goes elsewhere'],
    ['content', 451, '4.3.0 try again', 'stays'],
    ['rcpt', 550, '5.7.1 not wanted', 'bounces'],
    ['content', 554, '5.6.0 not wanted', 'bounces'],
  ] as const)('%s: %i %s: the email %s', async (at, code, words, outcome) => {
    says = { at, code, words };
    const before = two.emails.length;
    const [id] = await stage.sendMany(1);
    if (outcome === 'stays') {
      const kept = () =>
        stage.service.database.query<{ recipients: { relay: string }[] }>(
          'SELECT recipients FROM delivery_attempts WHERE message_id = $1',
          [readUuid('msg_', id!)],
        );
      const [attempt] = await until(async () => (await kept()).length > 0 && (await kept()));
      expect(attempt!.recipients[0]!.relay).toBe('default');
      says = undefined;
      await stage.drain();
    } else {
      const ends = outcome === 'bounces' ? 'bounced' : 'sent';
      await until(async () => (await stage.timeline(id!)).status === ends);
    }
    expect(two.emails.length - before).toBe(outcome === 'goes elsewhere' ? 1 : 0);
  });

  it.sequential('a relay that keeps slowing us down is left alone for a while', async () => {
    says = { at: 'rcpt', code: 450, words: '4.7.1 slow down' };
    const before = two.emails.length;
    await stage.sendMany(30);
    await until(() => two.emails.length === before + 30);
    says = undefined;
    expect(one.emails.length).toBeLessThan(10);
  });
});

describe('a retry', BESIDE_EACH_OTHER, () => {
  let all: FaultyRelay[];
  let stage: Stage;
  beforeAll(async () => {
    ({ all, stage } = await startFaulty(2));
  });
  afterAll(() => stop({ all, stage }));

  /** One email that the second relay deferred; from then on new email goes to the first. */
  async function deferred(): Promise<string> {
    await changeRelays(stage.service, { default: { weight: 0 }, 'relay-2': { weight: 1 } });
    await all[1]!.fail('defers the recipient');
    const [id] = await stage.sendMany(1);
    await until(async () => {
      const rows = await stage.service.database.query(
        "SELECT FROM due_messages WHERE state = 'waiting' AND attempts > 0",
      );
      return rows.length === 1;
    });
    await changeRelays(stage.service, { default: { weight: 1 }, 'relay-2': { weight: 0 } });
    return id!;
  }

  it.sequential('stays with the relay that deferred', async () => {
    const id = await deferred();
    await all[1]!.heal();
    await stage.drain();
    expect(all[1]!.taken).toContain(id);
  });

  it.sequential('goes to another when that is down', async () => {
    const id = await deferred();
    await all[1]!.fail('refuses');
    await stage.drain();
    expect(all[0]!.taken).toContain(id);
  });

  it.sequential('goes to another when that was removed', async () => {
    await all[1]!.heal();
    const id = await deferred();
    await removeRelay(stage.service, 'relay-2');
    await haveRelays(stage.service, ['default']);
    await stage.drain();
    expect(all[0]!.taken).toContain(id);
  });
});

describe('an email that is larger than what is under way on a line', BESIDE_EACH_OTHER, () => {
  let all: FaultyRelay[];
  let stage: Stage;
  beforeAll(async () => {
    ({ all, stage } = await startFaulty(2));
    await changeRelays(stage.service, { 'relay-2': { weight: 0 } });
  });
  afterAll(() => stop({ all, stage }));
  const large = {
    attachments: [
      {
        ...{ filename: 'large.bin', content_type: 'application/octet-stream' },
        content_base64: Buffer.alloc(15_000_000, 7).toString('base64'),
      },
    ],
  };

  it.sequential('cut inside its content goes to another at once: the relay cannot have it', async () => {
    await all[0]!.fail('cuts in the email');
    const [id] = await stage.sendMany(1, large);
    await until(() => all[1]!.taken.includes(id!));
    expect(all[0]!.arrivals).toEqual([]);
    await all[0]!.heal();
  });

  it.sequential('cut after its end stays with its relay', async () => {
    await stage.allAreUp();
    await all[0]!.fail('cuts after the email');
    const [id] = await stage.sendMany(1, large);
    await until(() => all[0]!.arrivals.some((it) => it.id === id));
    await all[0]!.heal();
    await stage.drain();
    expect(all[0]!.taken).toEqual([id]);
    expect(all[1]!.taken).not.toContain(id);
  });
});
