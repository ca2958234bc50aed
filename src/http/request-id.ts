// The id of a request: it is in the answer, in the log and in the audit, so that one leads to the
// others. Every door asks for it once.
import { randomBytes } from 'node:crypto';

/** The id that a caller or a proxy gave is kept if it is harmless in a header or a log. */
const HARMLESS = /^[\w.-]{1,128}$/;

// A counter after a prefix unique to this process: drawing random numbers is too slow for every
// send.
const OWN = `req_${randomBytes(9).toString('base64url')}.`;
let made = 0;

/** `given`: the request's own `x-request-id`. */
export function requestIdOf(given: string | undefined): string {
  return given !== undefined && HARMLESS.test(given) ? given : OWN + (++made).toString(36);
}
