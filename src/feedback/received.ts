// Reads an email that the feedback listener received: what the report says, and what is needed to
// keep it and to judge who sent it. Runs in a thread (threads/worker.ts), because the email is a
// stranger's. Before: inbound/feedback-smtp.ts. After: match.ts, kept.ts.
import { createHash } from 'node:crypto';
import { claimedSignatures, holds, type Signature } from './dkim.ts';
import { headerText, readHeaders } from './mime.ts';
import { parseReport, type Report } from './report.ts';

export interface Received {
  report: Report;
  /** For people. */
  subject: string;
  /** The same for every copy of the same email, whatever trace headers each delivery added. */
  fingerprint: string;
  /** Those that could make its reporter trusted. */
  signatures: Signature[];
}

/** Reading took too much time or memory and was stopped. */
export interface Stopped {
  stopped: 'time' | 'memory';
}

/** How much of the header is read for keeping. */
const HEAD_BYTES = 65_536;

export function readReceived(input: {
  raw: Uint8Array;
  trustedDomains: readonly string[];
}): Received {
  const raw = bytesOf(input.raw);
  const { trustedDomains } = input;
  return {
    report: parseReport(raw),
    ...headOf(raw),
    signatures: trustedDomains.length === 0 ? [] : claimedSignatures(raw, trustedDomains),
  };
}

/** Subject and fingerprint: all there is of an email that could not be read. */
export function headOf(raw: Buffer): Pick<Received, 'subject' | 'fingerprint'> {
  const { headers, end } = readHeaders(raw.toString('latin1', 0, HEAD_BYTES), 0);
  const subject = headerText(headers.get('subject')?.[0]?.slice(0, 2000));
  return {
    subject: subject.replaceAll('\0', '').slice(0, 500),
    fingerprint: createHash('sha256')
      .update(`${headers.get('message-id')?.[0] ?? ''}\0`)
      .update(raw.subarray(end))
      .digest('hex'),
  };
}

/** Whether one of the signatures is valid; `records` by the index of the signature. */
export function verifyReceived(input: {
  raw: Uint8Array;
  signatures: readonly Signature[];
  records: readonly (readonly string[])[];
  nowMs: number;
}): boolean {
  const raw = bytesOf(input.raw);
  return input.signatures.some((signature, place) =>
    holds(raw, signature, input.records[place] ?? [], input.nowMs),
  );
}

/** A Buffer posted by a thread arrives as plain bytes. */
const bytesOf = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
