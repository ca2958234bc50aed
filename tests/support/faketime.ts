// Processes whose wall clock is wrong, using libfaketime if it is installed.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export function findFaketime(): string | undefined {
  if (!existsSync('/usr/lib')) return undefined;
  return ['', ...readdirSync('/usr/lib')]
    .map((folder) => join('/usr/lib', folder, 'faketime/libfaketime.so.1'))
    .find((file) => existsSync(file));
}

/** The environment of a process whose clock is off by `shift`, such as '-3d'. */
export const shiftedClock = (faketime: string, shift: string): Record<string, string> => ({
  LD_PRELOAD: faketime,
  FAKETIME: shift,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});
