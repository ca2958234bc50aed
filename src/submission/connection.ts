// smtp-server with what it lacks: our own enhanced status codes, replies of several lines, a clear
// answer to clients that would send a key without TLS, and a short path for the commands of every
// email: MAIL, RCPT, DATA and content in one piece. Before: a socket. After: server.ts decides
// about a key and an email.
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { ArrivingStream } from './arriving.ts';
import { replyLines, type SmtpReply } from './replies.ts';

/** What smtp-server has no option for. */
export interface SubmissionBehaviour {
  /** How long a connection may stay without logging in. */
  strangerMs: number;
  /**
   * Whether MAIL and RCPT can be accepted without waiting. False: `onMailFrom` and `onRcptTo` say
   * why not.
   */
  admits(session: SMTPServerSession, recipient: string): boolean;
  /** An email that arrived in one piece; others arrive through `onData`. */
  onWhole(
    content: Buffer,
    session: SMTPServerSession,
    say: (answer: string | SmtpReply) => void,
  ): void;
}

export class SubmissionServer extends SMTPServer {
  readonly behaviour: SubmissionBehaviour;

  constructor(options: SMTPServerOptions, behaviour: SubmissionBehaviour) {
    super(options);
    this.behaviour = behaviour;
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new SubmissionConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this.emit('error', error));
    const patience = setTimeout(() => {
      if (!connection.session.user) connection.send(421, '4.4.2 Log in sooner. Try again.');
    }, this.behaviour.strangerMs).unref();
    socket.once('close', () => clearTimeout(patience));
    connection.init();
  }

  /** A client in the middle of an email may finish it; all others are told to try again. */
  closeIdle(): void {
    for (const connection of this.connections) {
      if (!connection.session.envelope?.mailFrom) {
        connection.send(421, '4.3.2 The service is stopping. Try again.');
      }
    }
  }
}

class SubmissionConnection extends SMTPConnection {
  declare _server: SubmissionServer;
  /** Replies that are sent at the end of this turn. */
  #said = '';

  override _createParser(): ArrivingStream {
    const parser = new ArrivingStream();
    parser.oncommand = (command, next) => this._onCommand(command, next);
    parser.onpacket = (packet) => this.#begin(parser, packet);
    parser.on('error', (error) => this.send(421, `Error: ${error.message}`));
    return parser;
  }

  /**
   * Replies to commands that a client can send in one packet are collected; all others are sent at
   * once.
   */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    // smtp-server says it when the content has begun; handler_DATA has already said it.
    if (code === 354) return;
    const lines = typeof data === 'string' ? replyLines(data) : undefined;
    if (code !== 250 || Array.isArray(data)) {
      this.#leave();
      super.send(code, lines ?? data, lines === undefined ? context : false);
    } else if (lines === undefined) {
      this.#gather(
        `250 ${`${this._getEnhancedStatusCode(250, context)} ${data ?? ''}`.trim()}\r\n`,
      );
    } else {
      const last = lines.pop();
      this.#gather(`${lines.map((line) => `250-${line}\r\n`).join('')}250 ${last}\r\n`);
    }
  }

  /**
   * Replies to one packet are sent in one (RFC 2920 3.2), as one text: a separate write for each
   * reply took a fifth of the time of an email, and three corked texts a sixth. The 220 of STARTTLS
   * is not among them: after it the socket belongs to TLS.
   */
  #gather(reply: string): void {
    // After the promises that check the commands of this packet.
    if (this.#said === '') process.nextTick(() => this.#leave());
    this.#said += reply;
  }

  #leave(): void {
    const said = this.#said;
    this.#said = '';
    if (said !== '' && this._socket.readyState === 'open') this._socket.write(said, 'latin1');
  }

  /**
   * MAIL, one RCPT and DATA in one packet, as clients begin most emails, answered as a whole.
   * Anything that differs, or is not accepted, smtp-server reads command by command.
   */
  #begin(parser: ArrivingStream, packet: Buffer): boolean {
    const { envelope } = this.session;
    if (!this.#isLoggedIn() || envelope.mailFrom || this._socket.writableNeedDrain) return false;
    if (packet.length > LONGEST_ENVELOPE) return false;
    const [, from, to] = ENVELOPE.exec(packet.toString('latin1')) ?? [];
    if (to === undefined || !this._server.behaviour.admits(this.session, to)) return false;
    envelope.mailFrom = { address: from!, args: false };
    envelope.rcptTo.push({ address: to, args: false });
    this.#gather(`250 2.1.0 Accepted\r\n250 2.1.5 Accepted\r\n${READY}`);
    this.#expectContent(parser);
    return true;
  }

  override _onCommand(command: Buffer, next?: () => void): void {
    const begin = command.toString('latin1', 0, 5);
    const handler = this.#isLoggedIn() ? this.#shortWay(begin) : undefined;
    if (handler !== undefined) {
      this._handlerPending = true;
      handler.call(this, command, () => {
        this._handlerPending = false;
        if (next !== undefined) this._whenWritable(next);
      });
      return;
    }
    const isClosedToKeys = this.session.disabledCommands?.includes('AUTH') === true;
    if (isClosedToKeys && /^AUTH\b/i.test(begin)) {
      this.send(538, `5.7.11 ${NO_KEYS_IN_THE_CLEAR}`);
      if (next !== undefined) setImmediate(next);
    } else super._onCommand(command, next);
  }

  /** Greeted, logged in, and neither in the middle of another command nor at the end. */
  #isLoggedIn(): boolean {
    return (
      Boolean(this.session.user) &&
      this.hostNameAppearsAs !== false &&
      this._ready &&
      !this._upgrading &&
      this._nextHandler === false &&
      this._server._closeTimeout === false
    );
  }

  /**
   * The commands of every email, without smtp-server's checks for a client that has not logged in,
   * which take longer than the commands.
   */
  #shortWay(begin: string): typeof this.handler_DATA | undefined {
    if (begin === 'MAIL ') return this.handler_MAIL;
    if (begin === 'RCPT ') return this.handler_RCPT;
    return begin === 'DATA' ? this.handler_DATA : undefined;
  }

  /** smtp-server creates a stream for every email: here only for one that arrives in pieces. */
  override handler_DATA(command: Buffer, next: () => void): void {
    const { _parser: parser } = this;
    if (this.session.envelope.rcptTo.length === 0 || !(parser instanceof ArrivingStream)) {
      super.handler_DATA(command, next);
      return;
    }
    this.#gather(READY);
    this.#expectContent(parser);
    next();
  }

  #expectContent(parser: ArrivingStream): void {
    parser.expectContent({
      whole: (content, next) => this.#takeWhole(content, next),
      inPieces: () => super.handler_DATA(DATA, () => undefined),
    });
  }

  #takeWhole(content: Buffer, next: () => void): void {
    this._handlerPending = true;
    this._server.behaviour.onWhole(content, this.session, (answer) => {
      this._handlerPending = false;
      if (answer instanceof Error) this.send(answer.responseCode, answer.message);
      else this.send(250, answer);
      this._transactionCounter++;
      this._unrecognizedCommands = 0;
      this._resetSession();
      next();
    });
  }

  /** A shortcut for most commands: smtp-server parses every address a dozen times. */
  override _parseAddressCommand(name: string, command: Buffer | string): ParsedAddress {
    const [, said, address] = PLAIN_ADDRESS.exec(command.toString('latin1')) ?? [];
    if (address === undefined || said!.toLowerCase() !== name) {
      return super._parseAddressCommand(name, command);
    }
    return { address, args: false };
  }
}

type ParsedAddress = ReturnType<SMTPConnection['_parseAddressCommand']>;

const PLAIN =
  /<([\w+-]{1,30}(?:\.[\w+-]{1,30}){0,2}@(?:(?!xn--)[a-z\d]{1,30}(?:-[a-z\d]{1,30})?\.){1,2}[a-z]{2,20})>/
    .source;
const PLAIN_ADDRESS = new RegExp(`^(mail from|rcpt to):${PLAIN}$`, 'i');
const ENVELOPE = new RegExp(`^mail from:${PLAIN}\r\nrcpt to:${PLAIN}\r\ndata\r\n$`, 'i');
const LONGEST_ENVELOPE = 512;
const DATA = Buffer.from('DATA');
const READY = '354 End data with <CR><LF>.<CR><LF>\r\n';

export const NO_KEYS_IN_THE_CLEAR =
  'An API key is not accepted in the clear. Use STARTTLS first, or the port for TLS.';
