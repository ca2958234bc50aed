// A bare SMTP client for tests: what is sent is exactly what the test says, and every reply is
// kept.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { until } from '../support/until.ts';

export interface SmtpClient {
  socket: Socket;
  /** Sends and waits for one whole reply. */
  say: (text: string | Buffer) => Promise<string>;
  send: (bytes: string | Buffer) => void;
  /** The next whole reply. */
  reply: () => Promise<string>;
  startTls: () => Promise<void>;
  closed: Promise<unknown>;
}

export async function openSmtp(port: number, host = '127.0.0.1'): Promise<SmtpClient> {
  let socket: Socket = connect(port, host).setNoDelay(true);
  let said = '';
  let close: (() => void) | undefined;
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const listen = () => {
    socket.on('data', (chunk) => {
      said += chunk;
    });
    socket.on('error', () => undefined);
    socket.once('close', () => close?.());
  };
  listen();
  await once(socket, 'connect');
  const client: SmtpClient = {
    get socket() {
      return socket;
    },
    send: (bytes) => socket.write(bytes),
    async say(text) {
      client.send(typeof text === 'string' ? `${text}\r\n` : text);
      return await client.reply();
    },
    async reply() {
      const whole = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/;
      const [reply] = await until(() => whole.exec(said) ?? false);
      said = said.slice(reply!.length);
      return reply!.trimEnd();
    },
    async startTls() {
      socket.removeAllListeners('data');
      socket = connectTls({ socket, rejectUnauthorized: false });
      listen();
      await once(socket, 'secureConnect');
    },
    closed,
  };
  return client;
}

export const plain = (key: string, user = 'anybody'): string =>
  `AUTH PLAIN ${Buffer.from(`\0${user}\0${key}`).toString('base64')}`;

/** Greeted and logged in. */
export async function logIn(port: number, key: string): Promise<SmtpClient> {
  const client = await openSmtp(port);
  await client.reply();
  await client.say('EHLO test.example');
  await client.say(plain(key));
  return client;
}

export const ENVELOPE = 'MAIL FROM:<hello@example.com>\r\nRCPT TO:<ada@example.net>\r\nDATA\r\n';

/** Begins an email with all its commands in one packet, as clients with PIPELINING do. */
export async function begin(client: SmtpClient): Promise<string[]> {
  client.send(ENVELOPE);
  return [await client.reply(), await client.reply(), await client.reply()];
}

/** One email by DATA, which ends with CRLF; the reply to its end. */
export async function hand(
  client: SmtpClient,
  email: string | Buffer,
  recipients = ['ada@example.net'],
): Promise<string> {
  await client.say('MAIL FROM:<hello@example.com>');
  for (const recipient of recipients) await client.say(`RCPT TO:<${recipient}>`);
  const ready = await client.say('DATA');
  if (!ready.startsWith('354')) return ready;
  client.send(email);
  return await client.say('.');
}

export const idIn = (reply: string): string => /msg_\w+/.exec(reply)?.[0] ?? reply;

/** The lines of an email, each with its CRLF. */
export const lines = (...text: string[]): string => `${text.join('\r\n')}\r\n`;

export const SIMPLE = lines(
  'From: Acme <hello@example.com>',
  'To: Ada <ada@example.net>',
  'Subject: Hello',
  '',
  'Hello!',
);
