// One entry for every report that comes by email: the feedback listener and `sandmartin feedback
// parse` both call parseReport. Before it: raw bytes, hostile or not. After it: record.ts, which
// finds our message and writes events. It never throws.
import { createHash } from 'node:crypto';
import { readArf } from './arf.ts';
import { isAutoReply } from './auto-reply.ts';
import { readBounce } from './bounce-text.ts';
import { type RecipientResult, readDsn } from './dsn.ts';
import { readEmail } from './mime.ts';
import { cutNotice } from './notice.ts';
import { findOriginal, type Original } from './original.ts';

export type ReportKind = 'dsn' | 'bounce' | 'arf' | 'auto-reply' | 'other';

export interface ReportedRecipient extends RecipientResult {
  /**
   * The same for every copy of the same statement about the same recipient, however often it comes.
   */
  fingerprint: string;
}

export interface Report {
  kind: ReportKind;
  recipients: ReportedRecipient[];
  /** RFC 5965: abuse, opt-out, not-spam, auth-failure …; null unless the kind is arf. */
  feedback_type: string | null;
  original: Original;
  fingerprint: string;
}

export function parseReport(raw: Buffer): Report {
  const email = readEmail(raw);
  const { notice, unsent } = cutNotice(email);
  const original = findOriginal(email, unsent);

  const complaint = readArf(email, original);
  if (complaint !== null) {
    const { recipients, feedbackType, envelopeId, arrivedAt } = complaint;
    const token = original.token ?? complaint.token;
    const about = { ...original, envelopeId, arrivedAt, token };
    return makeReport('arf', recipients, about, feedbackType);
  }
  const status = readDsn(email, notice);
  if (status !== null) {
    const { recipients, envelopeId, arrivedAt } = status;
    return makeReport('dsn', recipients, { ...original, envelopeId, arrivedAt });
  }
  const bounced = readBounce(email, notice, original);
  if (bounced !== null) return makeReport('bounce', bounced, original);
  return makeReport(isAutoReply(email, notice) ? 'auto-reply' : 'other', [], original);
}

export function makeReport(
  kind: ReportKind,
  recipients: readonly RecipientResult[],
  original: Original,
  feedbackType: string | null = null,
): Report {
  // From what the report says, not from its own header: a relay that sends it again writes a new
  // Message-ID and Date.
  const about = [kind, feedbackType, original.envelopeId, original.ourId, original.messageId];
  return {
    kind,
    recipients: recipients.map((recipient) => ({
      ...recipient,
      fingerprint: fingerprint([
        ...about,
        recipient.address?.toLowerCase(),
        recipient.action,
        recipient.status,
        recipient.smtp_response,
        recipient.reporting_mta,
      ]),
    })),
    feedback_type: feedbackType,
    original,
    fingerprint: fingerprint(about),
  };
}

export function fingerprint(values: readonly (string | null | undefined)[]): string {
  return createHash('sha256')
    .update(JSON.stringify(values.map((value) => value ?? null)))
    .digest('hex')
    .slice(0, 32);
}
