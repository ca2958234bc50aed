// Loading claimed mails: message and content of a group in one round trip, as far as memory allows.
import type { UnknownOutcome } from '../accounts/accounts.ts';
import { bytesToUuid, uuidToBytes } from '../ids.ts';
import type { ClaimedMessage } from '../queue/due.ts';
import { readHead, type StoredHead } from '../sending/stored-head.ts';
import type { Database } from '../store/pool.ts';

/** What the account wants, as it is when the mail is loaded. */
export interface AccountSwitches {
  id: number;
  version: number;
  trackOpens: boolean;
  trackClicks: boolean;
  oneClickUnsubscribe: boolean;
  unknownOutcome: UnknownOutcome;
}

export interface StoredMail {
  accountId: number;
  messageId: Buffer;
  account: AccountSwitches;
  recipients: string[];
  subject: string;
  head: StoredHead;
  html: Buffer | null;
  text: Buffer | null;
  attachments: Buffer | null;
}

/** A mail that is there and cannot be read. */
export interface UnreadableMail {
  fault: Error;
}

/** By uuid. A mail whose content was pruned is not among them; one that cannot be read says so by itself. */
export async function loadMails(
  database: Database,
  claimed: readonly Pick<ClaimedMessage, 'accountId' | 'messageId'>[],
): Promise<Map<string, StoredMail | UnreadableMail>> {
  const uuids = claimed.map((row) => bytesToUuid(row.messageId)).sort();
  const rows = await database.prepared<MailRow>(
    'load-mails',
    // The bounds keep the planner to the partitions of these days.
    `SELECT m.account_id AS "accountId", m.id AS uuid, m.recipients, m.subject, c.head, c.html, c.text, c.attachments,
            a.version, a.track_opens AS "trackOpens", a.track_clicks AS "trackClicks",
            a.one_click_unsubscribe AS "oneClickUnsubscribe", a.unknown_outcome AS "unknownOutcome"
     FROM unnest($1::bigint[], $2::uuid[]) AS d (account_id, id)
     JOIN messages m ON m.account_id = d.account_id AND m.id = d.id AND m.id BETWEEN $3 AND $4
     JOIN contents c ON c.account_id = d.account_id AND c.message_id = d.id AND c.message_id BETWEEN $3 AND $4
     JOIN accounts a ON a.id = d.account_id`,
    [
      claimed.map((row) => row.accountId),
      claimed.map((row) => bytesToUuid(row.messageId)),
      uuids[0],
      uuids.at(-1),
    ],
  );
  return new Map(rows.map((row) => [row.uuid, readMail(row)]));
}

function readMail(row: MailRow): StoredMail | UnreadableMail {
  try {
    return toMail(row);
  } catch (error) {
    return { fault: error as Error };
  }
}

/** One mail that nobody claimed, to look at it. */
export async function loadMail(
  database: Database,
  accountId: number,
  uuid: string,
): Promise<StoredMail | undefined> {
  const mails = await loadMails(database, [{ accountId, messageId: uuidToBytes(uuid) }]);
  const mail = mails.get(uuid);
  if (mail !== undefined && 'fault' in mail) throw mail.fault;
  return mail;
}

interface MailRow
  extends Omit<StoredMail, 'messageId' | 'account' | 'head'>,
    Omit<AccountSwitches, 'id'> {
  uuid: string;
  head: Buffer;
}

function toMail(row: MailRow): StoredMail {
  const { uuid, head, version, trackOpens, trackClicks, oneClickUnsubscribe, ...rest } = row;
  const { unknownOutcome, ...mail } = rest;
  const switches = { trackOpens, trackClicks, oneClickUnsubscribe, unknownOutcome };
  return {
    ...mail,
    messageId: uuidToBytes(uuid),
    account: { id: mail.accountId, version, ...switches },
    head: readHead(head),
  };
}
