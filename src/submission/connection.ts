// smtp-server with what it lacks: our own enhanced status codes, replies of several lines, and a
// clear answer to clients that would send a key without TLS. Before: a socket. After: server.ts
// says what happens to a key and to an email.
import type { Socket } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { SMTPConnection, type SMTPConnectionOptions } from 'smtp-server/lib/smtp-connection.js';
import { ArrivingStream } from './arriving.ts';
import { replyLines } from './replies.ts';

export class SubmissionServer extends SMTPServer {
  readonly #strangerMs: number;

  /** `strangerMs`: how long a connection may stay without logging in. */
  constructor(options: SMTPServerOptions, strangerMs: number) {
    super(options);
    this.#strangerMs = strangerMs;
  }

  override connect(socket: Socket, options?: SMTPConnectionOptions | null): void {
    const connection = new SubmissionConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', (error: Error) => this.emit('error', error));
    const patience = setTimeout(() => {
      if (!connection.session.user) connection.send(421, '4.4.2 Log in sooner. Try again.');
    }, this.#strangerMs).unref();
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

/** Replies to MAIL, RCPT and DATA on success: clients send these three in one packet. */
const GATHERED = new Set([250, 354]);

class SubmissionConnection extends SMTPConnection {
  /** Replies that leave at the end of this turn. */
  #said = '';

  override _createParser(): ArrivingStream {
    const parser = new ArrivingStream();
    parser.oncommand = (command, next) => this._onCommand(command, next);
    parser.on('error', (error) => this.send(421, `Error: ${error.message}`));
    return parser;
  }

  /**
   * Replies to one packet leave in one (RFC 2920 3.2), as one text: a separate write for each reply
   * took a fifth of the time of an email, and three corked texts a sixth. Everything else leaves at
   * once: after the 220 of STARTTLS the socket belongs to TLS.
   */
  override send(code: number, data?: string | string[] | null, context?: string | false): void {
    const lines = typeof data === 'string' ? replyLines(data) : undefined;
    if (!GATHERED.has(code) || Array.isArray(data)) {
      this.#leave();
      super.send(code, lines ?? data, lines === undefined ? context : false);
      return;
    }
    // After the promises that check the commands of this packet.
    if (this.#said === '') process.nextTick(() => this.#leave());
    const enhanced = this._getEnhancedStatusCode(code, context);
    for (const [at, line] of (lines ?? [`${enhanced} ${data ?? ''}`.trim()]).entries()) {
      this.#said += `${code}${lines !== undefined && at < lines.length - 1 ? '-' : ' '}${line}\r\n`;
    }
  }

  #leave(): void {
    const said = this.#said;
    this.#said = '';
    if (said !== '' && this._socket.readyState === 'open') this._socket.write(said, 'latin1');
  }

  /** A shortcut for most commands: smtp-server parses every address a dozen times. */
  override _parseAddressCommand(name: string, command: Buffer | string): ParsedAddress {
    const [, said, address] = PLAIN_ADDRESS.exec(command.toString('latin1')) ?? [];
    if (address === undefined || said!.toLowerCase() !== name) {
      return super._parseAddressCommand(name, command);
    }
    return { address, args: false };
  }

  override _onCommand(command: Buffer, next?: () => void): void {
    const isClosedToKeys = this.session.disabledCommands?.includes('AUTH') === true;
    if (isClosedToKeys && /^AUTH\b/i.test(command.toString('latin1', 0, 5))) {
      this.send(538, `5.7.11 ${NO_KEYS_IN_THE_CLEAR}`);
      if (next !== undefined) setImmediate(next);
    } else super._onCommand(command, next);
  }
}

type ParsedAddress = ReturnType<SMTPConnection['_parseAddressCommand']>;

const PLAIN_ADDRESS =
  /^(mail from|rcpt to):<([\w+-]{1,30}(?:\.[\w+-]{1,30}){0,2}@(?:(?!xn--)[a-z\d]{1,30}(?:-[a-z\d]{1,30})?\.){1,2}[a-z]{2,20})>$/i;

export const NO_KEYS_IN_THE_CLEAR =
  'An API key is not accepted in the clear. Use STARTTLS first, or the port for TLS.';
