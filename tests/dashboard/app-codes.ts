// The codes of an authenticator app, as tests type them. The service takes those of the step
// before, of now and of the next; a test that typed the one before would come too late whenever a
// step ends between its clock and the service's.
import { codeOf, stepAt } from '../../src/people/totp.ts';

export const codeNow = (secret: Buffer): string => codeOf(secret, stepAt(Date.now()));

/** Of a device whose clock is ahead: a second code for whoever has used the one of now. */
export const codeNext = (secret: Buffer): string => codeOf(secret, stepAt(Date.now()) + 1);

/** RFC 4648 6, without padding: the secret as people copy it into an app. */
export function fromBase32(text: string): Buffer {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...text].map((one) => letters.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
