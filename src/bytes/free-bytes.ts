// Frees bytes at once, called by their owner when done: the garbage collector lets 64 MB of buffers
// accumulate before it runs, and one request has up to 25 MB.
import { MessageChannel } from 'node:worker_threads';
import { isAlone } from './large-bytes.ts';

/** Fewer are not worth a call. */
export const LEAST_FREED_BYTES = 1024 * 1024;

const { port1: nowhere, port2: closed } = new MessageChannel();
closed.close();
nowhere.unref();

/** Nobody may read them afterwards: they are empty. Parts of a larger buffer stay. */
export function freeBytes(bytes: Uint8Array | null | undefined): void {
  if (bytes && bytes.length >= LEAST_FREED_BYTES && isAlone(bytes)) freeBuffer(bytes.buffer);
}

/**
 * What is sent to a closed port is freed; nothing else in Node 20 frees a buffer. Shared ones stay.
 */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) nowhere.postMessage(null, [buffer]);
}
