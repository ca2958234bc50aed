// The SMTP client against relays that behave, misbehave and break, each played line by line.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { createMetrics } from '../../src/process/metrics.ts';
import { createRelay, type Envelope, type Relay, type RelayConfig } from '../../src/smtp/relay.ts';
import { createRelayHealth } from '../../src/smtp/relay-health.ts';
import { DEFAULT_TIMEOUTS, openSession } from '../../src/smtp/session.ts';
import { type Peer, type ScriptedSmtp, scriptedSmtp } from '../support/scripted-smtp.ts';
import { until } from '../support/until.ts';

const SHORT = {
  connectMs: 200,
  greetingMs: 200,
  mailMs: 200,
  rcptMs: 200,
  dataMs: 200,
  blockMs: 200,
  finalMs: 200,
};
const MAIL = [Buffer.from('Subject: hi\r\n\r\n'), Buffer.from('.dot\r\nlast line')];
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

async function server(
  play: (peer: Peer, connection: number) => Promise<void>,
): Promise<ScriptedSmtp> {
  const started = await scriptedSmtp(play);
  opened.push(started);
  return started;
}
function relayTo(target: { url: string }, config: Partial<RelayConfig> = {}): Relay {
  const relay = createRelay({
    url: target.url,
    name: 'client.example',
    timeouts: SHORT,
    ...config,
  });
  opened.push({ close: () => relay.close(500) });
  return relay;
}
function envelope(...recipients: string[]): Envelope {
  return {
    from: 'bounce+t@b.example',
    recipients: recipients.length > 0 ? recipients : ['jane@c.example'],
    envelopeId: 'msg_1',
    smtputf8: false,
  };
}
/** Plays one mail that is accepted; returns the mail. */
async function takeMail(peer: Peer, recipients = 1, queued = 'Q1'): Promise<string> {
  await peer.expect(/^MAIL FROM:<bounce\+t@b\.example>/);
  for (let i = 0; i < recipients; i++) await peer.expect(/^RCPT TO:<.*>/);
  await peer.expect(/^DATA$/);
  peer.send('250 2.1.0 Ok', ...Array(recipients).fill('250 2.1.5 Ok'), '354 go');
  const mail = await peer.data();
  peer.send(`250 2.0.0 Ok: queued as ${queued}`);
  return mail;
}
/** Greets and then only listens. */
const greetOnly = (keyword: string) => async (peer: Peer) => {
  await peer.greet(keyword);
  await peer.gone;
};
const results = (handOver: { recipients: { result: string }[] }) =>
  handOver.recipients.map(({ result }) => result);

describe('a mail that goes through', () => {
  it('is pipelined: MAIL, all RCPT and DATA arrive before any of them is answered', async () => {
    let mail = '';
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING');
        mail = await takeMail(peer, 2, '4XyZ');
        await peer.expect(/^QUIT$/);
      }),
    );
    const handOver = await relay.hand(envelope('jane@c.example', 'joe@c.example'), MAIL);
    expect(handOver).toEqual({
      connection: 'ok',
      fault: undefined,
      recipients: ['jane@c.example', 'joe@c.example'].map((recipient) => ({
        recipient,
        result: 'accepted',
        code: 250,
        enhanced: '2.0.0',
        text: '250 2.0.0 Ok: queued as 4XyZ',
        stage: 'body',
      })),
      response: '250 2.0.0 Ok: queued as 4XyZ',
      relayMessageId: '4XyZ',
      unconfirmed: false,
    });
    expect(mail).toBe('Subject: hi\r\n\r\n..dot\r\nlast line\r\n');
  });

  it('goes line by line where the relay does not offer PIPELINING', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('SIZE 1000');
        for (const [pattern, reply] of [
          [/^MAIL FROM:<bounce\+t@b\.example> SIZE=30$/, '250 ok'],
          [/^RCPT TO:<jane@c\.example>$/, '250 ok'],
          [/^DATA$/, '354 go'],
        ] as const) {
          await peer.expect(pattern);
          // A client that did not wait would have written the next command by the time this line
          // was read.
          await new Promise((resolve) => setImmediate(resolve));
          expect(peer.pending()).toBe('');
          peer.send(reply);
        }
        await peer.data();
        peer.send('250 done');
        await peer.expect(/^QUIT$/);
      }),
    );
    expect(results(await relay.hand(envelope(), MAIL))).toEqual(['accepted']);
  });

  it('asks for reports when the relay offers DSN', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING', 'DSN');
        await peer.expect(/^MAIL FROM:<bounce\+t@b\.example> RET=HDRS ENVID=msg_1$/);
        await peer.expect(
          /^RCPT TO:<a\+b@c\.example> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;a\+2Bb@c\.example$/,
        );
        await peer.expect(/^DATA$/);
        peer.send('250 ok', '250 ok', '354 go');
        await peer.data();
        peer.send('250 ok');
        await peer.gone;
      }),
    );
    expect(results(await relay.hand(envelope('a+b@c.example'), MAIL))).toEqual(['accepted']);
  });

  it('survives replies that come one byte at a time', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        const drip = async (text: string) => {
          for (const byte of text) {
            peer.socket.write(byte);
            await new Promise((resolve) => setImmediate(resolve));
          }
        };
        await drip('220-welcome\r\n220 here\r\n');
        await peer.expect(/^EHLO/);
        await drip('250-x\r\n250 PIPELINING\r\n');
        await peer.expect(/^MAIL/);
        await peer.expect(/^RCPT/);
        await peer.expect(/^DATA/);
        await drip('250 2.1.0 Ok\r\n250-2.1.5 first\r\n250 2.1.5 second\r\n354 go\r\n');
        await peer.data();
        await drip('250 done\r\n');
        await peer.gone;
      }),
    );
    expect(await relay.hand(envelope(), MAIL)).toMatchObject({
      connection: 'ok',
      response: '250 done',
    });
  });
});

describe('what the relay cannot take', () => {
  it('a mail over its SIZE is refused without asking', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('SIZE 29');
        await peer.expect(/^QUIT$/);
      }),
    );
    const handOver = await relay.hand(envelope(), MAIL);
    expect(handOver).toMatchObject({ connection: 'ok', response: '' });
    expect(handOver.recipients[0]).toMatchObject({
      result: 'refused',
      code: 552,
      enhanced: '5.3.4',
    });
    await relay.close();
  });

  it('a header in UTF-8 is refused with 5.6.7 without SMTPUTF8', async () => {
    const relay = relayTo(await server(greetOnly('PIPELINING')));
    const handOver = await relay.hand({ ...envelope(), smtputf8: true }, MAIL);
    expect(handOver.recipients[0]).toMatchObject({
      result: 'refused',
      code: 550,
      enhanced: '5.6.7',
    });
  });

  it('one recipient that needs SMTPUTF8 does not stop the others', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING');
        await takeMail(peer, 1);
        await peer.gone;
      }),
    );
    expect(results(await relay.hand(envelope('jürgen@c.example', 'jane@c.example'), MAIL))).toEqual(
      ['refused', 'accepted'],
    );
  });

  it('SMTPUTF8 is used where offered', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING', 'SMTPUTF8', '8BITMIME');
        await peer.expect(/^MAIL FROM:<bounce\+t@b\.example> BODY=8BITMIME SMTPUTF8$/);
        await peer.expect(/^RCPT TO:<jürgen@c\.example>$/);
        await peer.expect(/^DATA$/);
        peer.send('250 ok', '250 ok', '354 go');
        await peer.data();
        peer.send('250 ok');
        await peer.gone;
      }),
    );
    expect(results(await relay.hand(envelope('jürgen@c.example'), MAIL))).toEqual(['accepted']);
  });
});

// Every stage × every way to fail. Up to AUTH the relay counts as unreachable and nobody bounces,
// whatever the code; after that the code decides about the recipients.
const BEFORE_MAIL = ['greeting', 'ehlo', 'tls', 'auth'] as const;
const IN_MAIL = ['mail', 'rcpt', 'data', 'body'] as const;
type Stage = (typeof BEFORE_MAIL)[number] | (typeof IN_MAIL)[number];

/** Plays a good relay up to `stage` and lets `act` take over there. */
function upTo(stage: Stage, pipelining: boolean, act: (peer: Peer) => unknown) {
  return async (peer: Peer) => {
    const step = async (name: Stage, pattern: RegExp | undefined, ...replies: string[]) => {
      if (pattern !== undefined) await peer.expect(pattern);
      if (stage !== name) {
        peer.send(...replies);
        return false;
      }
      await act(peer);
      await peer.gone;
      return true;
    };
    const keywords = [
      '250-scripted',
      '250-AUTH PLAIN',
      ...(stage === 'tls' ? ['250-STARTTLS'] : []),
    ];
    if (await step('greeting', undefined, '220 scripted')) return;
    if (await step('ehlo', /^EHLO/, ...keywords, pipelining ? '250 PIPELINING' : '250 HELP'))
      return;
    if (stage === 'tls') await step('tls', /^STARTTLS$/);
    if (stage === 'tls' || (await step('auth', /^AUTH PLAIN AHUAcA==$/, '235 ok'))) return;
    if (await step('mail', /^MAIL/, '250 ok')) return;
    if (await step('rcpt', /^RCPT/, '250 ok')) return;
    if (await step('data', /^DATA/, '354 go')) return;
    await peer.data();
    await act(peer);
    await peer.gone;
  };
}
const login = (target: ScriptedSmtp) => ({ url: target.url.replace('smtp://', 'smtp://u:p@') });

describe.each([true, false])('faults, pipelining %s', (pipelining) => {
  it.each(
    BEFORE_MAIL.flatMap((stage) =>
      ['421 4.3.2 down', '450 4.7.0 later', '554 5.7.1 no'].map((reply) => [stage, reply] as const),
    ),
  )('%s answered with %s: unreachable, deferred', async (stage, reply) => {
    const relay = relayTo(login(await server(upTo(stage, pipelining, (peer) => peer.send(reply)))));
    const handOver = await relay.hand(envelope('a@c.example', 'b@c.example'), MAIL);
    expect(handOver).toMatchObject({
      connection: 'unreachable',
      fault: { stage },
      unconfirmed: false,
      response: '',
    });
    expect(handOver.fault!.text).toContain(reply);
    expect(results(handOver)).toEqual(['deferred', 'deferred']);
  });

  it.each(
    IN_MAIL.flatMap((stage) =>
      ['450 4.7.0 later', '550 5.7.1 no', '421 4.3.2 down'].map((reply) => [stage, reply] as const),
    ),
  )('%s answered with %s: the code decides', async (stage, reply) => {
    // With pipelining the relay answers what follows too (RFC 2920 3.1).
    const rest =
      pipelining && !reply.startsWith('421')
        ? { mail: 2, rcpt: 1, data: 0, body: 0 }[stage as 'mail']
        : 0;
    const relay = relayTo(
      login(
        await server(
          upTo(stage, pipelining, (peer) =>
            peer.send(reply, ...Array(rest).fill('503 5.5.1 bad sequence')),
          ),
        ),
      ),
    );
    const handOver = await relay.hand(envelope(), MAIL);
    const code = Number(reply.slice(0, 3));
    const lost = code === 421 && stage !== 'body';
    expect(handOver.connection).toBe(lost ? 'lost' : 'ok');
    expect(handOver.response).toBe(stage === 'body' ? reply : '');
    expect(handOver.recipients).toEqual([
      {
        recipient: 'jane@c.example',
        result: code < 500 ? 'deferred' : 'refused',
        code,
        enhanced: reply.slice(4, 9),
        text: reply,
        stage: lost ? undefined : stage,
      },
    ]);
  });

  const breaks: [string, (peer: Peer) => unknown][] = [
    ['closes', (peer) => peer.socket.end()],
    ['resets', (peer) => peer.reset()],
    ['hangs', () => {}],
    ['sends garbage', (peer) => peer.send('<html>')],
    ['begins a reply and closes', (peer) => peer.socket.end('250-half')],
  ];
  const all = [...BEFORE_MAIL, ...IN_MAIL].flatMap((stage) =>
    breaks.map(([what, act]) => [stage, what, act] as const),
  );
  it.each(all)(
    'at %s the relay %s: deferred, or unknown once it was given the content',
    async (stage, _what, act) => {
      const relay = relayTo(login(await server(upTo(stage, pipelining, act))));
      const handOver = await relay.hand(envelope(), MAIL);
      const early = (BEFORE_MAIL as readonly string[]).includes(stage);
      expect(handOver).toMatchObject({
        connection: early ? 'unreachable' : 'lost',
        // A reset can overtake the news that the connection stands.
        fault: {
          stage: stage === 'greeting' ? expect.stringMatching(/^(connect|greeting)$/) : stage,
        },
        unconfirmed: stage === 'body',
      });
      expect(handOver.recipients[0]).toMatchObject({
        result: stage === 'body' ? 'unknown' : 'deferred',
        code: 421,
        enhanced: early ? '4.4.1' : '4.4.2',
      });
    },
  );

  it('keeps the verdicts given before the connection broke', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet(...(pipelining ? ['PIPELINING'] : []));
        await peer.expect(/^MAIL/);
        peer.send('250 ok');
        await peer.expect(/^RCPT/);
        peer.send('550 5.1.1 unknown');
        await peer.expect(/^RCPT/);
        peer.socket.end('250 ok\r\n');
      }),
    );
    const handOver = await relay.hand(envelope('a@c.example', 'b@c.example', 'c@c.example'), MAIL);
    expect(results(handOver)).toEqual(['refused', 'deferred', 'deferred']);
  });

  it('delivers to those who were accepted and says what happened to the others', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet(...(pipelining ? ['PIPELINING'] : []));
        await peer.expect(/^MAIL/);
        peer.send('250 ok');
        for (const reply of ['250 ok', '550 5.1.1 unknown', '452 4.2.2 full', '250 ok']) {
          await peer.expect(/^RCPT/);
          peer.send(reply);
        }
        await peer.expect(/^DATA/);
        peer.send('354 go');
        await peer.data();
        peer.send('250 2.0.0 Ok: queued as Z9');
        await peer.gone;
      }),
    );
    const handOver = await relay.hand(
      envelope('a@c.example', 'b@c.example', 'c@c.example', 'd@c.example'),
      MAIL,
    );
    expect(results(handOver)).toEqual(['accepted', 'refused', 'deferred', 'accepted']);
    expect(handOver.recipients[1]!.text).toBe('550 5.1.1 unknown');
    expect(handOver.relayMessageId).toBe('Z9');
  });
});

it('gives a relay that wants a mail for nobody an empty one', async () => {
  let mail = 'none';
  const relay = relayTo(
    await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
      peer.send('250 ok', '550 5.1.1 unknown', '354 go');
      mail = await peer.data();
      peer.send('554 5.5.1 no valid recipients');
      await peer.expect(/^RSET$/);
      peer.send('250 ok');
      await takeMail(peer);
      await peer.gone;
    }),
  );
  expect(results(await relay.hand(envelope(), MAIL))).toEqual(['refused']);
  expect(mail).toBe('');
  expect(results(await relay.hand(envelope(), MAIL))).toEqual(['accepted']);
});

it('takes the reply of a relay that stops in the middle of a big mail', async () => {
  const relay = relayTo(
    await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
      peer.send('250 ok', '250 ok', '354 go');
      await peer.expect(/^line$/);
      peer.socket.pause();
      peer.send('552 5.3.4 too big after all');
      await peer.gone;
    }),
  );
  const handOver = await relay.hand(envelope(), [Buffer.alloc(20_000_000, 'line\r\n')]);
  expect(handOver.recipients[0]).toMatchObject({ result: 'refused', code: 552 });
});

it('does not believe a relay that accepts a mail before it has all of it', async () => {
  const relay = relayTo(
    await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
      peer.send('250 ok', '250 ok', '354 go');
      await peer.expect(/^line$/);
      peer.socket.pause();
      peer.send('250 2.0.0 Ok: queued as TOOSOON');
      await peer.gone;
    }),
  );
  const handOver = await relay.hand(envelope(), [Buffer.alloc(30_000_000, 'line\r\n')]);
  expect(handOver).toMatchObject({ connection: 'lost', relayMessageId: undefined });
  expect(results(handOver)).toEqual(['deferred']);
});

it('does not take a reply for the mail’s that came before the mail', async () => {
  const relay = relayTo(
    await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
      peer.send('250 ok', '250 ok', '354 go', '250 2.0.0 Ok: queued as TOOSOON');
      await peer.gone;
    }),
  );
  expect(await relay.hand(envelope(), MAIL)).toMatchObject({
    connection: 'lost',
    fault: { stage: 'data' },
  });
});

it('gives up on a relay that takes no data', async () => {
  const relay = relayTo(
    await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
      peer.socket.pause();
      peer.send('250 ok', '250 ok', '354 go');
      await peer.gone;
    }),
  );
  const handOver = await relay.hand(envelope(), [Buffer.alloc(30_000_000, 'line\r\n')]);
  expect(handOver).toMatchObject({
    connection: 'lost',
    fault: { stage: 'body', text: 'the relay took no data for 0.2 s' },
    unconfirmed: false,
  });
});

describe('half a minute of silence while another relay could take the mail', () => {
  // Silence is counted in beats: these are made here, and everything else goes by the clock.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());
  const LARGE = [Buffer.alloc(30_000_000, 'line\r\n')];
  const PATIENT = { ...SHORT, blockMs: 60_000, finalMs: 60_000 };

  /** `begun`: what was sent of the mail when the silence began. */
  async function silence(chunks: Buffer[], begun: RegExp, timeouts = PATIENT) {
    let isSilent = false;
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING');
        for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
        peer.send('250 ok', '250 ok', '354 go');
        await peer.expect(begun);
        peer.socket.pause();
        isSilent = true;
        await peer.gone.catch(() => undefined);
      }),
      { hasOther: () => true, timeouts },
    );
    const handed = relay.hand(envelope(), chunks);
    await until(() => isSilent);
    vi.advanceTimersByTime(31_000);
    return handed;
  }

  it('inside its content ends it: the relay cannot have it, so the other may', async () => {
    const handOver = await silence(LARGE, /^line$/);
    expect(handOver).toMatchObject({ connection: 'lost', unconfirmed: false });
    expect(results(handOver)).toEqual(['deferred']);
  });

  it('after its end leaves it where it is: nobody knows', async () => {
    const timeouts = { ...PATIENT, finalMs: 200 };
    expect(results(await silence(MAIL, /^Subject: hi$/, timeouts))).toEqual(['unknown']);
  });
});

it('a relay that is busy with a large mail, and greets nobody meanwhile, is not taken for dead', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  opened.push({ close: async () => void vi.useRealTimers() });
  let takesMore = () => {};
  const isFree = new Promise<void>((resolve) => {
    takesMore = resolve;
  });
  let connections = 0;
  let isBusy = false;
  const target = await server(async (peer, connection) => {
    connections++;
    if (connection > 1) await isFree;
    await peer.greet('PIPELINING');
    if (connection !== 1) return void (await takeMail(peer).catch(() => undefined));
    for (const command of [/^MAIL/, /^RCPT/, /^DATA/]) await peer.expect(command);
    peer.send('250 ok', '250 ok', '354 go');
    await peer.expect(/^line/);
    peer.socket.pause();
    isBusy = true;
    await isFree;
    peer.socket.resume();
    await peer.data();
    peer.send('250 ok');
    await takeMail(peer).catch(() => undefined);
  });
  const found: unknown[] = [];
  const health = createRelayHealth({
    ...{ url: target.url, name: 'client.example', connections: 8 },
    ...{ log: createLog('silent'), metrics: createMetrics(), tell: (it) => void found.push(it) },
  });
  opened.push(health);
  await health.start();
  const relay = relayTo(target, { health, timeouts: DEFAULT_TIMEOUTS });
  const large = relay.hand(envelope(), [Buffer.alloc(8_000_000, `line${'x'.repeat(990)}\r\n`)]);
  await until(() => isBusy);
  const small = relay.hand(envelope(), MAIL);
  // Its silence makes us look for the relay, and its place is given to the next mail: both are
  // left without a greeting for longer than a relay that is known to greet at once may take.
  vi.advanceTimersByTime(1500);
  await until(() => connections === 4);
  vi.advanceTimersByTime(5000);
  expect(found).toEqual([]);
  takesMore();
  expect(results(await large)).toEqual(['accepted']);
  expect(results(await small)).toEqual(['accepted']);
  expect(found).toEqual([]);
});

it('says what is wrong when nobody listens', async () => {
  const target = await scriptedSmtp(async () => {});
  await target.close();
  const relay = relayTo(target);
  const handOver = await relay.hand(envelope(), MAIL);
  expect(handOver).toMatchObject({ connection: 'unreachable', fault: { stage: 'connect' } });
  expect(handOver.fault!.text).toContain('ECONNREFUSED');
  expect(await relay.probe()).toMatchObject({
    connection: 'unreachable',
    fault: { stage: 'connect' },
  });
});

describe('connections', () => {
  it('are used again, with RSET only after a mail that was left half-way', async () => {
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      await takeMail(peer, 1, 'Q1');
      await peer.expect(/^MAIL/);
      await peer.expect(/^RCPT/);
      await peer.expect(/^DATA/);
      peer.send('250 ok', '450 4.2.0 later', '503 5.5.1 no recipients');
      await peer.expect(/^RSET$/);
      peer.send('250 ok');
      await takeMail(peer, 1, 'Q3');
      await peer.expect(/^QUIT$/);
    });
    const relay = relayTo(target);
    expect(results(await relay.hand(envelope(), MAIL))).toEqual(['accepted']);
    expect(results(await relay.hand(envelope(), MAIL))).toEqual(['deferred']);
    expect((await relay.hand(envelope(), MAIL)).relayMessageId).toBe('Q3');
    expect(target.connections()).toBe(1);
  });

  const atMail = (act: (peer: Peer) => unknown) => async (peer: Peer) => {
    await peer.expect(/^MAIL/);
    act(peer);
  };
  const hangUps: [string, (peer: Peer) => Promise<void>][] = [
    ['closed while idle', async (peer) => void peer.socket.end()],
    [
      'ended with 421 while idle',
      async (peer) => void peer.socket.end('421 4.4.2 idle too long\r\n'),
    ],
    ['closed at the next MAIL', atMail((peer) => peer.socket.end())],
    ['reset at the next MAIL', atMail((peer) => peer.reset())],
    ['ended with 421 at the next MAIL', atMail((peer) => peer.socket.end('421 4.4.2 enough\r\n'))],
  ];
  it.each(hangUps)('%s are replaced without anyone noticing', async (_, hangUp) => {
    const target = await server(async (peer, connection) => {
      await peer.greet('PIPELINING');
      await takeMail(peer, 1, `Q${connection}`);
      if (connection === 0) await hangUp(peer);
      await peer.gone;
    });
    const relay = relayTo(target);
    expect((await relay.hand(envelope(), MAIL)).relayMessageId).toBe('Q0');
    expect(await relay.hand(envelope(), MAIL)).toMatchObject({
      connection: 'ok',
      relayMessageId: 'Q1',
    });
    expect(target.connections()).toBe(2);
  });

  it('that hang at a later mail are not tried again behind the caller’s back', async () => {
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING');
        await takeMail(peer);
        await peer.gone;
      }),
    );
    await relay.hand(envelope(), MAIL);
    expect(await relay.hand(envelope(), MAIL)).toMatchObject({
      connection: 'lost',
      fault: { stage: 'mail' },
    });
  });

  it('are renewed after their number of mails', async () => {
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      await takeMail(peer);
      await takeMail(peer);
      await peer.expect(/^QUIT$/);
    });
    const relay = relayTo(target, { maxEmailsPerConnection: 2 });
    for (let i = 0; i < 4; i++)
      expect(results(await relay.hand(envelope(), MAIL))).toEqual(['accepted']);
    expect(target.connections()).toBe(2);
  });

  it('are closed politely when nothing comes for a while', async () => {
    let quit = () => {};
    const polite = new Promise<void>((resolve) => {
      quit = resolve;
    });
    const relay = relayTo(
      await server(async (peer) => {
        await peer.greet('PIPELINING');
        await takeMail(peer);
        await peer.expect(/^QUIT$/);
        quit();
      }),
      { idleMs: 20 },
    );
    await relay.hand(envelope(), MAIL);
    await polite;
  });

  it('are never more than allowed, and carry all mails', async () => {
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (;;) {
        const first = await peer.line();
        if (first === 'QUIT') return;
        await peer.expect(/^RCPT/);
        await peer.expect(/^DATA/);
        peer.send('250 ok', '250 ok', '354 go');
        await peer.data();
        peer.send('250 ok');
      }
    });
    const relay = relayTo(target, { maxConnections: 3 });
    const all = await Promise.all(Array.from({ length: 60 }, () => relay.hand(envelope(), MAIL)));
    expect(all.flatMap(results)).toEqual(Array(60).fill('accepted'));
    expect(target.mostAtOnce()).toBe(3);
  });

  it('stay at what the relay allows when it refuses more', async () => {
    const target = await server(async (peer, connection) => {
      if (connection > 0) return void peer.socket.end('421 4.7.0 too many connections\r\n');
      await peer.greet('PIPELINING');
      for (let i = 0; i < 20; i++) await takeMail(peer);
      await peer.gone;
    });
    const relay = relayTo(target, { maxConnections: 5, timeouts: DEFAULT_TIMEOUTS });
    const all = await Promise.all(Array.from({ length: 20 }, () => relay.hand(envelope(), MAIL)));
    expect(all.flatMap(results)).toEqual(Array(20).fill('accepted'));
  });
});

describe('places', () => {
  /** A relay that notes who begins and answers the content once it is told to. */
  async function slowRelay() {
    const begun: string[] = [];
    let answer = () => {};
    const told = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      while (!/^QUIT/.test(await peer.line())) {
        const recipient = await peer.expect(/^RCPT/);
        await peer.expect(/^DATA/);
        begun.push(/<(.*?)@/.exec(recipient)![1]!);
        peer.send('250 ok', '250 ok', '354 go');
        await peer.data();
        if (!recipient.includes('first')) await told;
        peer.send('250 ok');
      }
    });
    const relay = relayTo(target, { maxConnections: 8, timeouts: DEFAULT_TIMEOUTS });
    const hand = (lane: number, name: string) =>
      relay.hand(envelope(`${name}@c.example`), MAIL, { lane });
    return { begun, answer, hand };
  }
  const twelve = [...'abcdefghijkl'];

  it('are never all with one lane where there are others: a newcomer begins at once', async () => {
    const { begun, answer, hand } = await slowRelay();
    await Promise.all([hand(1, 'first'), hand(2, 'first')]);
    const many = twelve.map((name) => hand(1, name));
    await until(() => begun.length >= 2 + 7);
    const newcomers = ['new', 'second'].map((name) => hand(2, name));
    await until(() => begun.includes('new'));
    expect(begun.indexOf('new')).toBe(2 + 7);
    answer();
    const all = await Promise.all([...many, ...newcomers]);
    expect(all.flatMap(results)).toEqual(Array(14).fill('accepted'));
  });

  it('go to whoever has fewest: the second email of a newcomer is not behind all of a crowd', async () => {
    const { begun, answer, hand } = await slowRelay();
    await Promise.all([hand(1, 'first'), hand(2, 'first')]);
    const many = [...twelve, ...'mnopqrst'].map((name) => hand(1, name));
    await until(() => begun.length >= 2 + 7);
    const newcomers = ['new', 'second', 'third'].map((name) => hand(2, name));
    await until(() => begun.includes('new'));
    answer();
    const all = await Promise.all([...many, ...newcomers]);
    expect(all.flatMap(results)).toEqual(Array(23).fill('accepted'));
    expect(begun.indexOf('third')).toBeLessThan(begun.indexOf('m'));
  });

  it('are all with the one lane that there is', async () => {
    const { begun, answer, hand } = await slowRelay();
    const many = twelve.map((name) => hand(1, name));
    await until(() => begun.length >= 8);
    answer();
    expect((await Promise.all(many)).flatMap(results)).toEqual(Array(12).fill('accepted'));
  });
});

describe('close', () => {
  it('waits for what is in hand, also for mails that still wait for a connection', async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let started = () => {};
    const talking = new Promise<void>((resolve) => {
      started = resolve;
    });
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      for (let i = 0; i < 2; i++) {
        await peer.expect(/^MAIL/);
        await peer.expect(/^RCPT/);
        await peer.expect(/^DATA/);
        started();
        await asked;
        peer.send('250 ok', '250 ok', '354 go');
        await peer.data();
        peer.send('250 ok');
      }
      await peer.expect(/^QUIT$/);
    });
    const relay = relayTo(target, { maxConnections: 1, timeouts: DEFAULT_TIMEOUTS });
    const mails = [relay.hand(envelope(), MAIL), relay.hand(envelope(), MAIL)];
    await talking;
    let closed = false;
    const closing = relay.close().then(() => {
      closed = true;
    });
    expect(await relay.hand(envelope(), MAIL)).toMatchObject({
      connection: 'lost',
      fault: { text: 'the service is stopping' },
    });
    expect(closed).toBe(false);
    answer();
    expect((await Promise.all(mails)).flatMap(results)).toEqual(['accepted', 'accepted']);
    await closing;
    await relay.close();
  });

  it('cuts off after its grace, and nothing is lost: the mail is deferred', async () => {
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      await peer.gone;
    });
    const relay = relayTo(target, { maxConnections: 1, timeouts: DEFAULT_TIMEOUTS });
    const mails = [relay.hand(envelope(), MAIL), relay.hand(envelope(), MAIL)];
    await relay.close(50);
    const all = await Promise.all(mails);
    expect(all.map(({ connection }) => connection)).toEqual(['lost', 'lost']);
    expect(all.flatMap(results)).toEqual(['deferred', 'deferred']);
  });
});

describe('probe', () => {
  it('goes as far as a mail would and says goodbye', async () => {
    const target = await server(async (peer) => {
      peer.send('220 hi');
      await peer.expect(/^EHLO/);
      peer.send('250-x', '250 AUTH LOGIN');
      await peer.expect(/^AUTH LOGIN$/);
      peer.send('334 VXNlcm5hbWU6');
      await peer.expect(/^dQ==$/);
      peer.send('334 UGFzc3dvcmQ6');
      await peer.expect(/^cA==$/);
      peer.send('235 ok');
      await peer.expect(/^QUIT$/);
    });
    expect(await relayTo(login(target)).probe()).toEqual({ connection: 'ok' });
  });

  it('names the stage that failed', async () => {
    const target = await server(
      upTo('auth', true, (peer) => peer.send('535 5.7.8 bad credentials')),
    );
    expect(await relayTo(login(target)).probe()).toEqual({
      connection: 'unreachable',
      fault: { stage: 'auth', text: 'the relay refused the login with 535 5.7.8 bad credentials' },
    });
  });
});

describe('safety', () => {
  it('refuses plaintext that is slipped in after STARTTLS', async () => {
    const target = await server(async (peer) => {
      peer.send('220 hi');
      await peer.expect(/^EHLO/);
      peer.send('250-x', '250 STARTTLS');
      await peer.expect(/^STARTTLS$/);
      peer.send('220 go', '250-x', '250 AUTH PLAIN');
      await peer.gone;
    });
    expect(await relayTo(login(target)).probe()).toMatchObject({
      connection: 'unreachable',
      fault: { stage: 'tls', text: expect.stringContaining('plaintext after STARTTLS') },
    });
  });

  it('refuses half a plaintext line after STARTTLS too', async () => {
    const target = await server(async (peer) => {
      peer.send('220 hi');
      await peer.expect(/^EHLO/);
      peer.send('250-x', '250 STARTTLS');
      await peer.expect(/^STARTTLS$/);
      peer.socket.write('220 go\r\n250-injected');
      await peer.gone;
    });
    expect(await relayTo(target).probe()).toMatchObject({
      fault: { stage: 'tls', text: expect.stringContaining('plaintext') },
    });
  });

  it('does not go on without TLS where it is required', async () => {
    const target = await server(greetOnly('PIPELINING'));
    expect(await relayTo({ url: `${target.url}?tls=required` }).probe()).toMatchObject({
      fault: { stage: 'tls', text: 'the relay does not offer STARTTLS, which is required' },
    });
  });

  it('does not send the password in the clear to another machine', async () => {
    const target = await server(async (peer) => {
      await peer.greet('AUTH PLAIN LOGIN');
      await peer.gone;
      expect(peer.pending()).toBe('');
    });
    const endpoint = {
      host: '127.0.0.1',
      port: target.port,
      implicitTls: false,
      tls: 'opportunistic' as const,
      verify: false,
      credentials: { user: 'u', password: 'p' },
      plaintextAuth: false,
    };
    await expect(
      openSession(endpoint, 'client.example', { ...DEFAULT_TIMEOUTS, ...SHORT }),
    ).rejects.toMatchObject({ stage: 'auth' });
  });

  it('says so when the relay knows no login that we know', async () => {
    const target = await server(greetOnly('AUTH GSSAPI'));
    expect(await relayTo(login(target)).probe()).toMatchObject({
      fault: { stage: 'auth', text: expect.stringContaining('GSSAPI') },
    });
  });

  it('stops a relay that floods', async () => {
    const target = await server(async (peer) => {
      await peer.greet('PIPELINING');
      await peer.expect(/^MAIL/);
      peer.socket.write('250 x\r\n'.repeat(20_000));
      await peer.gone;
    });
    const handOver = await relayTo(target).hand(envelope(), MAIL);
    expect(handOver.connection).toBe('lost');
    expect(results(handOver)).toEqual(['deferred']);
  });

  it('rejects, as a bug of the caller, an address that no parser let through', async () => {
    const target = await server(greetOnly('PIPELINING'));
    await expect(relayTo(target).hand(envelope('a@b.example>\r\nDATA'), MAIL)).rejects.toThrow(
      'forbidden character',
    );
  });
});
