// The part of the sandbox's inbox that belongs to one account: the mails whose envelope names one
// of its messages. Before it: operations/sandbox.ts. The inbox itself knows no accounts, as no
// relay does.
import { Problem } from '../errors.ts';
import { readUuid, showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';
import { type CapturedMail, getCaptured } from './inbox.ts';

export interface OwnCapturedMail extends CapturedMail {
  subject: string;
}

interface OwnRow {
  uuid: string;
  capturedAt: Date;
  from: string;
  recipients: string[];
  messageUuid: string;
  subject: string;
  size: number;
}

/** Newest first; `beforeId` is the id the last page ended with. */
export async function listOwnCaptured(
  database: Database,
  accountId: number,
  page: { beforeId?: string | undefined; limit: number },
): Promise<OwnCapturedMail[]> {
  const named = await listNamed(database, page.beforeId);
  if (named.length === 0) return [];
  const uuids = named.map(({ messageUuid }) => messageUuid).sort();
  const rows = await database.query<OwnRow>(
    // The bounds keep the planner to the partitions of these days.
    `SELECT s.id AS uuid, s.captured_at AS "capturedAt", s.envelope_from AS "from", s.recipients,
            m.id AS "messageUuid", m.subject, octet_length(s.raw) AS size
     FROM unnest($2::uuid[], $3::uuid[]) AS n (id, message_id)
     JOIN messages m ON m.account_id = $1 AND m.id = n.message_id AND m.id BETWEEN $4 AND $5
     JOIN sandbox_mails s ON s.id = n.id
     ORDER BY s.id DESC LIMIT $6`,
    [
      accountId,
      named.map(({ uuid }) => uuid),
      named.map(({ messageUuid }) => messageUuid),
      uuids[0],
      uuids.at(-1),
      page.limit,
    ],
  );
  return rows.map(({ uuid, capturedAt, messageUuid, ...row }) => ({
    ...row,
    id: showUuid('sbx_', uuid),
    capturedAt: capturedAt.toISOString(),
    messageId: showUuid('msg_', messageUuid),
  }));
}

/** The inbox keeps some 1,000 mails, so all their names are read. */
async function listNamed(
  database: Database,
  beforeId?: string,
): Promise<{ uuid: string; messageUuid: string }[]> {
  const rows = await database.query<{ uuid: string; name: string | null }>(
    `SELECT id AS uuid, envelope_id AS name FROM sandbox_mails
     WHERE $1::uuid IS NULL OR id < $1 ORDER BY id DESC`,
    [beforeId === undefined ? null : (readUuid('sbx_', beforeId) ?? null)],
  );
  return rows.flatMap(({ uuid, name }) => {
    const messageUuid = name === null ? undefined : readUuid('msg_', name);
    return messageUuid === undefined ? [] : [{ uuid, messageUuid }];
  });
}

/** By its own id, or by that of the message. */
export async function getOwnCaptured(
  database: Database,
  accountId: number,
  id: string,
): Promise<OwnCapturedMail & { door: string; raw: Buffer }> {
  const mail = await getCaptured(database, id);
  const uuid = mail.messageId === null ? undefined : readUuid('msg_', mail.messageId);
  const [message] = await database.query<{ subject: string; door: string }>(
    'SELECT subject, door FROM messages WHERE account_id = $1 AND id = $2',
    [accountId, uuid ?? null],
  );
  if (message === undefined) {
    throw new Problem('not-found', `The sandbox has no mail ${id.slice(0, 64)} of this account.`);
  }
  return { ...mail, ...message };
}

export async function clearOwnCaptured(database: Database, accountId: number): Promise<number> {
  const own = await listOwnCaptured(database, accountId, { limit: 100_000 });
  const rows = await database.query('DELETE FROM sandbox_mails WHERE id = ANY ($1) RETURNING id', [
    own.map(({ id }) => readUuid('sbx_', id)),
  ]);
  return rows.length;
}
