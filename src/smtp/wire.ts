// One socket to the relay: bytes out, replies in, TLS in between, a limit on every wait. Before:
// session.ts opens it. After: transaction.ts talks over it. Whatever goes wrong is an SmtpFault
// that knows the stage.
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createReplyReader, type SmtpReply } from './reply.ts';

export type SmtpStage =
  | 'connect'
  | 'tls'
  | 'greeting'
  | 'ehlo'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body';

/**
 * The dialogue cannot continue: no connection, no answer in time, an invalid reply, or one that
 * ends it.
 */
export class SmtpFault extends Error {
  readonly stage: SmtpStage;
  /** The reply that ended the dialogue, if it was one. */
  readonly reply: SmtpReply | undefined;
  /** The peer hung up, as relays do with connections that were idle for a long time. */
  readonly hungUp: boolean;

  constructor(
    stage: SmtpStage,
    message: string,
    extras: { reply?: SmtpReply; hungUp?: boolean } = {},
  ) {
    super(message);
    this.stage = stage;
    this.reply = extras.reply;
    this.hungUp = extras.hungUp ?? false;
  }
}

const GOODBYE_MS = 5_000;
/** The longest delay of a timer. */
const FOREVER_MS = 2 ** 31 - 1;

export interface WireAddress {
  host: string;
  port: number;
  /** TLS from the first byte (smtps://). */
  implicitTls: boolean;
  /** Check the relay's certificate against its host name. */
  verify: boolean;
}

export interface Wire {
  write(data: string | Buffer): void;
  /**
   * Writes pieces as the system takes them, with turns for everyone else in between, until all are
   * written or a reply comes; a fault if nothing moves for `stallMs`. A piece is written as soon as
   * it is made. True: the system has everything that was written.
   */
  writeAll(pieces: Iterable<Buffer>, stage: SmtpStage, stallMs: number): Promise<boolean>;
  reply(stage: SmtpStage, timeoutMs: number): Promise<SmtpReply>;
  startTls(timeoutMs: number): Promise<void>;
  /**
   * Called once if the relay sends something unexpected or the connection ends while nobody waits.
   */
  onDisturbed: (() => void) | undefined;
  /**
   * Replies received so far, and bytes of large emails the system has taken: whether anything
   * moves.
   */
  replies(): number;
  taken(): number;
  isAlive(): boolean;
  /** Alive, and no reply is half-read or unexpected. */
  isQuiet(): boolean;
  end(): void;
  destroy(): void;
}

/** Connects, with TLS at once for smtps. `signal` ends the connection at any point of its life. */
export async function openWire(
  address: WireAddress,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<Wire> {
  const { host, port } = address;
  const raw = await connected('connect', `connect to ${host}:${port}`, timeoutMs, () =>
    connectTcp({ host, port, noDelay: true, ...(signal ? { signal } : {}) }),
  );
  const wire = createWire(raw, address);
  if (address.implicitTls) await wire.startTls(timeoutMs);
  return wire;
}

function createWire(raw: Socket, { host, port, verify }: WireAddress): Wire {
  let socket: Socket = raw;
  let reader = createReplyReader();
  const received: SmtpReply[] = [];
  let replies = 0;
  let written = 0;
  let failure: { why: string; hungUp: boolean } | undefined;
  let waiter: { wake: () => void } | undefined;

  function wake(): void {
    if (waiter !== undefined) waiter.wake();
    else wire.onDisturbed?.();
  }
  function fail(why: string, hungUp = false): void {
    if (failure !== undefined) return;
    failure = { why, hungUp };
    socket.destroy();
    wake();
  }
  function onData(chunk: Buffer): void {
    const waitingBefore = received.length;
    try {
      reader.feed(chunk, (reply) => received.push(reply));
    } catch (fault) {
      fail((fault as Error).message);
      return;
    }
    replies += received.length - waitingBefore;
    // A dialogue never has more unanswered commands than one email has recipients.
    if (received.length > 1000) fail('the relay sends replies nobody asked for');
    else if (received.length > 0) wake();
  }
  function attach(next: Socket): void {
    socket = next;
    socket.on('data', onData);
    socket.on('drain', () => waiter?.wake());
    socket.on('error', (error) =>
      fail(`the connection to ${host}:${port} broke: ${reason(error)}`, true),
    );
    socket.on('end', () => fail('the relay closed the connection', true));
    socket.on('close', () => fail('the relay closed the connection', true));
  }
  const broken = (stage: SmtpStage) =>
    new SmtpFault(stage, failure!.why, { hungUp: failure!.hungUp });
  /** Resolves when `done` is true, which is checked at every event. */
  function waitUntil(stage: SmtpStage, timeoutMs: number, done: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiter = undefined;
        fail('timed out');
        reject(new SmtpFault(stage, `the relay did not answer within ${timeoutMs / 1000} s`));
      }, timeoutMs);
      waiter = {
        wake() {
          if (!done() && failure === undefined) return;
          clearTimeout(timer);
          waiter = undefined;
          if (done()) resolve();
          else reject(broken(stage));
        },
      };
      waiter.wake();
    });
  }

  const wire: Wire = {
    onDisturbed: undefined,
    write: (data) => void (failure === undefined && socket.write(data)),
    async writeAll(pieces, stage, stallMs) {
      let flushed = false;
      const isAnswered = () => received.length > 0;
      // RFC 5321 4.5.3.2.5 limits the wait for each block, not for the whole: Node restarts this
      // timer as bytes move.
      const stalled = () => fail(`the relay took no data for ${stallMs / 1000} s`);
      socket.setTimeout(stallMs, stalled);
      for (const piece of pieces) {
        written += piece.length;
        socket.write(piece);
        await turn();
        await waitUntil(stage, FOREVER_MS, () => !socket.writableNeedDrain || isAnswered());
        if (isAnswered()) break;
        if (failure !== undefined) throw broken(stage);
      }
      if (!isAnswered()) {
        socket.write('', (error) => {
          flushed = !error;
          waiter?.wake();
        });
        await waitUntil(stage, FOREVER_MS, () => flushed || isAnswered());
      }
      // Also removes the listener: otherwise one would remain for each large email of the session.
      socket.setTimeout(0, stalled);
      return flushed || socket.writableLength === 0;
    },
    async reply(stage, timeoutMs) {
      if (received.length === 0) await waitUntil(stage, timeoutMs, () => received.length > 0);
      return received.shift()!;
    },
    async startTls(timeoutMs) {
      // Bytes that came in the clear after the 220 would be read as if they had come through TLS
      // (CVE-2011-0411).
      if (received.length > 0 || !reader.isEmpty()) {
        fail('plaintext after STARTTLS');
        throw new SmtpFault(
          'tls',
          'the relay sent plaintext after STARTTLS: someone may be intercepting the connection',
        );
      }
      const plain = socket;
      for (const event of ['data', 'drain', 'error', 'end', 'close'])
        plain.removeAllListeners(event);
      plain.on('error', () => {}); // the TLS socket reports it
      reader = createReplyReader();
      const secure = await connected('tls', `start TLS with ${host}:${port}`, timeoutMs, () =>
        connectTls({
          socket: plain,
          host,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          rejectUnauthorized: verify,
        }),
      ).catch((fault) => {
        failure ??= { why: 'TLS failed', hungUp: false };
        plain.destroy();
        throw fault;
      });
      attach(secure);
    },
    replies: () => replies,
    taken: () => written - socket.writableLength,
    isAlive: () => failure === undefined,
    isQuiet: () => failure === undefined && received.length === 0 && reader.isEmpty(),
    end() {
      if (failure !== undefined) return;
      socket.end();
      // A relay that does not hang up after QUIT would keep the socket forever.
      setTimeout(() => fail('the connection was given up'), GOODBYE_MS).unref();
    },
    destroy: () => fail('the connection was given up'),
  };
  attach(raw);
  return wire;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Waits for a socket to be connected (TCP) or secured (TLS). */
function connected(
  stage: SmtpStage,
  what: string,
  timeoutMs: number,
  open: () => Socket | TLSSocket,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = open();
    const ready = stage === 'tls' ? 'secureConnect' : 'connect';
    const timer = setTimeout(() => stop(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
    const onError = (error: Error) => stop(reason(error));
    const onClose = () => stop('the relay closed the connection');
    const forget = () => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose).off(ready, onReady);
    };
    function stop(why: string): void {
      forget();
      socket.on('error', () => {});
      socket.destroy();
      reject(new SmtpFault(stage, `cannot ${what}: ${why}`));
    }
    function onReady(): void {
      forget();
      resolve(socket);
    }
    socket.on('error', onError).on('close', onClose).on(ready, onReady);
  });
}

function reason(error: Error): string {
  // Happy eyeballs fails with an AggregateError that has no message of its own.
  if (error instanceof AggregateError && error.errors.length > 0) return reason(error.errors[0]);
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
