// Frees bytes at once, called by their owner when done: the garbage collector lets 64 MB of buffers
// accumulate before it runs, and one request has up to 25 MB.
import { MessageChannel } from 'node:worker_threads';
import { isAlone } from './large-bytes.ts';

/** Fewer are not worth a call. */
const LEAST_BYTES = 1024 * 1024;

const { port1: nowhere, port2: closed } = new MessageChannel();
closed.close();
nowhere.unref();

/**
 * Nobody may read them afterwards: they are empty. What is sent to a closed port is freed; nothing
 * else in Node 20 frees a buffer. Parts of a larger buffer, and shared ones, stay.
 */
export function freeBytes(bytes: Uint8Array | null | undefined): void {
  if (!bytes || bytes.length < LEAST_BYTES) return;
  const { buffer } = bytes;
  if (buffer instanceof SharedArrayBuffer || !isAlone(bytes)) return;
  nowhere.postMessage(null, [buffer as ArrayBuffer]);
}
