// Where an email ends for us and for the relay: if the connection breaks inside its content, the
// relay cannot have it, and another may get it; once its end was written, nobody knows. The relay
// answers or hangs up at once, from a thread of its own, while our event loop is busy.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createRelay, type Relay } from '../../src/smtp/relay.ts';
import { isUnbegun } from '../../src/smtp/transaction.ts';

/** What it does after so many bytes of content, or at its end. */
interface Part {
  does: 'answers' | 'cuts' | 'refuses and cuts';
  afterBytes: number | 'all';
}

/** As plain JavaScript: it runs in a thread. */
function relayInThread(part: Part): void {
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((socket: import('node:net').Socket) => {
    let text = '';
    let isContent = false;
    socket.setNoDelay(true).on('error', () => undefined);
    socket.write('220 relay\r\n');
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (!isContent && text.includes('EHLO')) socket.write('250-relay\r\n250 PIPELINING\r\n');
      if (!isContent && text.includes('DATA\r\n')) {
        isContent = true;
        socket.write('250 ok\r\n250 ok\r\n354 go\r\n');
      } else if (isContent) readContent();
      if (!isContent || text.includes('DATA\r\n')) text = '';
    });
    function readContent(): void {
      const { does, afterBytes } = part;
      const isDue = afterBytes === 'all' ? text.endsWith('\r\n.\r\n') : text.length > afterBytes;
      if (!isDue) return;
      isContent = false;
      text = '';
      if (does === 'cuts') socket.resetAndDestroy();
      else if (does === 'refuses and cuts') socket.end('552 5.3.4 too large\r\n');
      else socket.write('250 2.0.0 Ok: queued as A1\r\n');
    }
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
}

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

async function relayThat(part: Part): Promise<Relay> {
  const worker = new Worker(`(${relayInThread})(${JSON.stringify(part)})`, { eval: true });
  opened.push({ close: () => worker.terminate() });
  const [port] = await once(worker, 'message');
  const url = `smtp://127.0.0.1:${port}`;
  const relay = createRelay({ url, name: 'client.example', maxConnections: 1 });
  opened.push({ close: () => relay.close(500) });
  return relay;
}
/**
 * As a process that also renders and signs: the loop stands for some milliseconds in every round.
 */
function keepBusy(): void {
  const timer = setInterval(() => {
    const until = performance.now() + 8;
    while (performance.now() < until);
  }, 1);
  opened.push({ close: async () => clearInterval(timer) });
}
const envelope = {
  from: 'a@b.example',
  recipients: ['c@d.example'],
  envelopeId: 'm',
  smtputf8: false,
};
const small = [Buffer.alloc(3_000, 'line\r\n')];
const large = [Buffer.alloc(120_000, 'line\r\n')];
const huge = [Buffer.alloc(12_000_000, 'line\r\n')];

describe.each([
  ['small', small],
  ['large', large],
])('a %s email, answered at once while we are busy', (_, content) => {
  it('was taken, each time', async () => {
    const relay = await relayThat({ does: 'answers', afterBytes: 'all' });
    keepBusy();
    for (let n = 0; n < 10; n++) {
      const { connection, recipients } = await relay.hand(envelope, content);
      expect({ connection, result: recipients[0]!.result }).toEqual({
        ...{ connection: 'ok', result: 'accepted' },
      });
    }
  });

  it('cut instead of answered: nobody knows, so no other relay may have it', async () => {
    const relay = await relayThat({ does: 'cuts', afterBytes: 'all' });
    keepBusy();
    for (let n = 0; n < 10; n++) {
      const handOver = await relay.hand(envelope, content);
      expect(handOver).toMatchObject({ unconfirmed: true, recipients: [{ result: 'unknown' }] });
      expect(isUnbegun(handOver)).toBe(false);
    }
  });
});

describe('inside the content', () => {
  it('cut: the relay cannot have it, and another may', async () => {
    const relay = await relayThat({ does: 'cuts', afterBytes: 20_000 });
    const handOver = await relay.hand(envelope, huge);
    expect(handOver).toMatchObject({
      ...{ connection: 'lost', unconfirmed: false, fault: { stage: 'body' } },
      recipients: [{ result: 'deferred' }],
    });
    expect(isUnbegun(handOver)).toBe(true);
  });

  it('cut in an email of one write: it may be on its way whole, so nobody knows', async () => {
    const relay = await relayThat({ does: 'cuts', afterBytes: 100 });
    const handOver = await relay.hand(envelope, small);
    expect(handOver).toMatchObject({ unconfirmed: true, recipients: [{ result: 'unknown' }] });
  });

  it('refused and cut: what the relay said counts', async () => {
    const relay = await relayThat({ does: 'refuses and cuts', afterBytes: 20_000 });
    const handOver = await relay.hand(envelope, huge);
    expect(handOver.recipients).toMatchObject([{ result: 'refused', code: 552 }]);
  });
});
