// One message as its page shows it: timeline, what became of each recipient, content, key, relay and webhooks.
// Before it: routes/messages.ts finds the message in the session's account.

import { addressKey, formatMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { listAttempts } from '../events/attempts.ts';
import { readTimeline, type TimelineEvent } from '../events/timeline.ts';
import { readUuid, showUuid } from '../ids.ts';
import { findOwnMessage, type Message } from '../messages/message.ts';
import { type MessageStatus, STATUSES } from '../messages/status.ts';
import type { Session } from '../people/sessions.ts';
import { hiddenRecipients, readContent, type StoredContent } from '../sending/stored-content.ts';
import type { Database } from '../store/pool.ts';
import { isSealed } from './sealed-mail.ts';
import type {
  LiveTimeline,
  MessageContent,
  MessageDetail,
  MessageRow,
  RecipientState,
  RelayState,
} from './views/messages.ts';
import { listMessageDeliveries } from './webhook-views.ts';

export const noMessage = (id: string): Problem =>
  new Problem(
    'not-found',
    `This account has no message ${id.slice(0, 64)}. Check the id; messages are kept for a limited time.`,
  );

/** The uuid behind the id, or the Problem that there is none. */
export function messageUuid(id: string): string {
  const uuid = readUuid('msg_', id);
  if (uuid === undefined) throw noMessage(id);
  return uuid;
}

export async function readMessagePage(
  database: Database,
  accountId: number,
  session: Session,
  id: string,
): Promise<MessageDetail> {
  const uuid = messageUuid(id);
  const message = await findOwnMessage(database, accountId, uuid);
  const timeline = await readTimeline(database, accountId, uuid);
  if (message === undefined || timeline === undefined) throw noMessage(id);
  const [content, origin, webhooks, attempts] = await Promise.all([
    readContent(database, accountId, uuid),
    readOrigin(database, accountId, uuid),
    listMessageDeliveries(database, accountId, uuid),
    listAttempts(database, accountId, uuid),
  ]);
  const { events } = timeline;
  const sealed = isSealed(message.door, session);
  return {
    ...toRow(message),
    status: timeline.status as MessageStatus,
    timeline: events,
    recipientStates: recipientStates(message, content, events),
    sealed,
    content: content === undefined || sealed ? null : toContent(message, content),
    templateVersion: origin.templateVersion,
    brandingVersion: origin.brandingVersion,
    key: origin.key,
    relay: { ...origin.relay, attempts, replies: repliesIn(events) },
    webhooks,
  };
}

export async function readLiveTimeline(
  database: Database,
  accountId: number,
  id: string,
): Promise<LiveTimeline> {
  const uuid = messageUuid(id);
  const message = await findOwnMessage(database, accountId, uuid);
  const timeline = await readTimeline(database, accountId, uuid);
  if (message === undefined || timeline === undefined) throw noMessage(id);
  const content = await readContent(database, accountId, uuid);
  return {
    status: timeline.status as MessageStatus,
    timeline: timeline.events,
    recipientStates: recipientStates(message, content, timeline.events),
  };
}

export function toRow({ accountId: _, door, ...message }: Message): MessageRow {
  return { ...message, door: door as MessageRow['door'] };
}

function toContent(message: Message, { head, html, text }: StoredContent): MessageContent {
  return {
    to: head.to.map(formatMailbox),
    cc: head.cc.map(formatMailbox),
    bcc: hiddenRecipients(head, message.recipients),
    replyTo: head.replyTo === null ? null : formatMailbox(head.replyTo),
    headers: head.headers,
    html,
    text,
    attachments: head.attachments.map((attachment, index) => ({ index, ...attachment })),
  };
}

// ---- Recipients -------------------------------------------------------------------------------------------------

/** The highest rank among the events about each. Opens and clicks name nobody; with one recipient it is clear who it was. */
function recipientStates(
  message: Message,
  content: StoredContent | undefined,
  events: readonly TimelineEvent[],
): RecipientState[] {
  return message.recipients.map((address) => {
    const state: RecipientState = {
      address,
      kind: kindOf(content, address),
      state: 'queued',
      at: null,
      response: null,
    };
    for (const event of events) {
      if (!isAbout(event, address, message.recipients.length)) continue;
      if (typeof event.smtp_response === 'string') state.response = event.smtp_response;
      if (event.machine === true || rank(event.type) < rank(state.state)) continue;
      if (event.type !== state.state) state.at = `${event.timestamp}Z`;
      state.state = event.type;
    }
    return state;
  });
}

const rank = (status: MessageStatus): number => STATUSES.indexOf(status);

function isAbout(event: TimelineEvent, address: string, recipientCount: number): boolean {
  if (!Array.isArray(event.recipients)) return recipientCount === 1;
  return event.recipients.some((one) => addressKey(String(one)) === addressKey(address));
}

function kindOf(content: StoredContent | undefined, address: string): RecipientState['kind'] {
  const isIn = (list: readonly { address: string }[]): boolean =>
    list.some((mailbox) => addressKey(mailbox.address) === addressKey(address));
  if (content === undefined || isIn(content.head.to)) return 'to';
  return isIn(content.head.cc) ? 'cc' : 'bcc';
}

// ---- Where it came from and where it is ---------------------------------------------------------------------------

interface Origin {
  templateVersion: number | null;
  brandingVersion: number | null;
  key: MessageDetail['key'];
  relay: Omit<RelayState, 'replies' | 'attempts'>;
}

interface OriginRow {
  templateVersion: number | null;
  brandingVersion: number | null;
  keyUuid: string | null;
  keyName: string | null;
  keyPrefix: string | null;
  keyRevoked: boolean;
  recipients: string[];
  relayId: string | null;
  delay: Record<string, unknown> | null;
  attempts: number | null;
  dueAt: Date | null;
  remaining: string[] | null;
  unknown: string[] | null;
  lastResponse: string | null;
  setAside: string | null;
}

async function readOrigin(database: Database, accountId: number, uuid: string): Promise<Origin> {
  const [row] = await database.query<OriginRow>(
    `SELECT m.template_version AS "templateVersion", m.branding_version AS "brandingVersion", m.key_id AS "keyUuid",
            k.name AS "keyName", k.prefix AS "keyPrefix", k.revoked_at IS NOT NULL AS "keyRevoked",
            m.recipients, m.relay_message_id AS "relayId", m.last_delay AS delay,
            d.attempts, d.due_at AS "dueAt", d.remaining, d.unknown, d.last_response AS "lastResponse",
            d.reason AS "setAside"
     FROM messages m
     LEFT JOIN api_keys k ON k.account_id = m.account_id AND k.id = m.key_id
     LEFT JOIN due_messages d ON d.account_id = m.account_id AND d.message_id = m.id
     WHERE m.account_id = $1 AND m.id = $2`,
    [accountId, uuid],
  );
  const found = row!;
  return {
    templateVersion: found.templateVersion,
    brandingVersion: found.brandingVersion,
    key:
      found.keyUuid === null
        ? null
        : {
            id: showUuid('key_', found.keyUuid),
            name: found.keyName,
            prefix: found.keyPrefix ?? '',
            revoked: found.keyRevoked,
          },
    relay: {
      messageId: found.relayId,
      delay: found.delay,
      pending:
        found.dueAt === null
          ? null
          : {
              attempts: found.attempts ?? 0,
              nextAt: found.dueAt.toISOString(),
              remaining: found.remaining ?? found.recipients,
              unknown: found.unknown ?? [],
              setAside: found.setAside,
              lastResponse: found.lastResponse,
            },
    },
  };
}

const repliesIn = (events: readonly TimelineEvent[]): RelayState['replies'] =>
  events
    .filter((event) => typeof event.smtp_response === 'string')
    .map((event) => ({
      at: `${event.timestamp}Z`,
      recipients: (event.recipients as string[] | undefined) ?? [],
      response: event.smtp_response as string,
      reportingMta: String(event.reporting_mta ?? ''),
    }));
