// Runs the garbage collector where much garbage is known to exist. By itself the collector waits
// for tens of megabytes of buffers: 25 MB that pass through in chunks then exist twice, once where
// they were copied and once as chunks. Before it: code that reads or writes something large.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc');

/** Collecting takes half a millisecond for this many bytes, which take ten to pass through. */
const PASSED_BYTES = 4 * 1024 * 1024;

let passed = 0;

/** This many bytes of something large have passed through in a chunk that is no longer needed. */
export function notePassed(bytes: number): void {
  passed += bytes;
  if (passed < PASSED_BYTES) return;
  passed = 0;
  collect({ type: 'minor' });
}

/**
 * For threads, in which little else is alive, and before something large is read: collects
 * everything left behind. V8 keeps the text of the last match, and a part of a text keeps all of
 * it: 24 MB of HTML stayed until the next one.
 */
export function collectAll(): void {
  /^/.test('');
  collect();
}
