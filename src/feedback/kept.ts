// Mail to the feedback listener that made no event: auto-replies, complaints nobody can match, anything else.
// Kept raw for 7 days, so that an operator can look (`sandmartin feedback list`); pruned by the maintenance task.
import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import { headerText, readHeaders } from './mime.ts';
import type { Report } from './report.ts';
import type { MailReference } from './return-path.ts';

const KEPT_DAYS = 7;
/** Anybody may write to the complaints mailbox; it must not fill the disk. */
const MOST_KEPT = 10_000;
const MOST_BYTES = 256 * 1024;

export interface KeptMail {
  id: string;
  receivedAt: string;
  kind: string;
  feedbackType: string | null;
  accountId: number | null;
  messageId: string | null;
  from: string;
  recipient: string;
  subject: string;
  size: number;
}

/** False when there is no room for more: whoever sent it may come again. */
export async function keepMail(
  database: Database,
  mail: {
    raw: Buffer;
    report: Report;
    from: string;
    recipient: string;
    about: MailReference | undefined;
  },
  nowMs: number,
): Promise<boolean> {
  const { headers, end } = readHeaders(mail.raw.toString('latin1', 0, MOST_BYTES), 0);
  const subject = headerText(headers.get('subject')?.[0]).replaceAll('\0', '').slice(0, 500);
  // Without the trace that each delivery writes anew, so that a mail that comes twice is kept once.
  const fingerprint = createHash('sha256')
    .update(`${headers.get('message-id')?.[0] ?? ''}\0${mail.recipient.toLowerCase()}\0`)
    .update(mail.raw.subarray(end))
    .digest();
  const [row] = await database.query<{ room: boolean }>(
    `WITH room AS (SELECT count(*) < $10 AS room FROM feedback_mails), kept AS (
       INSERT INTO feedback_mails (id, fingerprint, kind, feedback_type, account_id, message_id,
                                   envelope_from, recipient, subject, raw)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $11 FROM room WHERE room
       ON CONFLICT (fingerprint) DO NOTHING)
     SELECT room FROM room`,
    [
      bytesToUuid(newIdBytes(nowMs)),
      fingerprint,
      mail.report.kind,
      mail.report.feedback_type,
      mail.about?.accountId ?? null,
      mail.about ? bytesToUuid(mail.about.messageId) : null,
      mail.from,
      mail.recipient,
      Buffer.from(subject).toString(),
      MOST_KEPT,
      mail.raw.subarray(0, MOST_BYTES),
    ],
  );
  return row?.room ?? false;
}

interface KeptRow extends Omit<KeptMail, 'id' | 'receivedAt' | 'messageId'> {
  uuid: string;
  receivedAt: Date;
  messageUuid: string | null;
}

const COLUMNS = `id AS uuid, received_at AS "receivedAt", kind, feedback_type AS "feedbackType", account_id AS "accountId",
  message_id AS "messageUuid", envelope_from AS "from", recipient, subject, octet_length(raw) AS size`;

/** Newest first. */
export async function listKept(database: Database, limit: number): Promise<KeptMail[]> {
  const rows = await database.query<KeptRow>(
    `SELECT ${COLUMNS} FROM feedback_mails ORDER BY id DESC LIMIT $1`,
    [limit],
  );
  return rows.map(toKept);
}

export async function getKept(
  database: Database,
  id: string,
): Promise<{ mail: KeptMail; raw: Buffer }> {
  const [row] = await database.query<KeptRow & { raw: Buffer }>(
    `SELECT ${COLUMNS}, raw FROM feedback_mails WHERE id = $1`,
    [readUuid('fbk_', id) ?? null],
  );
  if (row === undefined) {
    throw new Problem(
      'not-found',
      `No mail ${id} is kept. "npx sandmartin feedback list" shows those of the last ${KEPT_DAYS} days.`,
    );
  }
  const { raw, ...rest } = row;
  return { mail: toKept(rest), raw };
}

export async function pruneKept(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM feedback_mails WHERE received_at < now() - interval '${KEPT_DAYS} days'`,
  );
}

function toKept({ uuid, messageUuid, receivedAt, ...row }: KeptRow): KeptMail {
  return {
    id: showUuid('fbk_', uuid),
    receivedAt: receivedAt.toISOString(),
    messageId: messageUuid && showUuid('msg_', messageUuid),
    ...row,
  };
}
