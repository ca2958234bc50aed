// The id of a request: it stands in the answer, in the log and in the audit, so that whoever has one
// of them finds the others. Every door asks for it once.
import { randomBytes } from 'node:crypto';

/** What a caller or a proxy calls it is kept where it can do no harm in a header or a log. */
const HARMLESS = /^[\w.-]{1,128}$/;

// A counter behind what only this process has: a send has no time to draw random numbers.
const OWN = `req_${randomBytes(9).toString('base64url')}.`;
let made = 0;

/** `given`: the request's own `x-request-id`. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && HARMLESS.test(given) ? given : OWN + (++made).toString(36);
}
