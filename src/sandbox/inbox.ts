// The sandbox's inbox: every email that was handed to it, kept for people and tests to look at. It
// keeps each account's newest 1,000, and those still being played (player.ts); the rest is deleted.
import { Problem } from '../errors.ts';
import type { EmailReference } from '../feedback/return-path.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import { arrayLiteral } from '../store/binary.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { EmailFindings } from './captured-email.ts';
import type { Part } from './player.ts';

const MOST_KEPT_OF_ONE = 1000;
const MOST_KEPT = 20_000;

export interface CapturedEmail {
  id: string;
  capturedAt: string;
  from: string;
  recipients: string[];
  /** The message id that the envelope named, for our own emails. */
  messageId: string | null;
  size: number;
}

interface CapturedRow {
  uuid: string;
  capturedAt: Date;
  from: string;
  recipients: string[];
  messageId: string | null;
  size: number;
}

const COLUMNS = `id AS uuid, captured_at AS "capturedAt", envelope_from AS "from", recipients,
  envelope_id AS "messageId", octet_length(raw) AS size`;

export interface NewEmail {
  from: string;
  recipients: string[];
  envelopeId: string | null;
  /** All of it, or its beginning. */
  raw: Buffer;
  /** Whose email it is, as its return path says; undefined: not ours. */
  origin: EmailReference | undefined;
  findings: EmailFindings;
}

/** Stores the email together with the steps to play for it. Returns its uuid. */
export async function capture(
  database: Pick<Queryable, 'prepared'>,
  nowMs: number,
  email: NewEmail,
  parts: readonly Part[],
): Promise<string> {
  const { origin, findings } = email;
  const uuid = bytesToUuid(newIdBytes(nowMs));
  await database.prepared(
    'sandbox-capture',
    `WITH captured AS (
       INSERT INTO sandbox_mails (id, envelope_from, recipients, envelope_id, raw,
                                  account_id, message_id, header_from, subject, codes, links, door)
       SELECT $1, $2, $3, $4, $5, $10, $11, $12, $13, $14, $15,
              (SELECT m.door FROM messages m WHERE m.account_id = $10 AND m.id = $11))
     INSERT INTO sandbox_acts (id, mail_id, script, recipients, due_at)
     SELECT p.id, $1, p.script, p.recipients::text[], now() + p.ms * interval '1 millisecond'
     FROM unnest($6::uuid[], $7::text[], $8::text[], $9::float8[]) AS p (id, script, recipients, ms)`,
    [
      uuid,
      email.from,
      email.recipients,
      email.envelopeId,
      email.raw,
      parts.map((part) => part.id),
      parts.map((part) => part.script),
      parts.map((part) => arrayLiteral(part.recipients)),
      parts.map((part) => part.dueInMs),
      origin?.accountId ?? null,
      origin === undefined ? null : bytesToUuid(origin.messageId),
      findings.from,
      findings.subject,
      findings.codes,
      JSON.stringify(findings.links),
    ],
  );
  return uuid;
}

/** More of an email that is captured in slices, in one transaction. */
export async function captureMore(
  database: Pick<Queryable, 'prepared'>,
  uuid: string,
  slice: Buffer,
): Promise<void> {
  await database.prepared(
    'sandbox-capture-more',
    'UPDATE sandbox_mails SET raw = raw || $2 WHERE id = $1',
    [uuid, slice],
  );
}

export async function listCaptured(database: Database, limit: number): Promise<CapturedEmail[]> {
  const rows = await database.query<CapturedRow>(
    `SELECT ${COLUMNS} FROM sandbox_mails ORDER BY id DESC LIMIT $1`,
    [limit],
  );
  return rows.map(toCaptured);
}

/** By its own id, or by the id of the message it carries (then the newest). */
export async function getCaptured(
  database: Database,
  id: string,
): Promise<CapturedEmail & { raw: Buffer }> {
  const [row] = await database.query<CapturedRow & { raw: Buffer }>(
    `SELECT ${COLUMNS}, raw FROM sandbox_mails WHERE id = $1 OR envelope_id = $2 ORDER BY id DESC LIMIT 1`,
    [readUuid('sbx_', id) ?? null, id],
  );
  if (row === undefined) {
    throw new Problem('not-found', `The sandbox has no email ${id}.`, { see: 'list_sandbox' });
  }
  const { raw, ...rest } = row;
  return { ...toCaptured(rest), raw };
}

export async function clearCaptured(database: Database): Promise<number> {
  const rows = await database.query<{ cleared: number }>(
    'WITH gone AS (DELETE FROM sandbox_mails RETURNING 1) SELECT count(*) AS cleared FROM gone',
  );
  return rows[0]?.cleared ?? 0;
}

export async function pruneCaptured(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM sandbox_mails m
     USING (
       SELECT a.account_id, (
         SELECT id FROM sandbox_mails k WHERE k.account_id IS NOT DISTINCT FROM a.account_id
         ORDER BY id DESC OFFSET $1 LIMIT 1) AS last
       FROM (SELECT DISTINCT account_id FROM sandbox_mails) a
     ) kept
     WHERE m.account_id IS NOT DISTINCT FROM kept.account_id
       AND m.id <= greatest(
         kept.last, (SELECT id FROM sandbox_mails ORDER BY id DESC OFFSET $2 LIMIT 1))
       AND NOT EXISTS (SELECT FROM sandbox_acts a WHERE a.mail_id = m.id)`,
    [MOST_KEPT_OF_ONE, MOST_KEPT],
  );
  await database.query(
    'DELETE FROM sandbox_acts a WHERE NOT EXISTS (SELECT FROM sandbox_mails m WHERE m.id = a.mail_id)',
  );
}

function toCaptured({ uuid, capturedAt, ...row }: CapturedRow): CapturedEmail {
  return { id: showUuid('sbx_', uuid), capturedAt: capturedAt.toISOString(), ...row };
}
