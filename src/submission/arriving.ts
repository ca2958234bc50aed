// What a client sends, as it arrives: smtp-server's parser, with a shortcut for content that
// arrives in one piece, as most does. Other content goes through one stream instead of
// smtp-server's PassThrough, which is two streams and a transform. Before: a socket. After:
// taking.ts reads it.
import { Readable } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { SMALL_BODY_BYTES } from '../http/body.ts';

const END = Buffer.from('\r\n.\r\n');
const LINE_DOT = Buffer.from('\r\n.');
const DOT = 46;

/** Receives the content of an email. */
export interface Taker {
  /** All of it arrived in one piece; call `next` when it is answered. */
  whole(content: Buffer, next: () => void): void;
  /** It arrives in pieces: `startDataMode` begins a stream for them. */
  inPieces(): void;
}

/** The parser writes to it, and we read from it. */
class Content extends Readable {
  byteLength = 0;
  sizeExceeded = false;
  writableEnded = false;

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed;
  }

  /** False: wait for `drain`. */
  write(bytes: Buffer): boolean {
    return this.push(bytes);
  }

  end(bytes?: Buffer): void {
    this.writableEnded = true;
    if (bytes !== undefined) this.push(bytes);
    this.push(null);
  }

  override _read(): void {
    this.emit('drain');
  }
}

export class ArrivingStream extends SMTPStream {
  #taker: Taker | undefined;

  /** Commands that are answered together; false: they are read one by one. */
  onpacket(_packet: Buffer): boolean {
    return false;
  }

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding,
    next: (error?: Error | null) => void,
  ): void {
    const isBegin = !this._dataMode && !this.isClosed && this._remainder === '';
    if (isBegin && this.onpacket(chunk)) next();
    else super._write(chunk, encoding, next);
  }

  /** The content of an email comes next. */
  expectContent(taker: Taker): void {
    this._dataMode = true;
    this.#taker = taker;
  }

  override startDataMode(mostBytes?: number | string | null): SMTPServerDataStream {
    this._dataMode = true;
    this._maxBytes = Number(mostBytes) || Number.POSITIVE_INFINITY;
    this.dataBytes = 0;
    this._atDataStart = true;
    // It has everything that smtp-server needs from a PassThrough.
    this._dataStream = new Content() as unknown as SMTPServerDataStream;
    return this._dataStream;
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker !== undefined && isWhole(chunk)) {
      this._dataMode = false;
      taker.whole(chunk.subarray(0, chunk.length - END.length + 2), done);
      return;
    }
    taker?.inPieces();
    super._feedDataStream(chunk, done);
  }

  /**
   * smtp-server clears this afterwards, and so would forget the end of a second email in the same
   * packet.
   */
  override continue(): void {
    const goOn = this._continueCallback;
    this._continueCallback = typeof goOn !== 'function';
    if (typeof goOn === 'function') goOn();
  }
}

/** From the first byte to the end, without a line that begins with a dot before it. */
const isWhole = (chunk: Buffer): boolean =>
  chunk.length <= SMALL_BODY_BYTES &&
  chunk[0] !== DOT &&
  chunk.indexOf(LINE_DOT) === chunk.length - END.length &&
  chunk.indexOf(END, chunk.length - END.length) >= 0;
