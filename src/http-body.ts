// Reading request bodies, for every door that speaks HTTP: counted while they stream in, never past the limit, and only as many large ones at a time as memory allows.
// The rest wait in TCP: their sockets are simply not read. Backpressure, not errors.
import type { IncomingMessage } from 'node:http';
import { type ByteBudget, createByteBudget } from './byte-budget.ts';
import { Problem } from './errors.ts';

/** 25 MB of HTTP request body. */
export const MOST_BODY_BYTES = 26_214_400;
/** Bodies up to this size are read at once; there are never enough of them to matter. */
const SMALL_BODY_BYTES = 512 * 1024;
/** A body passes through six forms (bytes, text, JSON, base64, bytes, wire): 64 MB of bodies are about 400 MB of memory. */
const LARGE_BODIES_BYTES = 64 * 1024 * 1024;

export const createBodyBudget = (): ByteBudget => createByteBudget(LARGE_BODIES_BYTES);

export interface ReadBody {
  bytes: Buffer;
  /** To be called when the request is answered. */
  release: () => void;
}

const nothingToRelease = (): void => undefined;

export function readBody(
  request: IncomingMessage,
  budget: ByteBudget,
  mostBytes = MOST_BODY_BYTES,
): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > mostBytes) return Promise.reject(tooLarge(mostBytes));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let release: (() => void) | undefined;

    async function waitForRoom(): Promise<void> {
      request.pause();
      release = await budget.take(Number.isNaN(announced) ? mostBytes : announced);
      if (request.destroyed) release();
      else request.resume();
    }
    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size > mostBytes) {
        stop();
        release?.();
        reject(tooLarge(mostBytes));
        return;
      }
      chunks.push(chunk);
      if (size > SMALL_BODY_BYTES && release === undefined) {
        release = nothingToRelease;
        void waitForRoom();
      }
    }
    function onEnd(): void {
      stop();
      resolve({
        bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size),
        release: release ?? nothingToRelease,
      });
    }
    function onClose(): void {
      stop();
      release?.();
      reject(new Problem('invalid', 'The request ended before its body was complete.'));
    }
    function stop(): void {
      request.off('data', onData);
      request.off('end', onEnd);
      request.off('close', onClose);
    }
    request.on('data', onData);
    request.on('end', onEnd);
    request.on('close', onClose);
  });
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    // The message quotes the body: it is for the caller and not, as a cause, for the log.
    throw new Problem(
      'invalid',
      `The body is not valid JSON: ${(error as Error).message.slice(0, 200)}.`,
    );
  }
}

const tooLarge = (mostBytes: number): Problem =>
  new Problem(
    'invalid',
    mostBytes === MOST_BODY_BYTES
      ? 'The request is larger than 25 MB (26,214,400 bytes), attachments included. Send smaller files, or links to them.'
      : `The body is larger than ${mostBytes / 1024} KB.`,
  );
