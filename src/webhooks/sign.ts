// Signing: the secret of an endpoint and the headers of one attempt. attempt.ts sends them;
// verify.ts is the receiver's side.
import { randomBytes } from 'node:crypto';
import { macOf } from '../macs.ts';

const PREFIX = 'whsec_';

/** Standard Webhooks: 24 to 64 random bytes, base64, after a prefix that secret scanners know. */
export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64');
}

/** `X-SM-Signature`: the key is the secret's text exactly as it was shown, prefix included. */
export function sign(body: Buffer, secret: string): string {
  return `sha256=${macOf(Buffer.from(secret), body).toString('hex')}`;
}

/** One signature of `webhook-signature`: the key is the decoded base64 after the prefix. */
export function signStandard(
  id: string,
  timestampSeconds: number,
  body: Buffer,
  secret: string,
): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signed = Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`), body]);
  return `v1,${macOf(key, signed).toString('base64')}`;
}

export interface AttemptToSign {
  /** The same for all retries and replays of one event. */
  eventId: string;
  /** 1 for the first POST. */
  attempt: number;
  /** Exactly the bytes that are sent. */
  body: Buffer;
  /** Newest first; two while the secret is being rotated. */
  secrets: readonly [string, ...string[]];
  nowMs: number;
}

export function attemptHeaders({ eventId, attempt, body, secrets, nowMs }: AttemptToSign) {
  const timestampSeconds = Math.floor(nowMs / 1000);
  return {
    'content-type': 'application/json',
    'user-agent': 'Sandmartin',
    'x-sm-signature': sign(body, secrets[0]),
    'x-sm-event-id': eventId,
    'x-sm-attempt': String(attempt),
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': secrets
      .map((secret) => signStandard(eventId, timestampSeconds, body, secret))
      .join(' '),
  };
}
