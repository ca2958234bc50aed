// Plain requests, read straight off the socket: HTTP/1.1 as nearly every client speaks it, a GET
// without a body or a POST with a Content-Length and a small one, and nothing unusual in the head.
// Measured: node:http takes 70 µs of CPU to read and answer a send, this 35. Anything else goes
// on to node:http with every byte of it, and its connection stays there: node:http knows all of
// HTTP, this only has to know what it does not know. tests/http/plain-requests.test.ts compares the
// two. Before it: server.ts. After it: the doors for sends, timelines and agents.
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpAnswer } from './answer.ts';
import type { HttpServer } from './server.ts';

const HEAD_END = Buffer.from('\r\n\r\n');
const MOST_HEAD_BYTES = 8 * 1024;
const MOST_BODY_BYTES = 64 * 1024;
/**
 * A request that comes in more pieces than this is left to node:http, which has a clock for slow
 * clients.
 */
const MOST_PIECES = 16;

export interface PlainRequest {
  fields: Fields;
  /** Empty for a GET. */
  body: Buffer;
  /** What stands for the {name} at the end of its path; '' if there is none. */
  name: string;
}

/** The header fields of a request, by their lower-case names. */
export type Fields = ReadonlyMap<string, string>;

/** Never rejects. Undefined: it has done nothing, and node:http is to have the request. */
export type AnswerPlain = (
  request: PlainRequest,
  socket: Socket,
) => Promise<HttpAnswer | undefined>;

/** By method and path, as `POST /v1/send` or `GET /v1/messages/{id}`. */
export type PlainAnswers = Readonly<Record<string, AnswerPlain>>;

/** Takes plain requests of these kinds from the server, which must not listen yet. */
export function takePlainRequests(
  { server, limits, prove }: Pick<HttpServer, 'server' | 'limits' | 'prove'>,
  answers: PlainAnswers,
): { closeIdle: () => void } {
  const kinds = Object.keys(answers).map(kindOf);
  const [serveByNode] = server.listeners('connection') as ((socket: Socket) => void)[];
  const connections = new Set<Connection>();
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${server.keepAliveTimeout / 1000}\r\n`;

  function attend(socket: Socket): void {
    /**
     * The part of a request that has arrived. What follows a complete one stays in the socket until
     * that one is answered.
     */
    let held: Buffer | undefined;
    /**
     * Since when the rest of a request has been awaited. A client that has sent nothing yet is only
     * idle: clients open some connections in advance.
     */
    let waitingSince: number | undefined;
    let pieces = 0;
    let answering = false;
    let lastOne = false;
    const connection = {
      closeWhenIdle: () => {
        lastOne = true;
        if (answering) return;
        if (held === undefined) socket.destroy();
        else leaveToNode();
      },
      checkDeadline: (now: number) => {
        if (answering || waitingSince === undefined || now - waitingSince < limits.headMs) return;
        // A client that has sent the head gets as much time as a body is given.
        if (held?.includes(HEAD_END)) leaveToNode();
        else refuseHalf(server, socket, 'ERR_HTTP_REQUEST_TIMEOUT');
      },
    };

    function onData(chunk: Buffer): void {
      // A client that keeps sending without waiting for answers, or without reading them, is not
      // read any further.
      if (answering || socket.writableNeedDrain) putBack(chunk);
      else takeNext(held === undefined ? chunk : Buffer.concat([held, chunk]));
    }

    function putBack(bytes: Buffer): void {
      socket.pause();
      socket.unshift(bytes);
    }

    function takeNext(bytes: Buffer): void {
      const request = readRequest(bytes, kinds);
      if (request === 'incomplete' && ++pieces <= MOST_PIECES) {
        held = bytes;
        waitingSince ??= performance.now();
      } else if (typeof request === 'string') leaveToNode(bytes);
      else {
        held = undefined;
        waitingSince = undefined;
        pieces = 0;
        if (request.length < bytes.length) putBack(bytes.subarray(request.length));
        void reply(request, bytes.subarray(0, request.length));
      }
    }

    async function reply(request: ReadRequest, bytes: Buffer): Promise<void> {
      answering = true;
      const answer = await answers[request.kind]!(request, socket);
      answering = false;
      if (answer === undefined) {
        // Like node:http, which gives no answer to a client that has hung up on its side.
        if (socket.readable) leaveToNode(bytes);
        else socket.destroySoon();
        return;
      }
      const { status, headers, text } = answer;
      if (status < 400) prove(socket);
      write(socket, `${writeHead(status, headers)}${lastOne ? CLOSE : keepAlive}`, text);
      if (lastOne) socket.destroySoon();
      else goOn();
    }

    function goOn(): void {
      if (!answering && !socket.writableNeedDrain) socket.resume();
    }

    function leaveToNode(bytes = held): void {
      forget();
      socket.setTimeout(0);
      for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
      if (bytes !== undefined) socket.unshift(bytes);
      serveByNode!.call(server, socket);
      socket.resume();
    }

    function forget(): void {
      connections.delete(connection);
    }

    const listeners = {
      data: onData,
      drain: goOn,
      end: () => {
        if (answering) lastOne = true;
        else if (held === undefined) socket.end();
        else refuseHalf(server, socket, 'HPE_INVALID_EOF_STATE');
      },
      timeout: () => {
        if (answering) return;
        if (held === undefined) socket.destroy();
        else leaveToNode();
      },
      close: forget,
      // A client that hangs up gets no answer; the socket closes by itself.
      error: () => undefined,
    };
    connections.add(connection);
    for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
    socket.setTimeout(server.keepAliveTimeout);
  }

  const deadlines = setInterval(
    () => {
      const now = performance.now();
      for (const connection of connections) connection.checkDeadline(now);
    },
    Math.min(1000, limits.headMs / 2),
  );
  // A server that could not listen is never closed, and must not keep the process alive.
  deadlines.unref();
  server.once('close', () => clearInterval(deadlines));
  server.off('connection', serveByNode!).on('connection', attend);
  return {
    closeIdle: () => {
      server.off('connection', attend).on('connection', serveByNode!);
      for (const connection of connections) connection.closeWhenIdle();
    },
  };
}

interface Connection {
  closeWhenIdle: () => void;
  checkDeadline: (now: number) => void;
}

/** A request that stops or ends in the middle is answered as node:http would answer it. */
function refuseHalf(server: Server, socket: Socket, code: string): void {
  const error = Object.assign(new Error('The request is not complete.'), { code });
  const told = server.emit('clientError', error, socket);
  if (told) return;
  const status = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${CLOSE}\r\n`);
}

/**
 * Name, colon, blanks, value, CRLF, in the characters that RFC 9110 allows, without blanks at the
 * end.
 */
const FIELD =
  /([!#$%&'*+.^_`|~\w-]+): *((?:[\x21-\x7e\x80-\xff]+(?:[\t ]+[\x21-\x7e\x80-\xff]+)*)?)\r\n/y;
/** Fields that change how a message or its connection is read. */
const UNUSUAL = ['transfer-encoding', 'expect', 'upgrade', 'trailer'];

/** A method and a path, ready to be compared with what comes. */
export interface Kind {
  kind: string;
  /** Up to the name in the path; up to the end of the request line if there is none. */
  begins: string;
  named: boolean;
  hasBody: boolean;
}

const LINE_END = ' HTTP/1.1\r\n';

export function kindOf(kind: string): Kind {
  const name = kind.indexOf('{');
  const begins = name < 0 ? `${kind}${LINE_END}` : kind.slice(0, name);
  return { kind, begins, named: name >= 0, hasBody: kind.startsWith('POST ') };
}

/** One request from the beginning of the bytes, and how many of them it took. */
export function readRequest(
  bytes: Buffer,
  kinds: readonly Kind[],
): ReadRequest | 'incomplete' | 'unusual' {
  const end = bytes.indexOf(HEAD_END);
  const head = bytes.toString('latin1', 0, end < 0 ? MOST_HEAD_BYTES : end + 2);
  const found = kinds.find(({ begins }) => head.startsWith(begins));
  if (found === undefined) {
    return kinds.some(({ begins }) => begins.startsWith(head)) ? 'incomplete' : 'unusual';
  }
  if (head.length >= MOST_HEAD_BYTES) return 'unusual';
  if (end < 0) return 'incomplete';
  const { kind, begins, named, hasBody } = found;
  const name = named ? nameAt(head, begins.length) : '';
  if (name === undefined) return 'unusual';
  const fields = readFields(head, begins.length + (named ? name.length + LINE_END.length : 0));
  if (fields === undefined || !fields.has('host')) return 'unusual';
  for (const unusual of UNUSUAL) if (fields.has(unusual)) return 'unusual';
  const connection = fields.get('connection');
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return 'unusual';
  const announced = fields.get('content-length') ?? (hasBody ? '' : '0');
  if (!/^\d{1,5}$/.test(announced)) return 'unusual';
  if (Number(announced) > (hasBody ? MOST_BODY_BYTES : 0)) return 'unusual';
  const begin = end + 4;
  const length = begin + Number(announced);
  if (bytes.length < length) return 'incomplete';
  return { kind, name, fields, body: bytes.subarray(begin, length), length };
}

interface ReadRequest extends PlainRequest {
  kind: string;
  length: number;
}

/** An id, and nothing that would have to be decoded. */
const NAME = /[\w-]{1,100}(?= HTTP\/1\.1\r\n)/y;

/** Undefined: something else is there. */
function nameAt(head: string, from: number): string | undefined {
  NAME.lastIndex = from;
  return NAME.exec(head)?.[0];
}

/** Undefined: one of them is malformed or occurs twice. */
function readFields(head: string, from: number): Fields | undefined {
  const fields = new Map<string, string>();
  FIELD.lastIndex = from;
  let at = from;
  for (let field = FIELD.exec(head); field !== null; field = FIELD.exec(head)) {
    const name = field[1]!.toLowerCase();
    if (fields.has(name)) return undefined;
    fields.set(name, field[2]!);
    at = FIELD.lastIndex;
  }
  return at === head.length ? fields : undefined;
}

const CLOSE = 'Connection: close\r\n';

function writeHead(status: number, headers: Record<string, string>): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return head;
}

function write(socket: Socket, head: string, text: string): void {
  const length = Buffer.byteLength(text);
  const whole = `${head}Content-Length: ${length}\r\nDate: ${httpDate()}\r\n\r\n${text}`;
  socket.write(whole, length === text.length ? 'latin1' : 'utf8');
}

let dateOf = { second: 0, text: '' };

/** Written once a second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateOf.second) dateOf = { second, text: new Date(second * 1000).toUTCString() };
  return dateOf.text;
}
