// Garbage collected where somebody knows that much of it is there. By itself the collector waits
// for tens of megabytes of buffers: 25 MB that pass through in chunks stand twice then, once where
// they were put and once as chunks. Before it: whoever reads or writes something large.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc');

/** Half a millisecond of collecting for so many bytes, which take ten to come and go. */
const PASSED_BYTES = 4 * 1024 * 1024;

let passed = 0;

/** So many bytes of something large have come and gone in a chunk that nobody looks at again. */
export function notePassed(bytes: number): void {
  passed += bytes;
  if (passed < PASSED_BYTES) return;
  passed = 0;
  collect({ type: 'minor' });
}

/**
 * For threads, in which little else is alive: everything that is left behind. V8 keeps the text of
 * the last match, and with a part of a text all of it: 24 MB of HTML stood until the next one.
 */
export function collectAll(): void {
  /^/.test('');
  collect();
}
