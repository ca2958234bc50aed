// Recording reports: what a DSN, bounce or complaint says becomes events, suppressions and delays of one mail, in one transaction.
// Before: inbound/feedback-smtp.ts knows which mail it is about, report.ts what it says.
import { type NewEvent, RECORD_EVENTS_SQL, recordEventsValues } from '../events/record.ts';
import { bytesToUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import { type Suppression, suppress } from '../suppressions/suppressions.ts';
import type { Report, ReportedRecipient } from './report.ts';
import type { MailReference } from './return-path.ts';

/** Answers how many events were new. */
export async function recordReport(
  database: Database,
  mail: MailReference,
  report: Report,
  nowMs: number,
): Promise<number> {
  return await database.transaction(async (client) => {
    const events = [
      ...deliveries(mail, report),
      ...bounces(mail, report),
      ...complaints(mail, report),
    ];
    const recorded =
      events.length === 0
        ? []
        : await client.query(RECORD_EVENTS_SQL, recordEventsValues(events, nowMs));
    await suppress(client, suppressionsOf(mail, report));
    await noteDelays(client, mail, report);
    return recorded.length;
  });
}

const DELIVERED_ACTIONS = ['delivered', 'relayed', 'expanded'];

function deliveries(mail: MailReference, report: Report): NewEvent[] {
  return report.recipients
    .filter((recipient) => DELIVERED_ACTIONS.includes(recipient.action ?? ''))
    .map((recipient) => ({
      ...mail,
      kind: 'delivered' as const,
      recipients: addressOf(recipient),
      detail: {
        smtp_response: recipient.smtp_response ?? '',
        reporting_mta: recipient.reporting_mta ?? '',
      },
      identity: recipient.fingerprint,
    }));
}

function bounces(mail: MailReference, report: Report): NewEvent[] {
  return report.recipients.filter(isBounce).map((recipient) => ({
    ...mail,
    kind: 'bounced' as const,
    recipients: addressOf(recipient),
    detail: {
      bounce_type: recipient.bounce_type,
      reason: recipient.reason ?? 'other',
      smtp_response: recipient.smtp_response ?? '',
      reporting_mta: recipient.reporting_mta ?? '',
    },
    identity: recipient.fingerprint,
  }));
}

function complaints(mail: MailReference, report: Report): NewEvent[] {
  if (report.kind !== 'arf' || report.feedback_type !== 'abuse') return [];
  return [
    {
      ...mail,
      kind: 'complained',
      recipients: report.recipients.flatMap(addressOf),
      detail: { feedback_type: 'abuse' },
      identity: report.recipients[0]?.fingerprint ?? report.fingerprint,
    },
  ];
}

/** Permanent bounces, complaints and opt-outs: the account does not write there again. */
function suppressionsOf(mail: MailReference, report: Report): Suppression[] {
  const reasonOf = (recipient: ReportedRecipient): Suppression['reason'] | null => {
    if (report.kind === 'arf') {
      if (report.feedback_type === 'abuse') return 'complaint';
      return report.feedback_type === 'opt-out' ? 'unsubscribe' : null;
    }
    return isBounce(recipient) && recipient.bounce_type === 'permanent' ? 'bounce' : null;
  };
  return report.recipients.flatMap((recipient) => {
    const reason = reasonOf(recipient);
    return reason === null || recipient.address === null
      ? []
      : [
          {
            accountId: mail.accountId,
            address: recipient.address,
            reason,
            messageUuid: bytesToUuid(mail.messageId),
          },
        ];
  });
}

/** A delay is no event: it is kept on the message until something final comes. */
async function noteDelays(client: Queryable, mail: MailReference, report: Report): Promise<void> {
  const delayed = report.recipients.filter((recipient) => recipient.action === 'delayed');
  if (delayed.length === 0) return;
  await client.query(
    `UPDATE messages SET last_delay = jsonb_build_object('at', now(), 'recipients', $3::text[], 'smtp_response', $4::text)
     WHERE account_id = $1 AND id = $2`,
    [
      mail.accountId,
      bytesToUuid(mail.messageId),
      delayed.flatMap(addressOf),
      delayed[0]?.smtp_response ?? null,
    ],
  );
}

const isBounce = (recipient: ReportedRecipient): boolean => recipient.bounce_type !== null;

const addressOf = (recipient: ReportedRecipient): string[] =>
  recipient.address === null ? [] : [recipient.address];
