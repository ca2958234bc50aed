// Messages: the search, a row, everything about one, and what streams while it happens. Types only, so that web/ reads them too.
import type { Door, MessageStatus, Page } from './common.ts';
import type { DeliveryRow } from './webhooks.ts';

export interface MessageSearch {
  /** A whole address finds it wherever it stands in to, cc or bcc; a part of one is looked for. */
  recipient?: string;
  /** A part of the subject, in any case. */
  subject?: string;
  /** Exactly. */
  tag?: string;
  status?: MessageStatus;
  /** `msg_…`. */
  id?: string;
  /** ISO 8601. */
  from?: string;
  until?: string;
  before?: string;
  /** 1 to 200; 50 unless told. */
  limit?: number;
}

export interface MessagePage extends Page<MessageRow> {
  /**
   * How far back this page looked; null: to the end. One call looks through a bounded number of messages, so a page can
   * hold few hits, or none, and still have a `next`: then ask again.
   */
  searchedBackTo: string | null;
}

export interface MessageRow {
  id: string;
  status: MessageStatus;
  from: string;
  recipients: string[];
  subject: string;
  tags: string[];
  template: string | null;
  door: Door;
  createdAt: string;
}

export interface MessageDetail extends MessageRow {
  timeline: TimelineEvent[];
  recipientStates: RecipientState[];
  /** A mail of the service itself, whose link is for its reader only: no content is shown. */
  sealed: boolean;
  /** Null: past CONTENT_RETENTION_DAYS, or sealed. */
  content: MessageContent | null;
  templateVersion: number | null;
  brandingVersion: number | null;
  /** The key it came through; null: the dashboard. `name` is null when it has none. */
  key: { id: string; name: string | null; prefix: string; revoked: boolean } | null;
  relay: RelayState;
  webhooks: DeliveryRow[];
}

export interface MessageContent {
  to: string[];
  cc: string[];
  bcc: string[];
  replyTo: string | null;
  /** The sender's own headers. */
  headers: [name: string, value: string][];
  html: string | null;
  text: string | null;
  /** Downloaded at `…/attachments/:index`. */
  attachments: { index: number; filename: string; contentType: string; size: number }[];
}

/** As in the contract of the API: `timestamp` has microseconds and no zone suffix; it is UTC. */
export interface TimelineEvent {
  type: Exclude<MessageStatus, 'queued'>;
  timestamp: string;
  [field: string]: unknown;
}

export interface RecipientState {
  address: string;
  kind: 'to' | 'cc' | 'bcc';
  state: MessageStatus;
  /** When it came to be so; null: still queued. */
  at: string | null;
  /** What the last server said about it. */
  response: string | null;
}

export interface RelayState {
  /** The relay's id of the message, once it took it. */
  messageId: string | null;
  /** Attempts so far and the next one; null: nothing is left to hand over. */
  pending: {
    attempts: number;
    nextAt: string;
    remaining: string[];
    /** Those of them of whom nobody knows whether the relay has the mail. */
    unknown: string[];
    lastResponse: string | null;
    /** Why it was set aside and is not tried; null: it is. */
    setAside: string | null;
  } | null;
  /** Attempts that were no end: deferrals, cut lines, reports of delays. Oldest first. */
  attempts: {
    at: string;
    /** Null: a report of the relay. */
    attempt: number | null;
    server: string;
    recipients: { recipient: string; result: 'deferred' | 'unknown'; reply: string }[];
    nextAt: string | null;
  }[];
  /** The newest report that it is late, as the relay told it. */
  delay: Record<string, unknown> | null;
  /** What servers said, oldest first. */
  replies: { at: string; recipients: string[]; response: string; reportingMta: string }[];
}

/** Server-sent events of one message. `event: timeline`, `data:` this. Sent at once and whenever something changes. */
export interface LiveTimeline {
  status: MessageStatus;
  timeline: TimelineEvent[];
  recipientStates: RecipientState[];
}

/** Server-sent events of the account. `event: messages`, `data:` this: the newest 20. Sent at once and whenever they change. */
export interface LiveMessages {
  items: MessageRow[];
}
