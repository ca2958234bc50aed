// A send as it is written: what accept.ts packs, and the columns in which batch.ts hands many of
// them to accept_sends.
import { uuidToBytes } from '../ids.ts';
import type { Door } from '../messages/door.ts';
import { CLASSES, type EmailClass } from '../queue/lanes.ts';
import { arrayLiteral } from '../store/binary.ts';
import { columnList } from '../store/columns.ts';
import type { IdempotencyClaim } from './idempotency.ts';

/** A checked and rendered send, ready to be written. */
export interface PackedSend {
  id: Buffer;
  accountId: number;
  keyId: string | null;
  door: Door;
  from: string;
  envelope: readonly string[];
  recipientCount: number;
  subject: string;
  tags: readonly string[] | null;
  template: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
  /** Null: the default one. */
  stream: string | null;
  head: string;
  html: string | Buffer | null;
  text: string | Buffer | null;
  attachments: Buffer | null;
  /** Bytes of head, bodies and attachments. */
  size: number;
  class: EmailClass;
  idempotency: IdempotencyClaim | null;
  /** Recipients per day that the API key may send to; null: only the account's quota counts. */
  keyCap: number | null;
  /** Captured instead of handed to the relay. */
  sandbox?: boolean;
  /** Reaches everyone, whatever streams they have left (isAboutAccess). */
  aboutAccess?: boolean;
  /** Not handed over before then; null: at once. */
  scheduledAtMs: number | null;
  /** Why it waits for a person, and its fingerprint; null: it does not. */
  approval: string | null;
  /** How its recipients would be listed, if the caller is told who gets no copy. */
  listedForms: readonly string[] | null;
  /** For the answer; absent: nothing is wrong with it. */
  warnings?: readonly string[];
}

/**
 * The ONE list of what accept_sends gets for a send; tests/store/columns.test.ts compares it with
 * the function.
 */
export const SEND_COLUMNS = columnList<PackedSend>({
  id: { type: 'uuid', of: (send) => send.id },
  account_id: { type: 'bigint', of: (send) => send.accountId },
  from_email: { type: 'text', of: (send) => send.from },
  recipients: { type: 'text', of: (send) => arrayLiteral(send.envelope) },
  recipient_count: { type: 'integer', of: (send) => send.recipientCount },
  subject: { type: 'text', of: (send) => send.subject },
  tags: { type: 'text', of: (send) => send.tags && arrayLiteral(send.tags) },
  template: { type: 'text', of: (send) => send.template },
  template_version: { type: 'integer', of: (send) => send.templateVersion },
  branding_version: { type: 'integer', of: (send) => send.brandingVersion },
  stream: { type: 'text', of: (send) => send.stream },
  door: { type: 'text', of: (send) => send.door },
  key_id: { type: 'uuid', of: (send) => (send.keyId === null ? null : uuidToBytes(send.keyId)) },
  head: { type: 'bytea', of: (send) => send.head },
  html: { type: 'bytea', of: (send) => send.html },
  text: { type: 'bytea', of: (send) => send.text },
  attachments: { type: 'bytea', of: (send) => send.attachments },
  idempotency_key: { type: 'text', of: (send) => send.idempotency?.key ?? null },
  request_hash: { type: 'bytea', of: (send) => send.idempotency?.requestHash ?? null },
  kept_seconds: { type: 'integer', of: (send) => send.idempotency?.keptSeconds ?? null },
  key_cap: { type: 'integer', of: (send) => send.keyCap },
  size: { type: 'integer', of: (send) => send.size },
  class: { type: 'integer', of: (send) => CLASSES[send.class] },
  scheduled_at: { type: 'timestamp with time zone', of: (send) => send.scheduledAtMs },
  approval: { type: 'text', of: (send) => send.approval },
  listed_forms: { type: 'text', of: (send) => send.listedForms && arrayLiteral(send.listedForms) },
});
