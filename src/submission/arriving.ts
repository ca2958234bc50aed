// The content of an email as it arrives: smtp-server's parser, with one stream in place of its
// PassThrough, which is two and a transform, and a shortcut for content that came in one piece,
// which the parser would read byte by byte. Before: a socket. After: taking.ts reads it.
import { Readable } from 'node:stream';
import type { SMTPServerDataStream } from 'smtp-server';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import { SMALL_BODY_BYTES, WHOLE } from '../http/body.ts';

const END = Buffer.from('\r\n.\r\n');
const LINE_DOT = Buffer.from('\r\n.');
const DOT = 46;
const NOTHING = Buffer.alloc(0);

/** The parser writes it, and we read it. */
class Content extends Readable {
  byteLength = 0;
  sizeExceeded = false;
  writableEnded = false;

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed;
  }

  #isBegun = false;

  /** False: wait for `drain`. */
  write(bytes: Buffer): boolean {
    this.#isBegun = true;
    return this.push(bytes);
  }

  end(bytes?: Buffer): void {
    this.writableEnded = true;
    if (bytes !== undefined && this.#isWhole(bytes) && this.emit(WHOLE, bytes)) {
      // Tells smtp-server that there is no end to wait for.
      this.readable = false;
      return;
    }
    if (bytes !== undefined) this.push(bytes);
    this.push(null);
  }

  #isWhole(bytes: Buffer): boolean {
    return !this.#isBegun && !this.sizeExceeded && bytes.length <= SMALL_BODY_BYTES;
  }

  override _read(): void {
    this.emit('drain');
  }
}

export class ArrivingStream extends SMTPStream {
  override startDataMode(mostBytes?: number | string | null): SMTPServerDataStream {
    this._dataMode = true;
    this._maxBytes = Number(mostBytes) || Number.POSITIVE_INFINITY;
    this.dataBytes = 0;
    this._atDataStart = true;
    // It has all that smtp-server needs from a PassThrough.
    this._dataStream = new Content() as unknown as SMTPServerDataStream;
    return this._dataStream;
  }

  override _feedDataStream(chunk: Buffer, done: (error?: Error | null) => void): void {
    if (!this.#isWhole(chunk)) {
      super._feedDataStream(chunk, done);
      return;
    }
    const content = chunk.subarray(0, chunk.length - END.length + 2);
    this._countDataBytes(content.length);
    this._endDataMode(content, NOTHING, done);
  }

  /** From the first byte to the end, without a line that begins with a dot before it. */
  #isWhole(chunk: Buffer): boolean {
    return (
      this._atDataStart &&
      !this._lastBytes &&
      chunk[0] !== DOT &&
      chunk.indexOf(LINE_DOT) === chunk.length - END.length &&
      chunk.indexOf(END, chunk.length - END.length) >= 0
    );
  }
}
