// The commands of the next email come together with the content of the one before it, and whatever
// the relay makes of that: no email counts as accepted that it did not accept, and none is lost or
// held up.
import { afterEach, describe, expect, it } from 'vitest';
import { createRelay, type HandOver, type Relay, type RelayConfig } from '../../src/smtp/relay.ts';
import { type Peer, type ScriptedSmtp, scriptedSmtp } from '../support/scripted-smtp.ts';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

async function server(
  play: (peer: Peer, connection: number) => Promise<unknown>,
): Promise<ScriptedSmtp> {
  const started = await scriptedSmtp(async (peer, connection) => {
    await peer.greet('PIPELINING');
    await play(peer, connection);
  });
  opened.push(started);
  return started;
}

function relayTo(target: ScriptedSmtp, config: Partial<RelayConfig> = {}): Relay {
  const relay = createRelay({
    ...{ url: target.url, name: 'client.example', maxConnections: 1, ...config },
  });
  opened.push({ close: () => relay.close(500) });
  return relay;
}

type Wish = Parameters<Relay['hand']>[2];
const hand = (relay: Relay, name: string, wish?: Wish): Promise<HandOver> =>
  relay.hand(
    {
      from: `bounce+${name}@b.example`,
      recipients: [`${name}@c.example`],
      envelopeId: name,
      smtputf8: false,
    },
    [Buffer.from(`Subject: ${name}\r\n\r\nHello\r\n`)],
    wish,
  );
const handAll = (relay: Relay, ...names: string[]): Promise<HandOver[]> =>
  Promise.all(names.map((name) => hand(relay, name)));
const resultOf = ({ recipients }: HandOver) => recipients[0]!.result;

const OK = ['250 2.1.0 Ok', '250 2.1.5 Ok', '354 go'];
const hears = async (peer: Peer, name: string) => {
  await peer.expect(new RegExp(`^MAIL FROM:<bounce\\+${name}@`));
  await peer.expect(new RegExp(`^RCPT TO:<${name}@`));
  await peer.expect(/^DATA$/);
};
const takes = async (peer: Peer, name: string) => {
  expect(await peer.data()).toContain(`Subject: ${name}`);
};
/** The first email up to its content, with the commands of the second behind it. */
async function hearsOneAndTwo(peer: Peer) {
  await hears(peer, 'one');
  peer.send(...OK);
  await takes(peer, 'one');
  await hears(peer, 'two');
}
/** An email from its first command to its last reply. */
async function takesAlone(peer: Peer, name: string) {
  await hears(peer, name);
  await new Promise((resolve) => setImmediate(resolve));
  expect(peer.pending()).toBe('');
  peer.send(...OK);
  await takes(peer, name);
  expect(peer.pending()).toBe('');
  peer.send(`250 2.0.0 Ok: queued as ${name.toUpperCase()}`);
}

it('one round trip for each email, over one connection', async () => {
  const target = await server(async (peer) => {
    await hearsOneAndTwo(peer);
    peer.send('250 2.0.0 Ok: queued as ONE', ...OK);
    await takes(peer, 'two');
    await hears(peer, 'three');
    peer.send('250 2.0.0 Ok: queued as TWO', ...OK);
    await takes(peer, 'three');
    expect(peer.pending()).toBe('');
    peer.send('250 2.0.0 Ok: queued as THREE');
    await peer.expect(/^QUIT$/);
  });
  const all = await handAll(relayTo(target), 'one', 'two', 'three');
  expect(all.map(({ relayMessageId }) => relayMessageId)).toEqual(['ONE', 'TWO', 'THREE']);
  expect(target.connections()).toBe(1);
});

it('a connection takes no more emails than it may', async () => {
  const target = await server(async (peer, connection) => {
    await takesAlone(peer, ['one', 'two'][connection]!);
    await peer.expect(/^QUIT$/);
  });
  const all = await handAll(relayTo(target, { maxEmailsPerConnection: 1 }), 'one', 'two');
  expect(all.map(resultOf)).toEqual(['accepted', 'accepted']);
});

describe('behind a content that was refused', () => {
  it('the next email goes on, where the relay has forgotten that', async () => {
    const target = await server(async (peer) => {
      await hearsOneAndTwo(peer);
      peer.send('554 5.7.1 Spam', ...OK);
      await takes(peer, 'two');
      peer.send('250 2.0.0 Ok: queued as TWO');
      await peer.expect(/^QUIT$/);
    });
    const [one, two] = await handAll(relayTo(target), 'one', 'two');
    expect([resultOf(one!), two!.relayMessageId]).toEqual(['refused', 'TWO']);
    expect(target.connections()).toBe(1);
  });

  it('it is proposed again after RSET, where the relay still has the other in mind', async () => {
    const target = await server(async (peer) => {
      await hearsOneAndTwo(peer);
      peer.send('554 5.7.1 Spam', '503 5.5.1 Nested MAIL', '503 5.5.1 No', '503 5.5.1 No');
      await peer.expect(/^RSET$/);
      await hears(peer, 'two');
      peer.send('250 ok', ...OK);
      await takes(peer, 'two');
      peer.send('250 2.0.0 Ok: queued as TWO');
      await peer.expect(/^QUIT$/);
    });
    const [one, two] = await handAll(relayTo(target), 'one', 'two');
    expect([resultOf(one!), two!.relayMessageId]).toEqual(['refused', 'TWO']);
    expect(target.connections()).toBe(1);
  });

  it('a refusal of its own is its own: it is asked for once more', async () => {
    const target = await server(async (peer) => {
      const refused = ['250 ok', '550 5.1.1 Unknown', '503 5.5.1 no recipients'];
      await hearsOneAndTwo(peer);
      peer.send('554 5.7.1 Spam', ...refused);
      await peer.expect(/^RSET$/);
      await hears(peer, 'two');
      peer.send('250 ok', ...refused);
      await peer.expect(/^QUIT$/);
    });
    const all = await handAll(relayTo(target), 'one', 'two');
    const texts = all.map(({ recipients }) => recipients[0]!.text);
    expect(texts).toEqual(['554 5.7.1 Spam', '550 5.1.1 Unknown']);
    expect(target.connections()).toBe(1);
  });
});

describe('a relay that answers out of order', () => {
  const orders: [string, string[]][] = [
    ['the commands first', [...OK, '250 2.0.0 Ok: queued as ONE']],
    ['the commands first, and then refuses the content', [...OK, '554 5.7.1 Spam']],
    ['a refusal first', ['550 5.1.8 No', '503 No', '503 No', '250 2.0.0 Ok: queued as ONE']],
    ['one command first', ['250 2.1.0 Ok', '250 2.0.0 Ok: queued as ONE', '354 go']],
  ];
  it.each(orders)('%s: nobody knows what became of the email', async (_, replies) => {
    const target = await server(async (peer, connection) => {
      if (connection === 0) {
        await hearsOneAndTwo(peer);
        peer.send(...replies);
        await peer.gone;
        expect(peer.pending()).not.toContain('Subject: two');
        return;
      }
      // From now on each email comes alone.
      await takesAlone(peer, 'two');
      await takesAlone(peer, 'three');
      await peer.expect(/^QUIT$/);
    });
    const all = await handAll(relayTo(target), 'one', 'two', 'three');
    expect(all.map(resultOf)).toEqual(['unknown', 'accepted', 'accepted']);
    expect(target.connections()).toBe(2);
  });

  it('is tried with one email at a time', async () => {
    const atOnce = 3;
    let behind = 0;
    let waiting = atOnce;
    const target = await server(async (peer, connection) => {
      if (connection >= atOnce) return await peer.gone;
      await peer.line();
      await peer.line();
      await peer.line();
      peer.send(...OK);
      await peer.data();
      waiting--;
      if (peer.pending() !== '') behind++;
      await peer.gone;
    });
    const relay = relayTo(target, { maxConnections: atOnce });
    const all = handAll(relay, 'a', 'b', 'c', 'd', 'e', 'f', 'g');
    await expect.poll(() => waiting).toBe(0);
    expect(behind).toBe(1);
    await relay.close(10);
    await all;
  });
});

describe('holds up nothing', () => {
  it('a relay that drops what comes behind the content', async () => {
    const target = await server(async (peer, connection) => {
      if (connection === 0) {
        await hearsOneAndTwo(peer);
        peer.send('250 2.0.0 Ok: queued as ONE');
        await peer.gone;
        return;
      }
      await takesAlone(peer, 'two');
      await takesAlone(peer, 'three');
      await peer.expect(/^QUIT$/);
    });
    const all = await handAll(relayTo(target), 'one', 'two', 'three');
    expect(all.map(({ relayMessageId }) => relayMessageId)).toEqual(['ONE', 'TWO', 'THREE']);
  });

  it('a content that is not answered', async () => {
    let answer = () => {};
    const target = await server(async (peer, connection) => {
      if (connection === 0) {
        await hearsOneAndTwo(peer);
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
        peer.send('250 2.0.0 Ok: queued as ONE', ...OK);
        await peer.gone;
        expect(peer.pending()).not.toContain('Subject: two');
        return;
      }
      await takesAlone(peer, 'two');
      answer();
      await peer.gone;
    });
    const relay = relayTo(target);
    const one = hand(relay, 'one');
    expect(await hand(relay, 'two')).toMatchObject({ relayMessageId: 'TWO' });
    expect(await one).toMatchObject({ connection: 'ok', relayMessageId: 'ONE' });
  });

  const ends: [string, (peer: Peer) => void, string][] = [
    [
      'hangs up after its answer',
      (peer) => peer.socket.end('250 2.0.0 Ok: queued as ONE\r\n'),
      'accepted',
    ],
    [
      'hangs up after a part of the answers',
      (peer) => peer.socket.end('250 2.0.0 Ok: queued as ONE\r\n250 ok\r\n25'),
      'accepted',
    ],
    [
      'says 421 after its answer',
      (peer) => peer.socket.end('250 2.0.0 Ok: queued as ONE\r\n421 4.4.2 enough\r\n'),
      'accepted',
    ],
    ['says 421 instead of it', (peer) => peer.socket.end('421 4.3.0 going down\r\n'), 'deferred'],
    ['hangs up instead of it', (peer) => peer.reset(), 'unknown'],
  ];
  it.each(ends)('a relay that %s', async (_, end, first) => {
    const target = await server(async (peer, connection) => {
      if (connection === 0) {
        await hearsOneAndTwo(peer);
        end(peer);
      } else await takesAlone(peer, 'two');
      await peer.gone;
    });
    const all = await handAll(relayTo(target), 'one', 'two');
    expect(all.map(resultOf)).toEqual([first, 'accepted']);
  });
});

it('what is no longer wanted when its turn comes is not sent', async () => {
  let wanted = true;
  const target = await server(async (peer, connection) => {
    if (connection === 0) {
      await hearsOneAndTwo(peer);
      wanted = false;
      peer.send('250 2.0.0 Ok: queued as ONE', ...OK);
      await peer.gone;
      expect(peer.pending()).toBe('');
      return;
    }
    await takesAlone(peer, 'three');
    await peer.gone;
  });
  const relay = relayTo(target);
  const [one, two, three] = await Promise.all([
    hand(relay, 'one'),
    hand(relay, 'two', { stillWanted: () => wanted }),
    hand(relay, 'three'),
  ]);
  expect(resultOf(one)).toBe('accepted');
  expect(two).toMatchObject({ connection: 'lost', unconfirmed: false });
  expect(resultOf(two)).toBe('deferred');
  expect(resultOf(three)).toBe('accepted');
});

it('an email that the relay certainly refuses is not proposed behind another', async () => {
  const target = await server(async (peer) => {
    await takesAlone(peer, 'one');
    await takesAlone(peer, 'two');
    await peer.expect(/^QUIT$/);
  });
  const relay = relayTo(target);
  const odd = relay.hand(
    { from: 'b@b.example', recipients: ['ü@c.example'], envelopeId: 'odd', smtputf8: false },
    [Buffer.from('Subject: odd\r\n\r\n')],
  );
  const one = hand(relay, 'one');
  expect((await odd).recipients[0]).toMatchObject({ result: 'refused', enhanced: '5.6.7' });
  expect(resultOf(await one)).toBe('accepted');
  expect(resultOf(await hand(relay, 'two'))).toBe('accepted');
});
