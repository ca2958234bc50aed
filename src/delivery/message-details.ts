// Everything about one message except its content: its timeline, what happened to each recipient,
// where it came from and how far handing it over has got. Before it: operations/messages.ts, the
// live stream of its page and `message show`.
import { addressKey } from '../addresses.ts';
import type { TimelineEvent, TimelineOf } from '../events/timeline.ts';
import { showUuid } from '../ids.ts';
import { MESSAGE_COLUMNS, type Message, type MessageRow, toMessage } from '../messages/message.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import { readHead, type StoredHead } from '../sending/stored-head.ts';
import type { Database } from '../store/pool.ts';

export interface MessageDetails extends Message {
  events: TimelineEvent[];
  recipientStates: RecipientState[];
  templateVersion: number | null;
  brandingVersion: number | null;
  /** The key it came through; null: none, such as in the dashboard. */
  key: { id: string; name: string | null; prefix: string; revoked: boolean } | null;
  /** Names of the relays that took it. */
  relays: string[];
  /** The relay's id for the message, once it has accepted it. */
  relayMessageId: string | null;
  /** The latest report of a delay, as the relay worded it. */
  delay: Record<string, unknown> | null;
  /** Null: nothing is left to hand over. */
  pending: Pending | null;
  /** It goes to the sandbox, whatever relay is configured. */
  sandbox: boolean;
}

export interface RecipientState {
  address: string;
  kind: 'to' | 'cc' | 'bcc';
  status: MessageStatus;
  /** When it reached that state; null: still queued. */
  at: string | null;
  /** What the last server said about it. */
  response: string | null;
}

export interface Pending {
  attempts: number;
  nextAt: string;
  remaining: string[];
  /** Those for whom it is unknown whether the relay has the email. */
  unknown: string[];
  lastResponse: string | null;
  /** Why it was set aside and is not tried; null: it is not set aside. */
  setAside: string | null;
}

interface DetailsRow extends MessageRow {
  templateVersion: number | null;
  brandingVersion: number | null;
  keyUuid: string | null;
  keyName: string | null;
  keyPrefix: string | null;
  keyRevoked: boolean;
  relayMessageId: string | null;
  delay: Record<string, unknown> | null;
  head: Buffer | null;
  attempts: number | null;
  dueAt: Date | null;
  remaining: string[] | null;
  unknown: string[] | null;
  lastResponse: string | null;
  setAside: string | null;
}

/** Undefined: the account has no such message. */
export async function readMessageDetails(
  { database, timelineOf }: { database: Database; timelineOf: TimelineOf },
  accountId: number,
  uuid: string,
): Promise<MessageDetails | undefined> {
  const [row] = await database.prepared<DetailsRow>('message-details', DETAILS, [accountId, uuid]);
  const timeline = await timelineOf(accountId, uuid);
  if (row === undefined || timeline === undefined) return undefined;
  const { recipients } = row;
  const message = toMessage(messageOf(row));
  return {
    ...message,
    status: timeline.status as MessageStatus,
    events: timeline.events,
    recipientStates: statesOf(recipients, headOf(row), timeline.events),
    templateVersion: row.templateVersion,
    brandingVersion: row.brandingVersion,
    key: keyOf(row),
    relays: timeline.relays,
    relayMessageId: row.relayMessageId,
    delay: row.delay,
    pending: pendingOf(row),
    sandbox: headOf(row)?.sandbox === true,
  };
}

const COLUMNS = MESSAGE_COLUMNS.split(', ').map((column) => `m.${column}`);

const DETAILS = `SELECT ${COLUMNS.join(', ')},
    m.template_version AS "templateVersion", m.branding_version AS "brandingVersion",
    m.key_id AS "keyUuid", k.name AS "keyName", k.prefix AS "keyPrefix",
    k.revoked_at IS NOT NULL AS "keyRevoked",
    m.relay_message_id AS "relayMessageId", m.last_delay AS delay, c.head,
    d.attempts, d.due_at AS "dueAt", d.remaining, d.unknown, d.last_response AS "lastResponse",
    d.reason AS "setAside"
  FROM messages m
  LEFT JOIN contents c ON c.account_id = m.account_id AND c.message_id = m.id AND c.message_id = $2
  LEFT JOIN api_keys k ON k.account_id = m.account_id AND k.id = m.key_id
  LEFT JOIN due_messages d ON d.account_id = m.account_id AND d.message_id = m.id
  WHERE m.account_id = $1 AND m.id = $2`;

/** A damaged head is why an email was set aside; everything else about it can still be shown. */
function headOf({ head }: DetailsRow): StoredHead | null {
  try {
    return head && readHead(head);
  } catch {
    return null;
  }
}

const messageOf = (row: DetailsRow): MessageRow => {
  const { uuid, accountId, status, from, recipients, subject, tags, template, stream, door } = row;
  const { scheduledAt, cancelledAt } = row;
  const head = { uuid, accountId, status, from, recipients, subject, tags, template, stream, door };
  return { ...head, scheduledAt, cancelledAt };
};

function keyOf(row: DetailsRow): MessageDetails['key'] {
  if (row.keyUuid === null) return null;
  return {
    id: showUuid('key_', row.keyUuid),
    name: row.keyName,
    prefix: row.keyPrefix ?? '',
    revoked: row.keyRevoked,
  };
}

function pendingOf(row: DetailsRow): Pending | null {
  if (row.dueAt === null) return null;
  return {
    attempts: row.attempts ?? 0,
    nextAt: row.dueAt.toISOString(),
    remaining: row.remaining ?? row.recipients,
    unknown: row.unknown ?? [],
    lastResponse: row.lastResponse,
    setAside: row.setAside,
  };
}

// ---- Recipients ---------------------------------------------------------------------------------

/**
 * The highest rank among the events about each recipient. Opens and clicks name nobody; with one
 * recipient it is clear who it was.
 */
function statesOf(
  recipients: readonly string[],
  head: StoredHead | null,
  events: readonly TimelineEvent[],
): RecipientState[] {
  return recipients.map((address) => {
    const state: RecipientState = {
      address,
      kind: kindOf(head, address),
      status: 'queued',
      at: null,
      response: null,
    };
    for (const event of events) {
      if (!isAbout(event, address, recipients.length)) continue;
      if (typeof event.smtp_response === 'string') state.response = event.smtp_response;
      if (event.machine === true || rank(event.type) < rank(state.status)) continue;
      if (event.type !== state.status) state.at = `${event.timestamp}Z`;
      state.status = event.type;
    }
    return state;
  });
}

const rank = (status: MessageStatus): number => STATUSES.indexOf(status);

function isAbout(event: TimelineEvent, address: string, recipientCount: number): boolean {
  if (!Array.isArray(event.recipients)) return recipientCount === 1;
  return event.recipients.some((one) => addressKey(String(one)) === addressKey(address));
}

/** Past its retention, nobody knows any longer who was in a header. */
function kindOf(head: StoredHead | null, address: string): RecipientState['kind'] {
  const isIn = (list: readonly { address: string }[]): boolean =>
    list.some((mailbox) => addressKey(mailbox.address) === addressKey(address));
  if (head === null || isIn(head.to)) return 'to';
  return isIn(head.cc) ? 'cc' : 'bcc';
}
