// The SMTP client against the real smtp-server: TLS, login, big emails. Certificates:
// tests/smtp/fixtures, for localhost only.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createRelay, type Envelope, type Relay } from '../../src/smtp/relay.ts';

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const key = readFileSync(fixture('localhost-key.pem'));
const cert = readFileSync(fixture('localhost-cert.pem'));
const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

interface Received {
  email: Buffer;
  secure: boolean;
  user: string | undefined;
  recipients: string[];
}

async function start(
  options: SMTPServerOptions = {},
): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = [];
  const server = new SMTPServer({
    key,
    cert,
    authOptional: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss wörd' ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk) => chunks.push(chunk));
      stream.on('end', () => {
        received.push({
          email: Buffer.concat(chunks),
          secure: session.secure,
          user: session.user,
          recipients: session.envelope.rcptTo.map(({ address }) => address),
        });
        done(null, 'Ok: queued as ABC123');
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUp.push(() => new Promise((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as { port: number }).port, received };
}

function relayTo(url: string): Relay {
  const relay = createRelay({ url, name: 'client.example', timeouts: { greetingMs: 5_000 } });
  cleanUp.push(() => relay.close(1_000));
  return relay;
}

const envelope: Envelope = {
  from: 'bounce@b.example',
  recipients: ['jane@c.example', 'joe@c.example'],
  envelopeId: 'msg_1',
  smtputf8: false,
};
const MAIL = [Buffer.from('Subject: hi\r\n\r\n.\r\n..\r\nbody\r\n')];
const LOGIN = `jane%40shop:${encodeURIComponent('p@ss wörd')}@`;

describe('STARTTLS and login', () => {
  it.each(['PLAIN', 'LOGIN'] as const)('encrypts, logs in with %s and delivers', async (method) => {
    const { port, received } = await start({ authMethods: [method] });
    const handOver = await relayTo(`smtp://${LOGIN}127.0.0.1:${port}?tls=required&insecure`).hand(
      envelope,
      MAIL,
    );
    expect(handOver).toMatchObject({ connection: 'ok', relayMessageId: 'ABC123' });
    expect(received).toEqual([
      { email: MAIL[0], secure: true, user: 'jane@shop', recipients: envelope.recipients },
    ]);
  });

  it('names a wrong password', async () => {
    const { port } = await start();
    const handOver = await relayTo(`smtp://jane:wrong@127.0.0.1:${port}`).hand(envelope, MAIL);
    expect(handOver).toMatchObject({
      connection: 'unreachable',
      fault: { stage: 'auth', text: expect.stringContaining('535') },
    });
    expect(handOver.recipients.map(({ result }) => result)).toEqual(['deferred', 'deferred']);
    expect(JSON.stringify(handOver)).not.toContain('wrong');
  });

  it('uses TLS when offered, without checking what anyone could have removed', async () => {
    const { port, received } = await start();
    expect(await relayTo(`smtp://127.0.0.1:${port}`).hand(envelope, MAIL)).toMatchObject({
      connection: 'ok',
    });
    expect(received[0]!.secure).toBe(true);
  });

  it('stays in the clear with tls=off', async () => {
    const { port, received } = await start();
    expect(await relayTo(`smtp://127.0.0.1:${port}?tls=off`).hand(envelope, MAIL)).toMatchObject({
      connection: 'ok',
    });
    expect(received[0]!.secure).toBe(false);
  });

  it.each(['smtp', 'smtps'])('%s refuses a certificate nobody vouches for', async (scheme) => {
    const { port } = await start({ secure: scheme === 'smtps' });
    const handOver = await relayTo(`${scheme}://localhost:${port}?tls=required`).hand(
      envelope,
      MAIL,
    );
    expect(handOver).toMatchObject({
      connection: 'unreachable',
      fault: { stage: 'tls', text: expect.stringMatching(/self.signed/) },
    });
  });

  it('fails, and does not fall back to plaintext, when the handshake fails', async () => {
    const { port, received } = await start({ maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
    expect(await relayTo(`smtp://127.0.0.1:${port}`).hand(envelope, MAIL)).toMatchObject({
      connection: 'unreachable',
      fault: { stage: 'tls' },
    });
    expect(received).toEqual([]);
  });

  it('accepts a certificate that the system trusts and that fits the name, and no other name', async () => {
    const { port } = await start();
    const script = `
      const { createRelay } = await import(${JSON.stringify(new URL('../../dist/smtp/relay.js', import.meta.url).href)});
      const answers = [];
      for (const host of ['localhost', '127.0.0.1', '127.0.0.2']) {
        const relay = createRelay({ url: 'smtp://' + host + ':${port}?tls=required', name: 'client.example' });
        const answer = await relay.probe();
        answers.push(answer.fault?.text ?? answer.connection);
      }
      console.log(JSON.stringify(answers));`;
    // The server lives in this process, so it must be able to answer while the child runs.
    const child = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      execFile(
        process.execPath,
        ['--input-type=module', '-e', script],
        { env: { ...process.env, NODE_EXTRA_CA_CERTS: fixture('localhost-cert.pem') } },
        (_error, stdout, stderr) => resolve({ stdout, stderr }),
      );
    });
    expect(child.stderr).toBe('');
    expect(JSON.parse(child.stdout)).toEqual(['ok', 'ok', expect.stringContaining('127.0.0.2')]);
  });
});

describe('smtps', () => {
  it('encrypts from the first byte, logs in and uses the connection again', async () => {
    const { port, received } = await start({ secure: true });
    const relay = relayTo(`smtps://${LOGIN}127.0.0.1:${port}?insecure`);
    for (let i = 0; i < 3; i++)
      expect(await relay.hand(envelope, MAIL)).toMatchObject({ connection: 'ok' });
    expect(received.map(({ secure, user }) => [secure, user])).toEqual(
      Array(3).fill([true, 'jane@shop']),
    );
  });

  it('says so when the port speaks no TLS', async () => {
    const { port } = await start();
    expect(await relayTo(`smtps://127.0.0.1:${port}?insecure`).probe()).toMatchObject({
      fault: { stage: 'tls' },
    });
  });
});

describe('big emails', () => {
  it('arrive byte by byte, dots and all', async () => {
    const { port, received } = await start();
    const lines = Array.from(
      { length: 200_000 },
      (_, i) => `${i % 7 === 0 ? '.' : ''}line ${i} of a long attachment`,
    );
    const body = Buffer.from(`${lines.join('\r\n')}\r\n`);
    const chunks = [
      Buffer.from('Subject: big\r\n\r\n'),
      body.subarray(0, 1_000_001),
      body.subarray(1_000_001),
    ];
    expect(await relayTo(`smtp://127.0.0.1:${port}`).hand(envelope, chunks)).toMatchObject({
      connection: 'ok',
    });
    expect(received[0]!.email.equals(Buffer.concat(chunks))).toBe(true);
  });

  it('over the announced size never leave', async () => {
    const { port, received } = await start({ size: 1_000 });
    const handOver = await relayTo(`smtp://127.0.0.1:${port}`).hand(envelope, [
      Buffer.alloc(1_001, 'a'),
    ]);
    expect(handOver.recipients[0]).toMatchObject({ result: 'refused', enhanced: '5.3.4' });
    expect(received).toEqual([]);
  });
});
