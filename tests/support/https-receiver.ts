// Webhook receivers for tests: real HTTPS servers whose certificates come from a CA made on the
// spot, and that behave as told. Tests trust the CA through guardedAgent's `ca`, or
// NODE_EXTRA_CA_CERTS in a child process.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, isIPv4, type Socket } from 'node:net';
import type { Writable } from 'node:stream';

// ---- certificates

/**
 * Written in DER by hand (RFC 5280): openssl may be missing, and node:crypto reads X.509 but does
 * not make it.
 */
export interface Authority {
  /** The CA's own certificate, PEM. */
  ca: string;
  issue(options?: CertificateOptions): { cert: string; key: string };
}

export interface CertificateOptions {
  /** Subject alternative names: host names and IPv4 addresses. */
  names?: string[];
  notAfterMs?: number;
}

const DAY_MS = 86_400_000;
/** What a receiver answers to; a test's resolver leads the names to 127.0.0.1. */
export const RECEIVER_NAMES = ['receiver.example', '*.receiver.example', 'localhost', '127.0.0.1'];

export function createAuthority(name = 'Sandmartin test CA'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const root = certificate({
    subject: name,
    issuer: name,
    publicKey: keys.publicKey,
    signer: keys,
    isCa: true,
  });
  return {
    ca: root,
    issue({ names = RECEIVER_NAMES, notAfterMs } = {}) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const cert = certificate({
        subject: names[0] ?? 'receiver',
        issuer: name,
        publicKey: own.publicKey,
        signer: keys,
        isCa: false,
        names,
        ...(notAfterMs === undefined ? {} : { notAfterMs }),
      });
      return { cert, key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

interface CertificateFields {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  signer: { publicKey: KeyObject; privateKey: KeyObject };
  isCa: boolean;
  names?: string[];
  notAfterMs?: number;
}

function certificate(fields: CertificateFields): string {
  const notAfterMs = fields.notAfterMs ?? Date.now() + DAY_MS;
  const ecdsaSha256 = sequence(oid('2a8648ce3d040302'));
  const usage = fields.isCa
    ? [
        extension('551d13', sequence(der(0x01, Buffer.of(0xff))), true),
        extension('551d0f', bits(1, 0x06), true),
      ]
    : [
        extension('551d0f', bits(7, 0x80), true),
        extension('551d25', sequence(oid('2b06010505070301'))), // serverAuth
        extension('551d11', alternativeNames(fields.names ?? [])),
      ];
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(15)])),
    ecdsaSha256,
    commonName(fields.issuer),
    sequence(utcTime(notAfterMs - 2 * DAY_MS), utcTime(notAfterMs)),
    commonName(fields.subject),
    spki(fields.publicKey),
    der(
      0xa3,
      sequence(
        ...usage,
        extension('551d0e', der(0x04, keyId(fields.publicKey))),
        extension('551d23', sequence(der(0x80, keyId(fields.signer.publicKey)))),
      ),
    ),
  );
  const signature = sign('sha256', body, fields.signer.privateKey);
  const whole = sequence(body, ecdsaSha256, der(0x03, Buffer.of(0), signature));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 128 ? [size] : size < 256 ? [0x81, size] : [0x82, size >> 8, size & 255];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const bits = (unused: number, flags: number) => der(0x03, Buffer.of(unused, flags));
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const keyId = (key: KeyObject) => createHash('sha256').update(spki(key)).digest().subarray(0, 20);
const commonName = (name: string) =>
  sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const utcTime = (ms: number) =>
  der(0x17, Buffer.from(new Date(ms).toISOString().replace(/^20|[-:T]|\.\d+/g, '')));
const extension = (id: string, value: Buffer, critical = false) =>
  sequence(oid(id), ...(critical ? [der(0x01, Buffer.of(0xff))] : []), der(0x04, value));
const alternativeNames = (names: string[]) =>
  sequence(
    ...names.map((name) =>
      isIPv4(name)
        ? der(0x87, Buffer.from(name.split('.').map(Number)))
        : der(0x82, Buffer.from(name)),
    ),
  );

// ---- receivers

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
  atMs: number;
}

export type Behaviour =
  | { kind: 'answer'; status: number; body?: string | Buffer; headers?: Record<string, string> }
  /** Takes the request and says nothing. */
  | { kind: 'hang' }
  /** Answers 200, then one byte every 10 ms forever. */
  | { kind: 'slow-body' }
  /** Answers 200 with as much as the client reads. */
  | { kind: 'endless-body' }
  /** Resets the connection instead of answering. */
  | { kind: 'reset' }
  /** Answers 200 and half of the promised body, then resets. */
  | { kind: 'cut-body' }
  /** Writes these bytes instead of HTTP. */
  | { kind: 'raw'; bytes: string }
  /** The same, and then one piece after the other for as long as the client reads. */
  | { kind: 'raw-endless'; bytes: string; piece: string };

export const answer = (
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Behaviour => ({
  kind: 'answer',
  status,
  body,
  headers,
});

/** One behaviour for all, or one chosen per request (`index` counts from 0). */
export type Behave =
  | Behaviour
  | ((request: ReceivedRequest, index: number) => Behaviour | Promise<Behaviour>);

export interface ReceiverOptions {
  behave?: Behave;
  authority?: Authority;
  certificate?: 'good' | 'expired' | 'wrong-name' | 'unknown-ca';
  /** Plain http, for WEBHOOK_ALLOW. */
  plain?: boolean;
}

export interface Receiver {
  /** `https://127.0.0.1:port/hook` */
  url: string;
  port: number;
  /** PEM of the CA to trust. */
  ca: string;
  requests: ReceivedRequest[];
  /** TCP connections accepted so far. */
  connections(): number;
  /** Connections open now. */
  openConnections(): number;
  behave(behave: Behave): void;
  /** Resolves when so many requests have arrived in all. */
  received(count: number): Promise<ReceivedRequest[]>;
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>;
  close(): Promise<void>;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const authority = options.authority ?? createAuthority();
  let behave: Behave = options.behave ?? answer(200, 'ok');
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let accepted = 0;
  let waiting: (() => void)[] = [];
  const changed = () => {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };
  const until = async (done: () => boolean) => {
    while (!done()) await new Promise<void>((wake) => waiting.push(wake));
  };

  const onRequest = async (request: IncomingMessage, response: ServerResponse) => {
    // A reset by either side is part of the play.
    for (const stream of [request, response]) stream.on('error', () => {});
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(request, 'end');
    const received: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: Buffer.concat(chunks),
      atMs: Date.now(),
    };
    const index = requests.push(received) - 1;
    changed();
    const chosen = typeof behave === 'function' ? await behave(received, index) : behave;
    const { remotePort } = request.socket;
    const reset = () =>
      [...sockets].find((raw) => raw.remotePort === remotePort)?.resetAndDestroy();
    act(chosen, request, response, reset);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    onRequest(request, response).catch(() => request.socket.destroy());
  };
  const server = options.plain
    ? createHttpServer(listener)
    : createHttpsServer(certificateFor(options.certificate ?? 'good', authority), listener);
  // The raw connection, before TLS: what counts as "connected" for the address guard.
  server.on('connection', (socket: Socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('close', () => {
      sockets.delete(socket);
      changed();
    });
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.plain ? 'http' : 'https'}://127.0.0.1:${port}/hook`,
    port,
    ca: authority.ca,
    requests,
    connections: () => accepted,
    openConnections: () => sockets.size,
    behave: (next) => {
      behave = next;
    },
    received: async (count) => {
      await until(() => requests.length >= count);
      return requests.slice(0, count);
    },
    allClosed: () => until(() => sockets.size === 0),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function certificateFor(kind: NonNullable<ReceiverOptions['certificate']>, authority: Authority) {
  if (kind === 'expired') return authority.issue({ notAfterMs: Date.now() - DAY_MS });
  if (kind === 'wrong-name') return authority.issue({ names: ['elsewhere.example'] });
  if (kind === 'unknown-ca') return createAuthority('Somebody else').issue();
  return authority.issue();
}

function act(
  behaviour: Behaviour,
  request: IncomingMessage,
  response: ServerResponse,
  reset: () => void,
): void {
  switch (behaviour.kind) {
    case 'answer':
      response.writeHead(behaviour.status, behaviour.headers);
      response.end(behaviour.body);
      return;
    case 'hang':
      return;
    case 'slow-body': {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(drip));
      return;
    }
    case 'endless-body':
      response.writeHead(200);
      pour(response, 'x');
      return;
    case 'reset':
      reset();
      return;
    case 'cut-body':
      response.writeHead(200, { 'content-length': '1000' });
      response.write('x'.repeat(500), reset);
      return;
    case 'raw':
      request.socket.end(behaviour.bytes);
      return;
    case 'raw-endless':
      request.socket.write(behaviour.bytes);
      pour(request.socket, behaviour.piece);
  }
}

/** As much as the client reads. */
function pour(into: Writable, piece: string): void {
  const block = Buffer.from(piece.repeat(Math.ceil(16_384 / piece.length)));
  const more = () => {
    while (!into.destroyed && into.write(block));
  };
  into.on('drain', more);
  more();
}
