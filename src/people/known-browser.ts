// A browser that a person has signed in with before, known by a signed mark in a cookie. Before it:
// a session began. After it: sign-in-throttle.ts counts its tries separately, so that someone
// guessing from the same network does not keep its owner waiting. The mark grants no access.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ChallengeDeps } from './challenges.ts';

export interface KnownBrowser {
  id: string;
  /** Who signed in with it last. */
  userId: string;
}

type MarkDeps = Pick<ChallengeDeps, 'clock' | 'factorKey'>;

/** As long as a network is remembered (sign-in-places.ts). */
export const KNOWN_DAYS = 180;

export function makeMark({ clock, factorKey }: MarkDeps, userId: string): string {
  const until = clock.nowMs() + KNOWN_DAYS * 86_400_000;
  const said = [userId, randomBytes(12).toString('base64url'), until].join('.');
  return `${said}.${sign(factorKey, said)}`;
}

/** Undefined: not ours, or too old. */
export function readMark({ clock, factorKey }: MarkDeps, mark: string): KnownBrowser | undefined {
  const [userId = '', id = '', until = '', signature = ''] = mark.split('.', 4);
  const expected = Buffer.from(sign(factorKey, [userId, id, until].join('.')));
  const given = Buffer.from(signature);
  const ours = given.length === expected.length && timingSafeEqual(given, expected);
  return ours && Number(until) > clock.nowMs() ? { id, userId } : undefined;
}

const sign = (key: Buffer, said: string): string =>
  createHmac('sha256', key).update(`browser ${said}`).digest('base64url');
