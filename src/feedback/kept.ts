// Email to the feedback listener that made no event: auto-replies, reports that prove nothing,
// emails that could not be read. Kept raw for 7 days, so that an operator can inspect them
// (`sandmartin feedback list`); pruned by the maintenance task.
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Received } from './received.ts';
import type { EmailReference } from './return-path.ts';

const KEPT_DAYS = 7;
/** People look at it less often than complaints arrive. */
const KEPT_FOR_PEOPLE_DAYS = 30;
/**
 * Anyone may write to the complaints mailbox; it must not fill the disk, and no network may use it
 * up. The last places are for email to a return path of ours.
 */
const MOST_KEPT = 10_000;
const MOST_OF_STRANGERS = 8000;
const MOST_OF_A_NETWORK = 500;
/** Spam to these addresses must not use up the room for reports, or vice versa. */
const MOST_FOR_PEOPLE = 2000;
const MOST_BYTES = 128 * 1024;

/** Why an email is kept and not recorded. */
export const REASONS_TO_KEEP = {
  'no-news': 'it says nothing that is recorded',
  untrusted: 'no token of ours is in it, and its reporter is not trusted',
  unmatched: 'its reporter is trusted, but no email of ours matches',
  'too-slow': 'reading it took too long',
  'too-large': 'reading it took too much memory',
  unreadable: 'reading it failed',
  unstorable: 'it cannot be stored as an event',
  'for-people': 'it was written to postmaster or abuse',
} as const;
export type ReasonToKeep = keyof typeof REASONS_TO_KEEP;

export interface KeptEmail {
  id: string;
  receivedAt: string;
  kind: string;
  why: string;
  feedbackType: string | null;
  accountId: number | null;
  messageId: string | null;
  from: string;
  recipient: string;
  subject: string;
  size: number;
}

/** False if there is no room for more: the sender may try again. */
export async function keepEmail(
  database: Database,
  email: {
    raw: Buffer;
    /** What is known about it; no report if the email could not be read. */
    received: Pick<Received, 'subject' | 'fingerprint'> & Partial<Pick<Received, 'report'>>;
    why: ReasonToKeep;
    from: string;
    network: string;
    recipient: string;
    about: EmailReference | undefined;
  },
  nowMs: number,
): Promise<boolean> {
  const { received } = email;
  const [row] = await database.query<{ room: boolean }>(
    `WITH room AS (
       SELECT count(*) FILTER (WHERE (why = 'for-people') = ($12 = 'for-people')) < $10
          AND count(*) FILTER (WHERE network = $13) < ${MOST_OF_A_NETWORK} AS room FROM feedback_mails
     ), kept AS (
       INSERT INTO feedback_mails (id, fingerprint, kind, feedback_type, account_id, message_id,
                                   envelope_from, recipient, subject, raw, why, network)
       SELECT $1, sha256(convert_to($2, 'UTF8')), $3, $4, $5, $6, $7, $8, $9, $11, $12, $13 FROM room WHERE room
       ON CONFLICT (fingerprint) DO NOTHING)
     SELECT room FROM room`,
    [
      bytesToUuid(newIdBytes(nowMs)),
      `${received.fingerprint} ${email.recipient.toLowerCase()}`,
      received.report?.kind ?? 'other',
      received.report?.feedback_type ?? null,
      email.about?.accountId ?? null,
      email.about ? bytesToUuid(email.about.messageId) : null,
      email.from,
      email.recipient,
      Buffer.from(received.subject).toString(),
      mostOf(email),
      email.raw.subarray(0, MOST_BYTES),
      email.why,
      email.network,
    ],
  );
  return row?.room ?? false;
}

function mostOf({ why, about }: { why: ReasonToKeep; about: unknown }): number {
  if (why === 'for-people') return MOST_FOR_PEOPLE;
  return about === undefined ? MOST_OF_STRANGERS : MOST_KEPT;
}

interface KeptRow extends Omit<KeptEmail, 'id' | 'receivedAt' | 'messageId'> {
  uuid: string;
  receivedAt: Date;
  messageUuid: string | null;
}

const COLUMNS = `id AS uuid, received_at AS "receivedAt", kind, why, feedback_type AS "feedbackType", account_id AS "accountId",
  message_id AS "messageUuid", envelope_from AS "from", recipient, subject, octet_length(raw) AS size`;

/** Newest first; `after` is the last one on the previous page. */
export async function listKept(
  database: Queryable,
  page: { limit: number; after?: string | undefined; forPeople?: boolean },
): Promise<KeptEmail[]> {
  const rows = await database.query<KeptRow>(
    `SELECT ${COLUMNS} FROM feedback_mails
     WHERE ($2::uuid IS NULL OR id < $2) AND (NOT $3 OR why = 'for-people')
     ORDER BY id DESC LIMIT $1`,
    [
      page.limit,
      (page.after === undefined ? undefined : readUuid('fbk_', page.after)) ?? null,
      page.forPeople ?? false,
    ],
  );
  return rows.map(toKept);
}

export async function getKept(
  database: Queryable,
  id: string,
): Promise<{ email: KeptEmail; raw: Buffer }> {
  const [row] = await database.query<KeptRow & { raw: Buffer }>(
    `SELECT ${COLUMNS}, raw FROM feedback_mails WHERE id = $1`,
    [readUuid('fbk_', id) ?? null],
  );
  if (row === undefined) {
    throw new Problem(
      'not-found',
      `No email ${id} is kept: reports are kept for ${KEPT_DAYS} days, email to postmaster and abuse for ${KEPT_FOR_PEOPLE_DAYS}.`,
      { see: 'list_kept_feedback' },
    );
  }
  const { raw, ...rest } = row;
  return { email: toKept(rest), raw };
}

export async function pruneKept(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM feedback_mails WHERE received_at < now() - interval '${KEPT_DAYS} days'
       AND (why <> 'for-people' OR received_at < now() - interval '${KEPT_FOR_PEOPLE_DAYS} days')`,
  );
}

function toKept({ uuid, messageUuid, receivedAt, ...row }: KeptRow): KeptEmail {
  return {
    id: showUuid('fbk_', uuid),
    receivedAt: receivedAt.toISOString(),
    messageId: messageUuid && showUuid('msg_', messageUuid),
    ...row,
  };
}
