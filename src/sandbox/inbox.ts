// The sandbox's inbox: every mail that was handed to it, kept for people to look at. Newest 1,000; the rest is pruned.
import { Problem } from '../errors.ts';
import { bytesToUuid, newIdBytes, readUuid, showUuid } from '../ids.ts';
import type { Database } from '../store/pool.ts';

const MOST_KEPT = 1000;

export interface CapturedMail {
  id: string;
  capturedAt: string;
  from: string;
  recipients: string[];
  /** The message id the envelope named, for mails of ours. */
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

export async function capture(
  database: Database,
  mail: { from: string; recipients: string[]; envelopeId: string | null; raw: Buffer },
): Promise<void> {
  await database.prepared(
    'sandbox-capture',
    'INSERT INTO sandbox_mails (id, envelope_from, recipients, envelope_id, raw) VALUES ($1, $2, $3, $4, $5)',
    [bytesToUuid(newIdBytes(Date.now())), mail.from, mail.recipients, mail.envelopeId, mail.raw],
  );
}

export async function listCaptured(database: Database, limit: number): Promise<CapturedMail[]> {
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
): Promise<CapturedMail & { raw: Buffer }> {
  const [row] = await database.query<CapturedRow & { raw: Buffer }>(
    `SELECT ${COLUMNS}, raw FROM sandbox_mails WHERE id = $1 OR envelope_id = $2 ORDER BY id DESC LIMIT 1`,
    [readUuid('sbx_', id) ?? null, id],
  );
  if (row === undefined) {
    throw new Problem(
      'not-found',
      `The sandbox has no mail ${id}. "sandmartin sandbox list" shows what it captured.`,
    );
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
    'DELETE FROM sandbox_mails WHERE id < (SELECT id FROM sandbox_mails ORDER BY id DESC OFFSET $1 LIMIT 1)',
    [MOST_KEPT],
  );
}

function toCaptured({ uuid, capturedAt, ...row }: CapturedRow): CapturedMail {
  return { id: showUuid('sbx_', uuid), capturedAt: capturedAt.toISOString(), ...row };
}
