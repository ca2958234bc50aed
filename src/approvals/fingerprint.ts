// The fingerprint of an email: one SHA-256 over everything that decides what leaves and to whom.
// Taken when an email is held (sending/accept.ts) and again, from what is stored, when someone
// approves it (approvals.ts): what was approved is what leaves.
import { createHash } from 'node:crypto';

export interface Fingerprinted {
  from: string;
  recipients: readonly string[];
  subject: string;
  scheduledAtMs: number | null;
  head: string | Buffer;
  html: string | Buffer | null;
  text: string | Buffer | null;
  attachments: Buffer | null;
}

/** In hexadecimal. Each part comes behind its length, so that no two emails read the same. */
export function fingerprint(email: Fingerprinted): string {
  const { head, html, text, attachments } = email;
  const sum = createHash('sha256').update(envelopePart(email));
  for (const part of [head, html, text, attachments]) {
    sum.update(part === null ? 'absent\n' : `${Buffer.byteLength(part)}\n`);
    if (part !== null) sum.update(part);
  }
  return sum.digest('hex');
}

type Envelope = Pick<Fingerprinted, 'from' | 'recipients' | 'subject' | 'scheduledAtMs'>;

export function envelopePart({ from, recipients, subject, scheduledAtMs }: Envelope): string {
  const envelope = JSON.stringify([from, recipients, subject, scheduledAtMs]);
  return `${Buffer.byteLength(envelope)}\n${envelope}`;
}
