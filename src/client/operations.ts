// Generated from the operations by `npm run generate`; change them there.
import type { CallOptions, Pages } from './calls.ts';

export interface HtmlBody {
  subject: string;
  html: string;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
  locale?: never | undefined;
}

export interface PlainTextBody {
  subject: string;
  text: string;
  html?: never | undefined;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
  locale?: never | undefined;
}

export interface TemplateBody {
  template: string;
  html?: never | undefined;
}

export interface SendEmailAnswer {
  /** Message id. Use it as sm_mail_id in later calls. */
  id: string;
  /** Always `queued`: delivery is asynchronous. */
  status: "queued";
}

export type BatchEmail = {
  /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
  from_email: string;
  /** Recipients. to, cc and bcc together name 1 to 50. */
  to: string[];
  /** Recipients of a copy. */
  cc?: string[] | undefined;
  /** Recipients of a hidden copy. They are in the envelope only. */
  bcc?: string[] | undefined;
  /** Where replies go, as the Reply-To header. */
  reply_to?: string | undefined;
  /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
  subject?: string | undefined;
  /** HTML body. Needed when text is absent, unless a template is used. */
  html?: string | undefined;
  /** Plain-text body. Derived from the HTML when blank and a template is used. */
  text?: string | undefined;
  /** Slug of the template: a system template or one of the account’s own. */
  template?: string | undefined;
  /** What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written. */
  variables?: Record<string, unknown> | undefined;
  /** Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English. */
  locale?: string | undefined;
  /** The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`. */
  stream?: string | undefined;
  /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
  headers?: Record<string, string> | undefined;
  /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
  tags?: string[] | undefined;
  /** When to send it: RFC 3339 with its offset from UTC, at most 30 days ahead. It is rendered now and stays `queued` until then. */
  scheduled_at?: string | undefined;
  /** Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing. */
  attachments?: ({
    /** File name, without a path. */
    filename: string;
    /** Base64-encoded content. */
    content_base64: string;
    /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
    content_type: string;
    /** Makes it an image that the HTML shows with `<img src="cid:…">`. */
    content_id?: string | undefined;
    /** `inline` asks email programs to show the file below the text. Default: `attachment`. */
    disposition?: "attachment" | "inline" | undefined;
  })[] | undefined;
  /** Makes a repeat of this email safe: for 24 hours the same key with the same email gets the same answer. For a single email it is the header Idempotency-Key. */
  idempotency_key?: string | undefined;
} & ({
  subject: string;
  html: string;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
  locale?: never | undefined;
} | {
  subject: string;
  text: string;
  html?: never | undefined;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
  locale?: never | undefined;
} | {
  template: string;
  html?: never | undefined;
});

export interface BatchRecipient {
  /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
  from_email?: string | undefined;
  /** Who gets this email. The other recipients of the batch do not see it. */
  to: string | string[];
  /** Recipients of a copy. */
  cc?: string[] | undefined;
  /** Recipients of a hidden copy. They are in the envelope only. */
  bcc?: string[] | undefined;
  /** Where replies go, as the Reply-To header. */
  reply_to?: string | undefined;
  /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
  subject?: string | undefined;
  /** HTML body. Needed when text is absent, unless a template is used. */
  html?: string | undefined;
  /** Plain-text body. Derived from the HTML when blank and a template is used. */
  text?: string | undefined;
  /** Slug of the template: a system template or one of the account’s own. */
  template?: string | undefined;
  /** What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written. */
  variables?: Record<string, unknown> | undefined;
  /** Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English. */
  locale?: string | undefined;
  /** The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`. */
  stream?: string | undefined;
  /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
  headers?: Record<string, string> | undefined;
  /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
  tags?: string[] | undefined;
  /** When to send it: RFC 3339 with its offset from UTC, at most 30 days ahead. It is rendered now and stays `queued` until then. */
  scheduled_at?: string | undefined;
  /** Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing. */
  attachments?: ({
    /** File name, without a path. */
    filename: string;
    /** Base64-encoded content. */
    content_base64: string;
    /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
    content_type: string;
    /** Makes it an image that the HTML shows with `<img src="cid:…">`. */
    content_id?: string | undefined;
    /** `inline` asks email programs to show the file below the text. Default: `attachment`. */
    disposition?: "attachment" | "inline" | undefined;
  })[] | undefined;
  /** Makes a repeat of this email safe: for 24 hours the same key with the same email gets the same answer. For a single email it is the header Idempotency-Key. */
  idempotency_key?: string | undefined;
}

export interface ListOfEmails {
  emails: (Record<string, unknown>)[];
  recipients?: never | undefined;
}

export interface OneEmailForMany {
  from_email: string;
  recipients: (Record<string, unknown>)[];
  emails?: never | undefined;
}

export interface BatchError {
  /** Which email of the batch, from 0. */
  index: number;
  /** What is wrong and what to do about it. */
  detail: string;
  /** The kind of problem, as for a refused send. */
  code: string;
  /** The fields at fault, if any, and what is wrong with each. */
  faults: ({
    /** Which field of the email, such as `to[2]`. */
    path: string;
    /** What is wrong with it. */
    message: string;
    /** The line, in the text of a template. */
    line?: number | undefined;
    /** The column in that line. */
    column?: number | undefined;
  })[];
}

export interface SendBatchAnswer {
  /** The emails that were queued, in the order of the batch. */
  data: ({
    /** Message id. Use it as sm_mail_id in later calls. */
    id: string;
    /** Always `queued`: delivery is asynchronous. */
    status: "queued";
  })[];
  /** Those that were not, in the order of the batch. Empty unless `permissive`. */
  errors: BatchError[];
}

export interface EmailPreview {
  /** The subject as it would be sent. */
  subject: string;
  /** The plain text as it would be sent; null: none. */
  text: string | null;
  /** Who would get it: to, cc and bcc. */
  recipients: string[];
  /** Those of them who would get no copy. */
  suppressed: string[];
  /** The rule by which a person would have to approve it; null: it would be sent. */
  needs_approval: "always" | "first_contact" | "outside_domain" | null;
  /** What receivers and readers would object to (lint_email). */
  findings: LintFinding[];
  /** Bytes of bodies and files. */
  size: number;
  /** Recipients that are left today, before it. */
  quota_left: number;
  /** Whether it would be captured and not delivered. */
  sandbox: boolean;
}

export interface LintFinding {
  /** What kind of thing it is. */
  rule: "missing-subject" | "spammy-subject" | "missing-text" | "image-only" | "missing-alt" | "broken-link" | "http-link" | "huge-html" | "unresolved-variable" | "missing-unsubscribe";
  /** error: readers see something broken, or receivers reject it. warning: it costs trust. */
  severity: "error" | "warning";
  /** What was found. */
  message: string;
  /** What to do. */
  hint: string;
}

export interface MessageTimeline {
  /** The message id. */
  sm_mail_id: string;
  /** The owning account, as a string. */
  user_id: string;
  /** The current status: the highest rank seen. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** When it goes out, or was to: ISO 8601, UTC. Absent: it went at once. */
  scheduled_at?: string | undefined;
  /** When it was cancelled: ISO 8601, UTC. Nobody receives it. Absent: it was not. */
  cancelled_at?: string | undefined;
  /** It waits for a person’s approval: nothing has been sent. Absent: it does not. */
  held?: {
    /** The rule of its key that holds it. */
    reason: "always" | "first_contact" | "outside_domain";
    /** Of everything that would be sent. An approval names it. */
    sha256: string;
    /** When it expires unapproved: ISO 8601, UTC. */
    expires_at: string;
  } | undefined;
  /** What happened to the approval it waited for. Absent: it waits, or needed none. */
  approval?: {
    /** Only what was approved is sent. */
    state: "approved" | "declined" | "expired" | "cancelled";
    /** Who decided; null: nobody did. */
    by: string | null;
    /** When: ISO 8601, UTC. */
    at: string | null;
  } | undefined;
  /** What happened, oldest first. */
  events: (SentEvent | DeliveredEvent | OpenedEvent | ClickedEvent | BouncedEvent | ComplainedEvent)[];
}

/** The relay accepted the email. */
export interface SentEvent {
  /** What happened. */
  type: "sent";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The recipients this event is about. */
  recipients: string[];
  /** The subject as it went out. */
  subject: string;
}

/** The receiving server accepted the email. */
export interface DeliveredEvent {
  /** What happened. */
  type: "delivered";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The recipients this event is about. */
  recipients: string[];
  /** What the receiving server said. */
  smtp_response: string;
  /** Host name of the mail server that reported it. */
  reporting_mta: string;
  /** Host name of the mail server that answered, where the report names it. */
  remote_mta?: string | undefined;
}

/** The email was opened. */
export interface OpenedEvent {
  /** What happened. */
  type: "opened";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The program that opened it. */
  user_agent: string;
  /** Where it was opened from. */
  ip_address: string;
  /** True for known prefetchers and scanners. */
  machine: boolean;
}

/** A link in the email was followed. */
export interface ClickedEvent {
  /** What happened. */
  type: "clicked";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The link. */
  url: string;
  /** The program that followed it. */
  user_agent: string;
  /** Where it was followed from. */
  ip_address: string;
  /** True for known prefetchers and scanners. */
  machine: boolean;
}

/** The email will not arrive. */
export interface BouncedEvent {
  /** What happened. */
  type: "bounced";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The recipients this event is about. */
  recipients: string[];
  /** How final it is, and who decided. */
  bounce_type: "permanent" | "transient" | "suppressed" | "expired";
  /** Why, from a closed list. */
  reason: "user-unknown" | "mailbox-full" | "mailbox-disabled" | "moved" | "host-unknown" | "spam" | "policy" | "authentication" | "rate-limited" | "greylisted" | "too-large" | "content" | "suppressed" | "expired" | "network" | "relay-denied" | "loop" | "protocol" | "system" | "other";
  /** What the receiving server said. */
  smtp_response: string;
  /** Host name of the mail server that reported it. */
  reporting_mta: string;
  /** Host name of the mail server that answered, where the report names it. */
  remote_mta?: string | undefined;
  /** True when it suppressed the address for the account. */
  suppressed?: boolean | undefined;
}

/** A recipient reported the email as unwanted. */
export interface ComplainedEvent {
  /** What happened. */
  type: "complained";
  /** When it was recorded: ISO 8601, UTC, microseconds, no zone suffix. */
  timestamp: string;
  /** The recipients this event is about. */
  recipients: string[];
  /** The kind of report, such as abuse. */
  feedback_type: string;
}

export interface DeliveryExplanation {
  /** The message id. */
  sm_mail_id: string;
  /** The current status. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** The state of the email as a whole. */
  explanation: string;
  /** The state for each recipient. */
  recipients: ({
    /** The recipient. */
    address: string;
    /** What happened to their copy. */
    status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
    /** Why, and what to do. */
    explanation: string;
    /** What the last mail server said about it. */
    response: string | null;
  })[];
}

export interface AwaitedEvent {
  /** The message id. */
  sm_mail_id: string;
  /** The current status. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** Whether that happened; false with a bounce, or once it is cancelled: it will not. */
  happened: boolean;
  /** What happened in the meantime, oldest first. */
  new_events: string[];
}

export interface RescheduledEmail {
  /** The message id. */
  sm_mail_id: string;
  /** None of it was handed over. */
  status: "queued";
  /** When it goes out, or was to: ISO 8601, UTC. */
  scheduled_at: string;
}

export interface CancelledEmail {
  /** The message id. */
  sm_mail_id: string;
  /** None of it was handed over. */
  status: "queued";
  /** When it goes out, or was to: ISO 8601, UTC. */
  scheduled_at?: string | undefined;
  /** When it was cancelled: ISO 8601, UTC. */
  cancelled_at: string;
}

export interface HeldEmail {
  /** The message id. */
  sm_mail_id: string;
  /** Sender. */
  from_email: string;
  /** To, cc and bcc together. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The template it was made from. */
  template: string | null;
  /** The key it came through. */
  key_id: string | null;
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** When it is to go out; null: once approved. */
  scheduled_at: string | null;
  /** The rule of its key that holds it. */
  reason: "always" | "first_contact" | "outside_domain";
  /** Of everything that would be sent. An approval names it. */
  sha256: string;
  /** When it expires unapproved: ISO 8601, UTC. */
  expires_at: string;
}

export interface HeldEmailInFull {
  /** The message id. */
  sm_mail_id: string;
  /** Sender. */
  from_email: string;
  /** To, cc and bcc together. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The template it was made from. */
  template: string | null;
  /** The key it came through. */
  key_id: string | null;
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** When it is to go out; null: once approved. */
  scheduled_at: string | null;
  /** The rule of its key that holds it. */
  reason: "always" | "first_contact" | "outside_domain";
  /** Of everything that would be sent. An approval names it. */
  sha256: string;
  /** When it expires unapproved: ISO 8601, UTC. */
  expires_at: string;
  /** Whether it still waits. */
  state: "waiting" | "approved" | "declined" | "expired" | "cancelled";
  /** Who decided; null: nobody did. */
  decided_by: string | null;
  /** When: ISO 8601, UTC. */
  decided_at: string | null;
  /** Recipients, as they are written. */
  to: string[];
  /** Recipients of copies. */
  cc: string[];
  /** Recipients who are in no header. */
  bcc: string[];
  /** Where replies go; null: to the sender. */
  reply_to: string | null;
  /** The sender’s own headers. */
  headers: ({
    /** Name of the header. */
    name: string;
    /** Its value. */
    value: string;
  })[];
  /** The plain text; null: it has none. */
  text: string | null;
  /** The HTML; null: it has none. */
  html: string | null;
  /** Files, without what is in them. */
  attachments: ({
    /** File name. */
    filename: string;
    /** Media type. */
    content_type: string;
    /** Bytes. */
    size: number;
  })[];
  /** Recipients who get no copy: suppressed or unsubscribed. */
  suppressed: string[];
  /** What reads differently; null: there is nothing to compare it with. */
  compared_with: {
    /** The last email of the same template. */
    sm_mail_id: string;
    /** Lines that the earlier email did not have. */
    added: string[];
    /** Lines that only the earlier email had. */
    removed: string[];
  } | null;
}

export interface ApprovalDecision {
  /** The message id. */
  sm_mail_id: string;
  /** What was decided. */
  state: "approved" | "declined";
  /** Who decided. */
  decided_by: string | null;
  /** When: ISO 8601, UTC. */
  decided_at: string | null;
}

export interface MessageSummary {
  /** The message id, `sm_mail_id` in other calls. */
  id: string;
  /** The current status. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** Sender. */
  from_email: string;
  /** To, cc and bcc together. */
  recipients: string[];
  /** The subject as it went out. */
  subject: string;
  /** Labels given when it was sent. */
  tags: string[];
  /** The template it was made from. */
  template: string | null;
  /** The stream it went through. */
  stream: string;
  /** Where it came in. */
  door: "rest" | "smtp" | "mcp" | "dashboard" | "cli" | "system";
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** When it goes out, or was to: ISO 8601, UTC; null: it went at once. */
  scheduled_at: string | null;
  /** When it was cancelled: ISO 8601, UTC; null: it was not. */
  cancelled_at: string | null;
}

export interface MessageDetails {
  /** The message id, `sm_mail_id` in other calls. */
  id: string;
  /** The current status. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** Sender. */
  from_email: string;
  /** To, cc and bcc together. */
  recipients: string[];
  /** The subject as it went out. */
  subject: string;
  /** Labels given when it was sent. */
  tags: string[];
  /** The template it was made from. */
  template: string | null;
  /** The stream it went through. */
  stream: string;
  /** Where it came in. */
  door: "rest" | "smtp" | "mcp" | "dashboard" | "cli" | "system";
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** When it goes out, or was to: ISO 8601, UTC; null: it went at once. */
  scheduled_at: string | null;
  /** When it was cancelled: ISO 8601, UTC; null: it was not. */
  cancelled_at: string | null;
  /** What happened, oldest first. */
  events: (SentEvent | DeliveredEvent | OpenedEvent | ClickedEvent | BouncedEvent | ComplainedEvent)[];
  /** What happened to each recipient’s copy. */
  recipient_states: RecipientState[];
  /** Whether the service itself wrote it for its reader only: content is not shown. */
  sealed: boolean;
  /** The version of the account’s template; null: none, or a system template. */
  template_version: number | null;
  /** The branding that it was made with. */
  branding_version: number | null;
  /** The API key it came through. */
  key: {
    /** Id of the key. */
    id: string;
    /** Its name. */
    name: string | null;
    /** How it begins. */
    prefix: string;
    /** Whether it was revoked since. */
    revoked: boolean;
  } | null;
  /** Names of the relays that took it. */
  relays: string[];
  /** Its id at the relay, once the relay has accepted it. */
  relay_message_id: string | null;
  /** The newest report that it is late. */
  delay: Record<string, unknown> | null;
  /** What is still to hand over; null: nothing. */
  pending: {
    /** How often it was tried. */
    attempts: number;
    /** When it is tried next: ISO 8601, UTC. */
    next_at: string;
    /** Recipients who are left. */
    remaining: string[];
    /** Those for whom it is unknown whether the relay has the email. */
    unknown: string[];
    /** What the relay said last. */
    last_response: string | null;
    /** Why it is no longer tried; null: it is. */
    set_aside: string | null;
  } | null;
}

export interface RecipientState {
  /** The recipient. */
  address: string;
  /** How they were addressed. */
  kind: "to" | "cc" | "bcc";
  /** What happened to their copy. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** Since when: ISO 8601, UTC; null: it is still queued. */
  at: string | null;
  /** What the last mail server said about it. */
  response: string | null;
}

export interface DeliveryAttempt {
  /** When: ISO 8601, UTC. */
  at: string;
  /** Which; null: a report from the relay. */
  attempt: number | null;
  /** Who was asked, or who reported. */
  server: string;
  /** What it said about each. */
  recipients: ({
    /** About whom. */
    recipient: string;
    /** unknown: the connection broke after the email. */
    result: "deferred" | "unknown";
    /** What the server said. */
    reply: string;
    /** Name of the relay that was asked. */
    relay?: string | undefined;
  })[];
  /** When it was to be tried next; null: no further attempt. */
  next_at: string | null;
}

export interface WebhookDelivery {
  /** Id of the delivery. */
  id: string;
  /** The endpoint it goes to. */
  endpoint_id: string;
  /** The message that the event is about; null: none. */
  message_id: string | null;
  /** The recipients the event is about; empty: it is past its retention. */
  recipients: string[];
  /** Id of the event, the same in retries and replays. */
  event_id: string;
  /** What happened. */
  event_type: "delivery" | "open" | "click" | "bounce" | "complaint" | "subscription";
  /** pending: it will be retried. abandoned: the last retry failed. */
  state: "pending" | "delivered" | "abandoned";
  /** How often it was tried. */
  attempts: number;
  /** When it happened: ISO 8601, UTC. */
  created_at: string;
  /** When it was last tried. */
  attempted_at: string | null;
  /** When it is tried next, while it is pending. */
  next_attempt_at: string | null;
  /** What the endpoint answered last. */
  status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
}

export interface ResolveMessageAnswer {
  /** The message id. */
  sm_mail_id: string;
  /** The recipients it was about. */
  recipients: string[];
}

export interface MessageContent {
  /** The message id. */
  sm_mail_id: string;
  /** Sender. */
  from_email: string;
  /** Recipients, as they were written. */
  to: string[];
  /** Recipients of copies. */
  cc: string[];
  /** Recipients who are in no header. */
  bcc: string[];
  /** Where replies go; null: to the sender. */
  reply_to: string | null;
  /** The subject. */
  subject: string;
  /** The sender’s own headers. */
  headers: ({
    /** Name of the header. */
    name: string;
    /** Its value. */
    value: string;
  })[];
  /** The HTML, before tracking; null: it has none. */
  html: string | null;
  /** The plain text; null: it has none. */
  text: string | null;
  /** Files, without what is in them. */
  attachments: ({
    /** Its place in the list, for the call that returns it. */
    index: number;
    /** File name. */
    filename: string;
    /** Media type. */
    content_type: string;
    /** Bytes. */
    size: number;
  })[];
}

export interface File {
  /** File name. */
  filename: string;
  /** Media type. */
  content_type: string;
  /** What is in it, base64. */
  content_base64: string;
}

export interface SendMessageAgainAnswer {
  /** Message id. Use it as sm_mail_id in later calls. */
  id: string;
  /** Always `queued`: delivery is asynchronous. */
  status: "queued";
}

export interface GetTemplateAnswer {
  /** What send_email takes as `template`. */
  slug: string;
  /** Its name. */
  name: string;
  /** What it is about. */
  category: string;
  /** When to use it. */
  description: string;
  /** The account wrote it. Absent: the catalogue’s. */
  own?: true | undefined;
  /** The stream that its emails go through; null: `transactional`. */
  stream: string | null;
  /** The subject as it is written, in Jinja2. */
  subject: string;
  /** What it can be filled with. */
  variables: ({
    /** Name of the variable. */
    name: string;
    /** Whether a send without it is refused. */
    required: boolean;
    /** What it must be; `url`: an http(s) address; `any`: not checked. */
    type: string;
    /** For an array: the type of its entries, or the fields that each has. */
    items?: unknown | undefined;
    /** What it is for. */
    description: string;
    /** A value that fits. */
    example?: unknown | undefined;
  })[];
  /** A complete set of variables, to be copied and changed. It is made up. */
  sample: Record<string, unknown>;
  /** The plain text of the email, rendered with the sample and the account’s branding. */
  preview: string;
}

export interface OwnTemplate {
  /** What a send takes as `template`. */
  slug: string;
  /** Its name. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
  /** The stream that its emails go through; null: `transactional`. */
  stream: string | null;
  /** system: of the catalogue. draft: never published. archived: out of use; sends find the system template of the slug, if there is one. */
  state: "system" | "draft" | "published" | "archived";
  /** The version that emails are made from; null: none yet. */
  published_version: number | null;
  /** The version edited last. */
  newest_version: number | null;
  /** Whether there is a system template of this slug. */
  has_system: boolean;
}

export interface TemplateVersionEntry {
  /** Its number. */
  version: number;
  /** The template it is a copy of. */
  cloned_from: string | null;
  /** The version it was edited from. */
  based_on: number | null;
  /** When it was saved: ISO 8601, UTC. */
  created_at: string;
  /** When it was first published; null: a draft that was never used. */
  published_at: string | null;
  /** Whether emails are made from it. */
  published: boolean;
}

export interface TemplateVersion {
  /** What a send takes as `template`. */
  slug: string;
  /** Its name. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
  /** The stream that its emails go through; null: `transactional`. */
  stream: string | null;
  /** system: of the catalogue. draft: never published. archived: out of use; sends find the system template of the slug, if there is one. */
  state: "system" | "draft" | "published" | "archived";
  /** The version that emails are made from; null: none yet. */
  published_version: number | null;
  /** The version edited last. */
  newest_version: number | null;
  /** Whether there is a system template of this slug. */
  has_system: boolean;
  /** The version whose text this is; null: the system template. */
  version: number | null;
  /** Subject, Jinja2. */
  subject: string;
  /** Preview line of email programs, Jinja2. */
  preheader: string;
  /** HTML, Jinja2. May extend layout.html and import macros.html. */
  html: string;
  /** Plain text, Jinja2. Derived from the HTML when null or blank. */
  text: string | null;
  /** What it can be filled with. */
  variables: TemplateVariable[];
  /** Variables that show the template at its best. */
  sample: Record<string, unknown>;
  /** What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`. */
  messages: Record<string, Record<string, string | {
    zero?: string | undefined;
    one?: string | undefined;
    two?: string | undefined;
    few?: string | undefined;
    many?: string | undefined;
    other: string;
  }>>;
}

export interface TemplateVariable {
  /** A name, or a path such as event.name. */
  name: string;
  /** Whether a send without it is refused. */
  required: boolean;
  /** What it must be; `url`: an http(s) address; `any`, the default, is not checked. */
  type: "string" | "number" | "boolean" | "url" | "array" | "object" | "any";
  /** For an array: the type of its entries, or the fields that each has. */
  items?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | ({
    name: string;
    required: boolean;
    type: "string" | "number" | "boolean" | "url" | "array" | "object" | "any";
  })[] | undefined;
  /** What it is for. */
  description: string;
  /** A value that fits. */
  example?: unknown | undefined;
}

export interface UpdateTemplateAnswer {
  /** What a send takes as `template`. */
  slug: string;
  /** Its name. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
  /** The stream that its emails go through; null: `transactional`. */
  stream: string | null;
  /** system: of the catalogue. draft: never published. archived: out of use; sends find the system template of the slug, if there is one. */
  state: "system" | "draft" | "published" | "archived";
  /** The version that emails are made from; null: none yet. */
  published_version: number | null;
  /** The version edited last. */
  newest_version: number | null;
  /** Whether there is a system template of this slug. */
  has_system: boolean;
  /** The version just saved. */
  version: number;
  /** What receivers and readers would object to, filled with its sample. */
  findings: LintFinding[];
}

export interface RenderedTemplate {
  /** The subject. */
  subject: string;
  /** The HTML, without tracking. */
  html: string;
  /** The plain text. */
  text: string;
  /** What receivers and readers would object to (lint_email). */
  findings: LintFinding[];
}

export interface TemplatePreview {
  /** Slug of the template. */
  slug: string;
  /** The email; null: it cannot be rendered. */
  email: RenderedEmail | null;
  /** Why it cannot be rendered. */
  faults: ({
    /** The part that is wrong, such as html. */
    path: string;
    /** What is wrong with it. */
    message: string;
    /** The line, from 1. */
    line?: number | undefined;
    /** The column, from 1. */
    column?: number | undefined;
  })[];
}

export interface RenderedEmail {
  /** The subject. */
  subject: string;
  /** The HTML, without tracking. */
  html: string;
  /** The plain text. */
  text: string;
}

export interface SendTestEmailAnswer {
  /** Message id. Use it as sm_mail_id in later calls. */
  id: string;
  /** Always `queued`: delivery is asynchronous. */
  status: "queued";
}

export interface LintEmailAnswer {
  /** Empty: nothing was found. */
  findings: LintFinding[];
}

export interface RehearsedSend {
  /** The message whose variables were used. */
  sm_mail_id: string;
  /** The template that it was made from. */
  template: string;
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** Who it went to. */
  recipients: string[];
  /** Its subject with what sends use now; null: that cannot be rendered. */
  subject_now: string | null;
  /** Its subject then; null: it would fail. */
  subject: string | null;
  /** What would be different from what sends use now. */
  changed: ("subject" | "html" | "text")[];
  /** Why it would fail; empty: it would not. */
  faults: ({
    /** The part that is wrong, such as html. */
    path: string;
    /** What is wrong with it. */
    message: string;
    /** The line, from 1. */
    line?: number | undefined;
    /** The column, from 1. */
    column?: number | undefined;
  })[];
}

export interface RehearseTemplateAnswer {
  /** The emails, newest first. */
  sends: RehearsedSend[];
  /** How many of the last emails it could not be tried on, because their variables were not kept (they are kept with the content, up to 8 KB). */
  unkept: number;
}

export interface Branding {
  /** Raised by every change; 0: nothing was ever set. */
  version: number;
  /** The fields that have a value. */
  branding: {
    /** Sender name in header and footer. The name of the account by default. */
    brand_name?: string | undefined;
    /** Header logo. Without it the header is text. */
    logo_url?: string | undefined;
    /** The logo for dark mode and dark headers. Without it the logo is shown on white there. */
    logo_dark_url?: string | undefined;
    /** Every email carries the uploaded logo, instead of loading it. Off by default. */
    logo_inline?: boolean | undefined;
    /** Buttons and accents, hex. #00a071 by default. */
    primary_color: string;
    /** Second accent, hex. #00e5a0 by default. */
    accent_color: string;
    /** Footer contact. */
    support_email?: string | undefined;
    /** Footer help link. */
    support_url?: string | undefined;
    /** HTML in the footer, such as a postal address. */
    footer_html?: string | undefined;
    /** Corners of buttons, 0 to 24 px. 8 by default. */
    button_radius: number;
    /** card (the default), letter (plain) or bold (a header in the primary colour). */
    layout?: "card" | "letter" | "bold" | undefined;
    /** system (the default), serif, mono, or names of fonts such as Inter, Arial. */
    font?: string | undefined;
    /** Colour behind the email, hex. By default it suits the layout. */
    background?: string | undefined;
    /** Adds a Privacy Policy link to every footer. */
    privacy_policy_url?: string | undefined;
    /** Adds a Terms & Conditions link to every footer. */
    terms_url?: string | undefined;
  };
  /** What applies where nothing is set. */
  defaults: {
    /** Sender name in header and footer. The name of the account by default. */
    brand_name?: string | undefined;
    /** Header logo. Without it the header is text. */
    logo_url?: string | undefined;
    /** The logo for dark mode and dark headers. Without it the logo is shown on white there. */
    logo_dark_url?: string | undefined;
    /** Every email carries the uploaded logo, instead of loading it. Off by default. */
    logo_inline?: boolean | undefined;
    /** Buttons and accents, hex. #00a071 by default. */
    primary_color: string;
    /** Second accent, hex. #00e5a0 by default. */
    accent_color: string;
    /** Footer contact. */
    support_email?: string | undefined;
    /** Footer help link. */
    support_url?: string | undefined;
    /** HTML in the footer, such as a postal address. */
    footer_html?: string | undefined;
    /** Corners of buttons, 0 to 24 px. 8 by default. */
    button_radius: number;
    /** card (the default), letter (plain) or bold (a header in the primary colour). */
    layout?: "card" | "letter" | "bold" | undefined;
    /** system (the default), serif, mono, or names of fonts such as Inter, Arial. */
    font?: string | undefined;
    /** Colour behind the email, hex. By default it suits the layout. */
    background?: string | undefined;
    /** Adds a Privacy Policy link to every footer. */
    privacy_policy_url?: string | undefined;
    /** Adds a Terms & Conditions link to every footer. */
    terms_url?: string | undefined;
  };
  /** How well the colours can be read. */
  contrasts: BrandingContrast[];
}

export interface BrandingContrast {
  /** Which colour. */
  field: "primary_color" | "accent_color";
  /** Its contrast on white. */
  ratio: number;
  /** Below 4.5, which is hard to read (WCAG AA). */
  low: boolean;
  /** The shade that emails fill buttons and areas with; white can be read on it. */
  fill_color: string;
  /** The colour of the text that emails put on that. */
  text_color: string;
  /** The shade that emails use for links on white. */
  link_color: string;
}

export interface PreviewBrandingAnswer {
  /** How well the colours can be read. */
  contrasts: BrandingContrast[];
  /** The templates, in the order asked for. */
  previews: TemplatePreview[];
}

export interface RehearseBrandingAnswer {
  /** The emails, newest first. */
  sends: RehearsedSend[];
  /** How many of the last emails it could not be tried on, because their variables were not kept (they are kept with the content, up to 8 KB). */
  unkept: number;
}

export interface Domain {
  /** The domain. */
  domain: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who vouches for it: the operator, its DNS, or the reader of its email; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** What to publish in DNS. Empty: it has no signing keys; add it again to get them. */
  records: DomainRecord[];
  /** When DNS was asked last: ISO 8601, UTC. */
  checked_at: string | null;
  /** Whether its email can pass DMARC, for which `dkim` or `spf` is needed; null: not checked yet. */
  alignment: Alignment | null;
  /** How far a rotation of its signing keys has got; null: none is in progress. */
  rotation: KeyRotation | null;
}

export interface DomainRecord {
  /** What it is for. `ownership` decides whether the domain is verified. `…-next`: keys that will sign later, see `rotation`. */
  purpose: "ownership" | "dkim-rsa" | "dkim-ed25519" | "dkim-rsa-next" | "dkim-ed25519-next" | "spf" | "dmarc" | "return-path";
  /** Type of the DNS record. */
  type: "TXT" | "CNAME";
  /** Name of the DNS record. */
  name: string;
  /** What it must contain. */
  value: string;
  /** What the last check found; null: none was made. */
  check: {
    /** missing: it is not there or differs. unknown: DNS did not answer. */
    state: "ok" | "missing" | "unknown";
    /** What DNS has instead. */
    seen: string[];
    /** What is wrong and what to do, or what could be better where it is ok. */
    note: string | null;
  } | null;
}

export interface Alignment {
  /** DNS shows the key of its signatures. */
  dkim: boolean;
  /** Its return path is of the same organization. */
  spf: boolean;
  /** What its DMARC policy asks receivers to do with other email; null: none is there. */
  policy: "none" | "quarantine" | "reject" | null;
  /** Where that policy is published: the domain, or one above it. */
  policy_domain: string | null;
  /** The domain that it belongs to, as receivers see it. */
  organization: string;
}

export interface KeyRotation {
  /** publish: the next DKIM records are not in DNS yet. wait: they are, and will sign soon. retire: they sign, and the old records can go after `until`. */
  step: "publish" | "wait" | "retire";
  /** When the step is over: ISO 8601, UTC. */
  until: string | null;
  /** What to do now. */
  note: string;
}

export interface DomainDns {
  /** The domain, or the one above it that has name servers; null: none was found. */
  zone: string | null;
  /** Who hosts the zone. */
  name_servers: string[];
  /** Null: not a provider we know. */
  provider: {
    /** Name of the provider. */
    name: string;
    /** Where its records are edited. */
    url: string;
  } | null;
  /** Names of the records as the form expects them. */
  names: ({
    /** Of which record. */
    purpose: string;
    /** Without the zone, which the form adds. */
    name: string;
  })[];
}

export interface SenderAddress {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who vouches for it: the operator, its DNS, or the reader of its email; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the emailed link works; null: there is none. */
  link_until: string | null;
}

export interface AddAddressAnswer {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who vouches for it: the operator, its DNS, or the reader of its email; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the emailed link works; null: there is none. */
  link_until: string | null;
  /** Id of the message with the link. */
  verification_message: string | null;
  /** Why no link was emailed, where one was needed. */
  note: string | null;
}

export interface VerifyAddressAnswer {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who vouches for it: the operator, its DNS, or the reader of its email; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the emailed link works; null: there is none. */
  link_until: string | null;
  /** Id of the message with the link. */
  verification_message: string | null;
  /** Why no link was emailed, where one was needed. */
  note: string | null;
}

export interface Stream {
  /** What a send takes as `stream`. */
  name: string;
  /** transactional: sent because of something the recipient did. broadcast: sent to many, everyone can leave it, and it waits behind the rest. */
  kind: "transactional" | "broadcast";
  /** Its name for recipients, on the preference page. */
  title: string;
  /** What its recipients get. */
  description: string;
  /** Whether recipients can leave it: List-Unsubscribe and the preference page. */
  unsubscribe: boolean;
  /** When it was created: ISO 8601, UTC; null: it was always there. */
  created_at: string | null;
  /** Since when sends that name it are refused; null: it is in use. */
  archived_at: string | null;
}

export interface Suppression {
  /** The address, in the form in which addresses are compared. */
  address: string;
  /** Why it gets no more email. */
  reason: "bounce" | "complaint" | "unsubscribe" | "manual";
  /** The stream that it unsubscribed from; null: it holds for every stream. */
  stream: string | null;
  /** How it unsubscribed; null: it did not, see the reason. */
  origin: "recipient" | "preferences" | "report" | "api" | "mcp" | "dashboard" | "command" | null;
  /** The message that led to it. */
  message_id: string | null;
  /** Since when: ISO 8601, UTC. */
  created_at: string;
}

export interface AddSuppressionsAnswer {
  /** How many were not on the list yet. */
  added: number;
  /** How many were already on it, or were given twice. */
  present: number;
}

export interface CapturedEmail {
  /** Id of the captured email. */
  id: string;
  /** When: ISO 8601, UTC. */
  captured_at: string;
  /** Who wrote it: the From header. */
  from: string;
  /** Recipients of the envelope. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The message it is a copy of. */
  message_id: string;
  /** Bytes. */
  size: number;
  /** One-time codes in subject and text, the likeliest first, as they are typed. */
  codes: string[];
  /** Links of the email in their order, at most 100. */
  links: ({
    /** Where it leads. */
    url: string;
    /** The words of the link. */
    text: string;
    /** As it is in the email where clicks are tracked; otherwise null. */
    tracked_url: string | null;
  })[];
}

export interface ExportRecipientAnswer {
  /** What was found on this page. */
  data: ({
    /** The message id. */
    sm_mail_id: string;
    /** When it was accepted: ISO 8601, UTC. */
    accepted_at: string;
    /** Sender. */
    from_email: string;
    /** The subject. */
    subject: string;
    /** The status of the message. */
    status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
    /** The template it was made from. */
    template: string | null;
    /** Its tags. */
    tags: string[];
    /** What happened, oldest first. */
    events: (SentEvent | DeliveredEvent | OpenedEvent | ClickedEvent | BouncedEvent | ComplainedEvent)[];
    /** What the timeline leaves out, oldest first. */
    attempts: DeliveryAttempt[];
    /** The newest report that it is late. */
    delay: Record<string, unknown> | null;
    /** What is still to hand over; null: nothing. */
    pending: {
      /** How often it was tried. */
      attempts: number;
      /** When it is tried next: ISO 8601, UTC. */
      next_at: string;
      /** Recipients who are left. */
      remaining: string[];
      /** Those for whom it is unknown whether the relay has the email. */
      unknown: string[];
      /** What the relay said last. */
      last_response: string | null;
      /** Why it is no longer tried; null: it is. */
      set_aside: string | null;
    } | null;
    /** The sender’s own headers. */
    headers: ({
      /** Name of the header. */
      name: string;
      /** Its value. */
      value: string;
    })[];
    /** What its template was filled with, if that is kept. */
    variables: Record<string, unknown> | null;
    /** What it said; null: it had none, or it is past its retention. */
    html: string | null;
    /** The same as plain text. */
    text: string | null;
    /** Its files, without what is in them: `GET /v1/messages/{sm_mail_id}/attachments/{index}` returns each. */
    attachments: ({
      /** Its place in the list, for the call that returns it. */
      index: number;
      /** File name. */
      filename: string;
      /** Media type. */
      content_type: string;
      /** Bytes. */
      size: number;
    })[];
    /** What was posted to webhook endpoints. Null: the caller lacks webhooks:read. */
    webhook_deliveries: ({
      /** Id of the delivery. */
      id: string;
      /** The endpoint. */
      endpoint_id: string;
      /** What happened. */
      event_type: string;
      /** pending, delivered or abandoned. */
      state: string;
      /** What the endpoint answered last. */
      status: number | null;
      /** What it wrote back. */
      response: string | null;
      /** Why the last attempt failed. */
      error: string | null;
    })[] | null;
    /** Emails that came back about it and are kept: an operator reads each by `GET /v1/feedback/{id}`. */
    reports: ({
      /** Its id. */
      id: string;
      /** When it came: ISO 8601, UTC. */
      received_at: string;
      /** What it was read as. */
      kind: string;
      /** Its subject. */
      subject: string;
      /** Bytes that are kept of it. */
      size: number;
    })[];
    /** Links in it that an operator switched off. */
    disabled_links: ({
      /** Where it led; empty: all links of the message. */
      url: string;
      /** Why. */
      reason: string;
      /** When: ISO 8601, UTC. */
      disabled_at: string;
    })[];
  })[];
  /** Whether there is more. */
  has_more: boolean;
  /** Pass it as `cursor` to continue; null: this is the last page. */
  next: string | null;
  /** The address. */
  address: string;
  /** Why it gets no more email, where that is so. */
  suppressions: Suppression[];
  /** Null: it is on the first page. */
  person: {
    /** What they joined and left, oldest first. */
    subscriptions: ({
      /** When: ISO 8601, UTC, no zone suffix. */
      timestamp: string;
      /** What they joined or left, and how. */
      detail: Record<string, unknown>;
      /** What was posted to webhook endpoints. Null: the caller lacks webhooks:read. */
      webhook_deliveries: ({
        /** Id of the delivery. */
        id: string;
        /** The endpoint. */
        endpoint_id: string;
        /** What happened. */
        event_type: string;
        /** pending, delivered or abandoned. */
        state: string;
        /** What the endpoint answered last. */
        status: number | null;
        /** What it wrote back. */
        response: string | null;
        /** Why the last attempt failed. */
        error: string | null;
      })[] | null;
    })[];
    /** Days on which mail servers called the address doubtful. */
    strikes: string[];
    /** Words in the statistics that name them. */
    statistics: ({
      /** The day. */
      day: string;
      /** The words: of a mail server, or a tag. */
      words: string;
    })[];
    /** Idempotency keys of the last day that name them. */
    idempotency_keys: string[];
    /** Emails to them that the sandbox captured: `GET /v1/sandbox/emails/{id}` returns each. Null: the caller lacks sandbox:read. */
    captured: CapturedEmail[] | null;
    /** Changes that name them, the newest 1,000. Null: the caller lacks audit:read, which owners have. */
    audit: ({
      /** When: ISO 8601, UTC. */
      at: string;
      /** The operation. */
      action: string;
      /** What it was done to. */
      target: string;
      /** What changed, as it was before. */
      before: Record<string, unknown> | null;
      /** What changed, as it is now. */
      after: Record<string, unknown> | null;
    })[] | null;
  } | null;
}

export interface EraseRecipientAnswer {
  /** Messages whose recipient and subject were erased. */
  messages: number;
  /** Contents that were deleted, with all that was in them. */
  contents: number;
  /** Events that no longer name the person. */
  events: number;
  /** Attempts to deliver that no longer name the person. */
  attempts: number;
  /** Captured emails that were deleted from the sandbox. */
  captured: number;
  /** Reports from mail servers that were deleted. */
  reports: number;
  /** Answers of webhook endpoints that were deleted. */
  webhook_answers: number;
  /** Days and hours of the statistics that no longer name the person. */
  statistics: number;
  /** Idempotency keys that were deleted, because they named the person. */
  idempotency_keys: number;
  /** Links switched off by an operator, of which a hash is kept. */
  disabled_links: number;
  /** Days that were deleted on which the address was called doubtful. */
  strikes: number;
  /** Entries of the suppression list that are kept as a hash. */
  suppressions: number;
  /** Rows of the audit that no longer name the person. */
  audit: number;
}

export interface WebhookEndpoint {
  /** Id of the endpoint. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** Whether it gets events. */
  enabled: boolean;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed for too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it has failed in a row. */
  failures: number;
  /** It has failed without a success since then; null: it works. */
  failing_since: string | null;
  /** No attempt is made before then, because it keeps failing. */
  paused_until: string | null;
  /** After a rotation: the old secret signs too until then. */
  previous_secret_until: string | null;
  /** Deliveries that wait for it; counted up to 10,000. */
  waiting: number;
}

export interface CreateWebhookEndpointAnswer {
  /** Id of the endpoint. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** Whether it gets events. */
  enabled: boolean;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed for too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it has failed in a row. */
  failures: number;
  /** It has failed without a success since then; null: it works. */
  failing_since: string | null;
  /** No attempt is made before then, because it keeps failing. */
  paused_until: string | null;
  /** After a rotation: the old secret signs too until then. */
  previous_secret_until: string | null;
  /** Deliveries that wait for it; counted up to 10,000. */
  waiting: number;
  /** The signing secret, shown only once. */
  secret: string;
  /** A warning about the address, if there is one. */
  warning?: string | undefined;
}

export interface RotateWebhookSecretAnswer {
  /** Id of the endpoint. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** Whether it gets events. */
  enabled: boolean;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed for too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it has failed in a row. */
  failures: number;
  /** It has failed without a success since then; null: it works. */
  failing_since: string | null;
  /** No attempt is made before then, because it keeps failing. */
  paused_until: string | null;
  /** After a rotation: the old secret signs too until then. */
  previous_secret_until: string | null;
  /** Deliveries that wait for it; counted up to 10,000. */
  waiting: number;
  /** The signing secret, shown only once. */
  secret: string;
}

export interface TestWebhookEndpointAnswer {
  /** Whether the endpoint accepted it. */
  ok: boolean;
  /** What it answered; null: nothing. */
  status: number | null;
  /** Why it failed. */
  error: string | null;
  /** How long it took. */
  duration_ms: number;
  /** What was posted. */
  request_body: string;
  /** What the endpoint wrote back, cut off if long. */
  response_body: string;
}

export interface GetWebhookDeliveryAnswer {
  /** Id of the delivery. */
  id: string;
  /** The endpoint it goes to. */
  endpoint_id: string;
  /** The message that the event is about; null: none. */
  message_id: string | null;
  /** The recipients the event is about; empty: it is past its retention. */
  recipients: string[];
  /** Id of the event, the same in retries and replays. */
  event_id: string;
  /** What happened. */
  event_type: "delivery" | "open" | "click" | "bounce" | "complaint" | "subscription";
  /** pending: it will be retried. abandoned: the last retry failed. */
  state: "pending" | "delivered" | "abandoned";
  /** How often it was tried. */
  attempts: number;
  /** When it happened: ISO 8601, UTC. */
  created_at: string;
  /** When it was last tried. */
  attempted_at: string | null;
  /** When it is tried next, while it is pending. */
  next_attempt_at: string | null;
  /** What the endpoint answered last. */
  status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
  /** Null when the event is past its retention. */
  request: {
    /** Where it is posted to. */
    url: string;
    /** The header fields, by name. */
    headers: Record<string, string>;
    /** The same bytes in every attempt. */
    body: string;
  } | null;
  /** The last answer; null: there was none. */
  response: {
    /** The status of the answer. */
    status: number;
    /** Its beginning. */
    body: string;
    /** Whether there was more. */
    truncated: boolean;
  } | null;
}

export interface ReplayWebhookEventsAnswer {
  /** How many events it is about. */
  count: number;
}

export interface SimulatorAddress {
  /** Send to it. */
  address: string;
  /** What happens to the email. */
  plays: string;
}

export interface CapturedContent {
  /** Id of the captured email. */
  id: string;
  /** When: ISO 8601, UTC. */
  captured_at: string;
  /** Who wrote it: the From header. */
  from: string;
  /** Recipients of the envelope. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The message it is a copy of. */
  message_id: string;
  /** Bytes. */
  size: number;
  /** One-time codes in subject and text, the likeliest first, as they are typed. */
  codes: string[];
  /** Links of the email in their order, at most 100. */
  links: ({
    /** Where it leads. */
    url: string;
    /** The words of the link. */
    text: string;
    /** As it is in the email where clicks are tracked; otherwise null. */
    tracked_url: string | null;
  })[];
  /** All headers, in order. */
  headers: ({
    /** Name of the header. */
    name: string;
    /** Its value, unfolded. */
    value: string;
  })[];
  /** The HTML, without the tracking pixel. */
  html: string | null;
  /** The plain text. */
  text: string | null;
  /** Files, without what is in them. */
  attachments: ({
    /** File name. */
    filename: string;
    /** Media type. */
    content_type: string;
    /** Bytes. */
    size: number;
  })[];
  /** The email as it was handed over, its first 4 MB. */
  raw: string;
}

export interface ClearSandboxAnswer {
  /** How many there were. */
  cleared: number;
}

export interface ApiKey {
  /** Id of the key. */
  id: string;
  /** What it is for. */
  name: string | null;
  /** How the key begins, to recognise it. */
  prefix: string;
  /** What it may do. */
  scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "streams:read" | "streams:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read" | "approvals:write")[];
  /** Rules that its sends must keep; null: none. */
  rules: {
    /** It may send only to these addresses and domains; null: to anyone. */
    allowed_recipients: string[] | null;
    /** It may send templates only, without its own content. */
    templates_only: boolean;
    /** It may not send hidden copies. */
    no_bcc: boolean;
    /** Recipients per UTC day, below the account’s quota; null: no cap of its own. */
    daily_cap: number | null;
    /** Its email goes to the sandbox and is never delivered. Such a key begins with `sm_test_`. */
    sandbox_only: boolean;
    /** When a person has to approve what it sends: `always`, `first_contact` (a recipient this account has not reached before), `outside_domain` (a recipient outside its senders), or `never`. */
    approval: "never" | "always" | "first_contact" | "outside_domain";
    /** It may read and change only what it sent itself. The default for keys with rules. */
    own_messages: boolean;
    /** Mailboxes it may send from, with the names that recipients see; null: as the account. */
    senders: string[] | null;
    /** Addresses and domains that replies may go to, besides the account’s own senders. */
    reply_to: string[] | null;
    /** Hosts that links may lead to, including their subdomains; null: any. */
    link_hosts: string[] | null;
  } | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  /** When it was used last. */
  last_used_at: string | null;
  /** Since when it is refused; null: it is not. */
  revoked_at: string | null;
}

export interface CreateKeyAnswer {
  /** Id of the key. */
  id: string;
  /** What it is for. */
  name: string | null;
  /** How the key begins, to recognise it. */
  prefix: string;
  /** What it may do. */
  scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "streams:read" | "streams:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read" | "approvals:write")[];
  /** Rules that its sends must keep; null: none. */
  rules: {
    /** It may send only to these addresses and domains; null: to anyone. */
    allowed_recipients: string[] | null;
    /** It may send templates only, without its own content. */
    templates_only: boolean;
    /** It may not send hidden copies. */
    no_bcc: boolean;
    /** Recipients per UTC day, below the account’s quota; null: no cap of its own. */
    daily_cap: number | null;
    /** Its email goes to the sandbox and is never delivered. Such a key begins with `sm_test_`. */
    sandbox_only: boolean;
    /** When a person has to approve what it sends: `always`, `first_contact` (a recipient this account has not reached before), `outside_domain` (a recipient outside its senders), or `never`. */
    approval: "never" | "always" | "first_contact" | "outside_domain";
    /** It may read and change only what it sent itself. The default for keys with rules. */
    own_messages: boolean;
    /** Mailboxes it may send from, with the names that recipients see; null: as the account. */
    senders: string[] | null;
    /** Addresses and domains that replies may go to, besides the account’s own senders. */
    reply_to: string[] | null;
    /** Hosts that links may lead to, including their subdomains; null: any. */
    link_hosts: string[] | null;
  } | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** When it expires; null: never. */
  expires_at: string | null;
  /** When it was used last. */
  last_used_at: string | null;
  /** Since when it is refused; null: it is not. */
  revoked_at: string | null;
  /** The key itself, shown only once. */
  secret: string;
}

export interface Member {
  /** Id of the person. */
  id: string;
  /** The address they sign in with. */
  email: string;
  /** Their name. */
  name: string;
  /** viewer: reads. developer: also sends and edits. owner: also team and account. */
  role: "viewer" | "developer" | "owner";
  /** Whether they operate the service. */
  operator: boolean;
  /** Whether this is the caller. */
  you: boolean;
  /** Since when they have belonged to the account: ISO 8601, UTC. */
  joined_at: string;
  /** When they were last signed in. */
  last_seen_at: string | null;
  /** Whether they sign in with a passkey or an authenticator app. */
  second_factor: boolean;
}

export interface Invitation {
  /** Id of the invitation. */
  id: string;
  /** Who is invited. */
  email: string;
  /** viewer: reads. developer: also sends and edits. owner: also team and account. */
  role: "viewer" | "developer" | "owner";
  /** Who invited them. */
  invited_by: string;
  /** When: ISO 8601, UTC. */
  created_at: string;
  /** Until when the link works. */
  expires_at: string;
}

export interface InviteMemberAnswer {
  /** Id of the invitation. */
  id: string;
  /** Who is invited. */
  email: string;
  /** viewer: reads. developer: also sends and edits. owner: also team and account. */
  role: "viewer" | "developer" | "owner";
  /** Who invited them. */
  invited_by: string;
  /** When: ISO 8601, UTC. */
  created_at: string;
  /** Until when the link works. */
  expires_at: string;
  /** There is no relay: the email is in the sandbox, where operators can open it. */
  captured: boolean;
}

export interface Account {
  /** Number of the account. */
  id: number;
  /** Its name. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** How much it may send. */
  quota: {
    /** Recipients today, to, cc and bcc together. */
    limit: number;
    /** How many of them are used. */
    used: number;
    /** How many are left. */
    left: number;
    /** When the count resets: ISO 8601, UTC. */
    resets_at: string;
    /** Send calls per second. */
    rate_per_second: number;
  };
  /** The operator stopped it; null: no. */
  suspended: Halt | null;
  /** It may not send for now, and what is queued waits; null: it may. */
  paused: Halt | null;
  /** An invisible image records when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which records clicks. */
  track_clicks: boolean;
  /** Email programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
  /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
  refuse_unaligned: boolean;
  /** Every send is linted; findings come in the header `X-SM-Warning`. */
  lint_sends: boolean;
  locale: string | null;
  /** What is held back; empty: nothing. */
  blocked: ({
    /** What does not work now. */
    what: string;
    /** Why, and who can change it. */
    why: string;
  })[];
}

export interface Halt {
  /** Since when: ISO 8601, UTC. */
  at: string;
  /** The reason, shown to the people in the account. */
  reason: string;
}

export interface Retention {
  /** Days for which messages and their timelines are kept. Null: as long as the service does. */
  retention_days: number | null;
  /** Days for which the content of emails is kept, with copies in the sandbox and in reports. Null: as long as the service does. */
  content_retention_days: number | null;
}

export interface Usage {
  /** Recipients that the account may send to today (UTC). */
  limit: number;
  /** How many it has sent to. */
  used: number;
  /** How many are left. */
  left: number;
  /** When the quota resets: ISO 8601, UTC. */
  resets_at: string;
  /** Send calls per second. */
  rate_per_second: number;
  /** Whether the account has ever sent anything itself. */
  has_sent: boolean;
  /** An address it can send from; null: none is verified. */
  sender: string | null;
  /** API keys in use. */
  keys: number;
}

export interface Statistics {
  /** What one point stands for. */
  bucket: "hour" | "day";
  /** Oldest first, without gaps. */
  points: ({
    /** Messages that were accepted. */
    sends: number;
    /** How many of them were delivered, whatever happened later. */
    delivered: number;
    /** How many of them were opened. */
    opened: number;
    /** How many of them had a link followed. */
    clicked: number;
    /** How many of them bounced. */
    bounced: number;
    /** How many of them were reported as unwanted. */
    complained: number;
    /** When the hour or day begins: ISO 8601, UTC. */
    at: string;
  })[];
  /** All of them together. */
  totals: {
    /** Messages that were accepted. */
    sends: number;
    /** How many of them were delivered, whatever happened later. */
    delivered: number;
    /** How many of them were opened. */
    opened: number;
    /** How many of them had a link followed. */
    clicked: number;
    /** How many of them bounced. */
    bounced: number;
    /** How many of them were reported as unwanted. */
    complained: number;
  };
  /** Shares of what was sent, 0 to 1; null: nothing was. */
  rates: {
    /** How much was delivered. */
    delivered: number | null;
    /** How much was opened. */
    opened: number | null;
    /** How much bounced. */
    bounced: number | null;
    /** How much was reported as unwanted. */
    complained: number | null;
  };
  /** False: figures of a large account are still being counted; ask again soon. */
  complete: boolean;
}

export interface Analytics {
  /** What one point stands for. */
  bucket: "hour" | "day";
  /** Oldest first, without gaps. */
  points: ({
    /** Recipients whose email was accepted. */
    recipients: number;
    /** How many of them were reached, whatever happened later. */
    delivered: number;
    /** How many of them opened it. */
    opened: number;
    /** How many of them followed a link. */
    clicked: number;
    /** For how many of them it bounced. */
    bounced: number;
    /** How many of them reported it as unwanted. */
    complained: number;
    /** When the hour or day begins: ISO 8601, UTC. */
    at: string;
  })[];
  /** All of them together. */
  totals: {
    /** Recipients whose email was accepted. */
    recipients: number;
    /** How many of them were reached, whatever happened later. */
    delivered: number;
    /** How many of them opened it. */
    opened: number;
    /** How many of them followed a link. */
    clicked: number;
    /** For how many of them it bounced. */
    bounced: number;
    /** How many of them reported it as unwanted. */
    complained: number;
  };
  /** The largest first; at most 50 for each hour. */
  by: ({
    /** Recipients whose email was accepted. */
    recipients: number;
    /** How many of them were reached, whatever happened later. */
    delivered: number;
    /** How many of them opened it. */
    opened: number;
    /** How many of them followed a link. */
    clicked: number;
    /** For how many of them it bounced. */
    bounced: number;
    /** How many of them reported it as unwanted. */
    complained: number;
    /** Such as the template. */
    value: string;
  })[];
  /** Why recipients bounced, the most frequent first. */
  reasons: ({
    /** Why. */
    reason: string;
    /** How many bounced for this reason. */
    recipients: number;
  })[];
  /** From accepting to the report of delivery; null: nothing was reported. */
  time_to_deliver: {
    /** Half of them took at most this long. */
    p50_seconds: number;
    /** 95 of 100 took at most this long. */
    p95_seconds: number;
  } | null;
  /** False: figures of a large account are still being counted; ask again soon. */
  complete: boolean;
}

export interface ReceiverStatistics {
  /** A large mailbox provider such as gmail, outlook or yahoo; `others`: all others. */
  receiver: string;
  /** Recipients whose server accepted the email. */
  delivered: number;
  /** Recipients for whom the relay reported a delay. */
  deferred: number;
  /** Recipients whose server refused it. */
  bounced: number;
  /** Recipients who reported it as unwanted. */
  complained: number;
  /** Complaints divided by delivered, 0 to 1; null: nothing was delivered. */
  complaint_rate: number | null;
  /** The wording of its refusals, the most frequent first. */
  refusals: ({
    /** What the server said; it may say anything. */
    words: string;
    /** How often. */
    count: number;
  })[];
  /** Day by day, oldest first, without gaps. */
  points: ({
    /** The day: ISO 8601, UTC. */
    at: string;
    /** Recipients whose server accepted the email. */
    delivered: number;
    /** Recipients for whom the relay reported a delay. */
    deferred: number;
    /** Recipients whose server refused it. */
    bounced: number;
    /** Recipients who reported it as unwanted. */
    complained: number;
  })[];
}

export interface GetReceiverStatisticsAnswer {
  /** The one with most email first. */
  receivers: ReceiverStatistics[];
  /** False: figures of a large account are still being counted; ask again soon. */
  complete: boolean;
}

export interface Alert {
  /** What it is about. */
  kind: "suspended" | "paused" | "free-plan" | "quota" | "no-sender" | "domain" | "relay-down" | "bounce-rate" | "complaint-rate" | "webhook";
  /** critical: email is held up. */
  severity: "warning" | "critical";
  /** What is wrong, in a few words. */
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** Where to fix it; null: only the operator of the service can. */
  resource: "account" | "senders" | "webhooks" | "messages" | null;
  /** Which one, such as a domain or an endpoint’s id. */
  subject: string | null;
}

export interface AuditEntry {
  /** Id of the entry. */
  id: string;
  /** When: ISO 8601, UTC. */
  at: string;
  /** Who did it. */
  actor: {
    /** An API key, a person, or a command. */
    kind: "key" | "person" | "command";
    /** Id of the key or the person. */
    id: string | null;
    /** Name of the key, or the person’s address; `operator` for whoever runs the service. */
    name: string | null;
  };
  /** Where it was done: rest, mcp, dashboard or cli. */
  door: string;
  /** The operation, such as publish_template. */
  action: string;
  /** What it was done to. */
  target: string;
  /** What changed, as it was before. Never a secret. */
  before: Record<string, unknown> | null;
  /** What changed, as it is now. */
  after: Record<string, unknown> | null;
  /** The request, as the log names it. */
  request_id: string;
}

export interface OperatedAccount {
  /** Number of the account. */
  id: number;
  /** Its name. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** Recipients per UTC day: to, cc and bcc together. */
  daily_quota: number;
  /** Send calls per second. */
  rate_per_second: number;
  /** Emails handed over at a time, across all processes; 0: no limit. */
  delivery_limit: number;
  /** Its quota on the first day, doubled every day; 0: no ramp. */
  ramp_start: number;
  /** When the connection broke after an email: whether it is sent again. */
  unknown_outcome: "send_again" | "count_as_sent";
  /** An invisible image records when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which records clicks. */
  track_clicks: boolean;
  /** Email programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
  /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
  refuse_unaligned: boolean;
  /** Every send is linted; findings come in the header `X-SM-Warning`. */
  lint_sends: boolean;
  /** Recipients it has sent to today. */
  used_today: number;
  /** How many people belong to it. */
  members: number;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** Its keys are refused; null: they are not. */
  suspended: Halt | null;
  /** It may not send, and what is queued waits; null: it may. */
  paused: Halt | null;
}

export interface CreateAccountAnswer {
  /** Number of the account. */
  id: number;
  /** Its name. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** Recipients per UTC day: to, cc and bcc together. */
  daily_quota: number;
  /** Send calls per second. */
  rate_per_second: number;
  /** Emails handed over at a time, across all processes; 0: no limit. */
  delivery_limit: number;
  /** Its quota on the first day, doubled every day; 0: no ramp. */
  ramp_start: number;
  /** When the connection broke after an email: whether it is sent again. */
  unknown_outcome: "send_again" | "count_as_sent";
  /** An invisible image records when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which records clicks. */
  track_clicks: boolean;
  /** Email programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
  /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
  refuse_unaligned: boolean;
  /** Every send is linted; findings come in the header `X-SM-Warning`. */
  lint_sends: boolean;
  /** Recipients it has sent to today. */
  used_today: number;
  /** How many people belong to it. */
  members: number;
  /** When it was created: ISO 8601, UTC. */
  created_at: string;
  /** Its keys are refused; null: they are not. */
  suspended: Halt | null;
  /** It may not send, and what is queued waits; null: it may. */
  paused: Halt | null;
  /** The invitation of its owner; null: nobody was invited. */
  invited: {
    /** Id of the invitation. */
    id: string;
    /** Who is invited. */
    email: string;
    /** viewer: reads. developer: also sends and edits. owner: also team and account. */
    role: "viewer" | "developer" | "owner";
    /** Who invited them. */
    invited_by: string;
    /** When: ISO 8601, UTC. */
    created_at: string;
    /** Until when the link works. */
    expires_at: string;
    /** Only if no email could be sent. */
    link: string | null;
    /** Why no email was sent. */
    note: string | null;
  } | null;
}

export interface GetServiceStateAnswer {
  /** Every role there is. */
  roles: ({
    /** The role. */
    role: string;
    /** Processes with it that were seen lately. */
    running: number;
    /** None is running, and one should be. */
    missing: boolean;
    /** Its state, in a sentence. */
    detail: string;
  })[];
  /** Processes that were seen lately. */
  processes: ({
    /** The machine. */
    host: string;
    /** The process there. */
    pid: number;
    /** What it does. */
    roles: string[];
    /** Of the service. */
    version: string;
    /** Since when it has been running: ISO 8601, UTC. */
    started_at: string;
  })[];
  /** Relays that offer no DSN and belong to no provider that notifies us: email through them is never marked `delivered`. */
  relays_without_reports: string[];
}

export interface SetAsideMessage {
  /** Id of the message. */
  id: string;
  /** The account that sent it. */
  account_id: number;
  /** Since when it is set aside: ISO 8601, UTC. */
  since: string;
  /** Why it could not be read, composed or recorded. */
  reason: string;
  /** How often it was tried. */
  attempts: number;
  /** Recipients who have not got it yet; null: all of them. */
  remaining: string[] | null;
}

export interface ReleaseFromQuarantineAnswer {
  /** How many are due again. */
  released: number;
}

export interface ReleaseAllFromQuarantineAnswer {
  /** How many are due again. */
  released: number;
}

export interface Relay {
  /** Its name. */
  name: string;
  /** Its address without the password; null: RELAY_URL is unset. */
  url: string | null;
  /** Whether its address is that of RELAY_URL. */
  from_settings: boolean;
  /** Its share of the email that no rule sends elsewhere, relative to the other weights. 0: only by rule, or when no other relay can take it. */
  weight: number;
  /** Connections of one delivery process; null: as RELAY_CONNECTIONS says. */
  connections: number | null;
  /** Emails per second, across all processes; null: no limit. */
  rate_per_second: number | null;
  /** Emails per UTC day, across all processes; null: no limit. */
  daily_limit: number | null;
  /** Whether email goes through it. */
  enabled: boolean;
  /** Which email it is for; none: what its weight brings. */
  rules: ({
    /** The sender’s domain. */
    from_domain?: string | undefined;
    /** The stream. */
    stream?: string | undefined;
    /** The account. */
    account_id?: number | undefined;
    /** One of the tags. */
    tag?: string | undefined;
    /** The recipient’s domain. */
    recipient_domain?: string | undefined;
  })[];
  /** Emails that delivery processes took of the daily limit; null: it has none. */
  used_today: number | null;
  /** Its state as delivery processes see it. mixed: they disagree. unknown: none is running. */
  state: "up" | "down" | "mixed" | "unknown" | "disabled";
  /** Why it is down. */
  detail: string | null;
}

export interface RelayTest {
  /** Whether it can be reached and accepts our login. */
  ok: boolean;
  /** What was found, in a sentence. */
  detail: string;
  /** Whether it reports deliveries (DSN, RFC 3461). Without it, no email becomes `delivered` unless the provider notifies us. null: it could not be asked. */
  dsn: boolean | null;
  /** Whether the connection is encrypted. */
  tls: boolean | null;
}

export interface KeptEmail {
  /** Its id. */
  id: string;
  /** When it came: ISO 8601, UTC. */
  received_at: string;
  /** To which address. */
  recipient: string;
  /** Who the envelope says it is from; anyone can write anything there. */
  from: string;
  /** Its subject. */
  subject: string;
  /** What it was read as: dsn, bounce, arf, auto-reply or other. */
  kind: string;
  /** Of a complaint: its type, such as abuse. */
  feedback_type: string | null;
  /** Why it is kept, such as for-people or untrusted. */
  why: string;
  /** The same as a sentence. */
  reason: string;
  /** The account that it is about, if known. */
  account_id: number | null;
  /** The message that it is about, if known. */
  message_id: string | null;
  /** Bytes that are kept of it. */
  size: number;
}

export interface GetKeptFeedbackAnswer {
  /** Its id. */
  id: string;
  /** When it came: ISO 8601, UTC. */
  received_at: string;
  /** To which address. */
  recipient: string;
  /** Who the envelope says it is from; anyone can write anything there. */
  from: string;
  /** Its subject. */
  subject: string;
  /** What it was read as: dsn, bounce, arf, auto-reply or other. */
  kind: string;
  /** Of a complaint: its type, such as abuse. */
  feedback_type: string | null;
  /** Why it is kept, such as for-people or untrusted. */
  why: string;
  /** The same as a sentence. */
  reason: string;
  /** The account that it is about, if known. */
  account_id: number | null;
  /** The message that it is about, if known. */
  message_id: string | null;
  /** Bytes that are kept of it. */
  size: number;
  /** The email as received. */
  raw: string;
}

/** Every operation, by resource. */
export interface Operations {
  /** Send an email. Queue one transactional email, from an inline body (subject with html and/or text) or from a template with variables. Answers at once; delivery is asynchronous. */
  send(input: {
    /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
    from_email: string;
    /** Recipients. to, cc and bcc together name 1 to 50. */
    to: string[];
    /** Recipients of a copy. */
    cc?: string[] | undefined;
    /** Recipients of a hidden copy. They are in the envelope only. */
    bcc?: string[] | undefined;
    /** Where replies go, as the Reply-To header. */
    reply_to?: string | undefined;
    /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
    subject?: string | undefined;
    /** HTML body. Needed when text is absent, unless a template is used. */
    html?: string | undefined;
    /** Plain-text body. Derived from the HTML when blank and a template is used. */
    text?: string | undefined;
    /** Slug of the template: a system template or one of the account’s own. */
    template?: string | undefined;
    /** What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written. */
    variables?: Record<string, unknown> | undefined;
    /** Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English. */
    locale?: string | undefined;
    /** The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`. */
    stream?: string | undefined;
    /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
    headers?: Record<string, string> | undefined;
    /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
    tags?: string[] | undefined;
    /** When to send it: RFC 3339 with its offset from UTC, at most 30 days ahead. It is rendered now and stays `queued` until then. */
    scheduled_at?: string | undefined;
    /** Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing. */
    attachments?: ({
      /** File name, without a path. */
      filename: string;
      /** Base64-encoded content. */
      content_base64: string;
      /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
      content_type: string;
      /** Makes it an image that the HTML shows with `<img src="cid:…">`. */
      content_id?: string | undefined;
      /** `inline` asks email programs to show the file below the text. Default: `attachment`. */
      disposition?: "attachment" | "inline" | undefined;
    })[] | undefined;
  } & (HtmlBody | PlainTextBody | TemplateBody), options?: CallOptions): Promise<SendEmailAnswer>;
  /** Send a batch of emails. Queue up to 100 emails in one call: a list of them, each as for POST /v1/send, or one email with `recipients` who each get their own with their own variables. Each counts as one send. */
  sendBatch(input: {
    /** The emails, each as `POST /v1/send` takes it. No other field may be given with them, except `validation`. */
    emails?: BatchEmail[] | undefined;
    /** Or one email for many: each of these gets their own email, from the fields beside this list. A field here replaces the common one; `variables` are merged over the common ones. */
    recipients?: BatchRecipient[] | undefined;
    /** `strict`: if one email is refused, none is queued. `permissive`: the others are. Default: `strict`. */
    validation?: "strict" | "permissive" | undefined;
    /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
    from_email?: string | undefined;
    /** Recipients of a copy. */
    cc?: string[] | undefined;
    /** Recipients of a hidden copy. They are in the envelope only. */
    bcc?: string[] | undefined;
    /** Where replies go, as the Reply-To header. */
    reply_to?: string | undefined;
    /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
    subject?: string | undefined;
    /** HTML body. Needed when text is absent, unless a template is used. */
    html?: string | undefined;
    /** Plain-text body. Derived from the HTML when blank and a template is used. */
    text?: string | undefined;
    /** Slug of the template: a system template or one of the account’s own. */
    template?: string | undefined;
    /** What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written. */
    variables?: Record<string, unknown> | undefined;
    /** Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English. */
    locale?: string | undefined;
    /** The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`. */
    stream?: string | undefined;
    /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
    headers?: Record<string, string> | undefined;
    /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
    tags?: string[] | undefined;
    /** When to send it: RFC 3339 with its offset from UTC, at most 30 days ahead. It is rendered now and stays `queued` until then. */
    scheduled_at?: string | undefined;
    /** Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing. */
    attachments?: ({
      /** File name, without a path. */
      filename: string;
      /** Base64-encoded content. */
      content_base64: string;
      /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
      content_type: string;
      /** Makes it an image that the HTML shows with `<img src="cid:…">`. */
      content_id?: string | undefined;
      /** `inline` asks email programs to show the file below the text. Default: `attachment`. */
      disposition?: "attachment" | "inline" | undefined;
    })[] | undefined;
  } & (ListOfEmails | OneEmailForMany), options?: CallOptions): Promise<SendBatchAnswer>;
  /** Preview an email. Checks and renders an email exactly as a send would, and queues nothing: its subject and text, who would get no copy, whether a person would have to approve it, what receivers would object to, and the quota left. */
  sendPreview(input: {
    /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
    from_email: string;
    /** Recipients. to, cc and bcc together name 1 to 50. */
    to: string[];
    /** Recipients of a copy. */
    cc?: string[] | undefined;
    /** Recipients of a hidden copy. They are in the envelope only. */
    bcc?: string[] | undefined;
    /** Where replies go, as the Reply-To header. */
    reply_to?: string | undefined;
    /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
    subject?: string | undefined;
    /** HTML body. Needed when text is absent, unless a template is used. */
    html?: string | undefined;
    /** Plain-text body. Derived from the HTML when blank and a template is used. */
    text?: string | undefined;
    /** Slug of the template: a system template or one of the account’s own. */
    template?: string | undefined;
    /** What the template is rendered with: objects and lists nested at most 100 deep. Numbers reach it as they are written. */
    variables?: Record<string, unknown> | undefined;
    /** Language of the template, as a tag such as `de` or `pt-BR`; a template that does not have it uses the account’s own, or English. */
    locale?: string | undefined;
    /** The stream it goes through: whoever unsubscribed from that stream gets no copy. By default the template’s, or `transactional`. */
    stream?: string | undefined;
    /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those that control relays (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
    headers?: Record<string, string> | undefined;
    /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
    tags?: string[] | undefined;
    /** When to send it: RFC 3339 with its offset from UTC, at most 30 days ahead. It is rendered now and stays `queued` until then. */
    scheduled_at?: string | undefined;
    /** Files in strict base64, at most 50; the whole request is at most 25 MB. A file with a `content_id` is an image that the HTML shows with `<img src="cid:…">`; neither may be missing. */
    attachments?: ({
      /** File name, without a path. */
      filename: string;
      /** Base64-encoded content. */
      content_base64: string;
      /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
      content_type: string;
      /** Makes it an image that the HTML shows with `<img src="cid:…">`. */
      content_id?: string | undefined;
      /** `inline` asks email programs to show the file below the text. Default: `attachment`. */
      disposition?: "attachment" | "inline" | undefined;
    })[] | undefined;
  } & (HtmlBody | PlainTextBody | TemplateBody), options?: CallOptions): Promise<EmailPreview>;
  messages: {
    /** Read an email’s status and timeline. The status of one email and everything that happened to it, in order. */
    get(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageTimeline>;
    /** Explain a delivery. Why an email is where it is, for each recipient, in plain words: what happened, why, and what to do. */
    explain(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<DeliveryExplanation>;
    /** Wait for an event. Answers as soon as an email has an event or status it did not have, or after at most 25 seconds; at once when it is cancelled. */
    wait(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** Wait until it has reached this status, or one that rules it out. Absent: any new event. */
      status?: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | undefined;
      /** How long to wait at most: 1 to 25. */
      timeout_seconds?: number | undefined;
    }, options?: CallOptions): Promise<AwaitedEvent>;
    /** Reschedule an email. Changes when an email goes out, earlier or later, as long as none of it has been handed over. Its content stays as it was accepted. 409 with the reason once it is too late. */
    reschedule(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** When to send it: RFC 3339 with its offset from UTC, at most 30 days after it was accepted; or `now`. */
      scheduled_at: string;
    }, options?: CallOptions): Promise<RescheduledEmail>;
    /** Cancel an email. Cancels an email as long as none of it has been handed over: held, scheduled, waiting, or deferred. Nobody receives it, its status stays `queued`, and its recipients no longer count towards today’s quota. Cancelling it again gives the same answer. 409 with the reason once it is too late. */
    cancel(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<CancelledEmail>;
    /** Search messages. The account’s messages, newest first, by recipient, sender, words of the subject, template, tag, stream, door, status and time. One call searches a limited number of them: continue while `next` is not null, even if a page is empty. */
    list(input?: {
      /** A message id: that one alone. */
      id?: string | undefined;
      /** An address in to, cc or bcc; @ and a domain: everyone there; or a part of one. */
      recipient?: string | undefined;
      /** The sender’s address; @ and a domain: every sender of it; or a part of one. */
      from_email?: string | undefined;
      /** Whole words of the subject, at most 16, in any order. The quickest way to search by subject. */
      words?: string | undefined;
      /** A part of the subject. */
      subject?: string | undefined;
      /** Slug of the template, exactly. */
      template?: string | undefined;
      /** A tag, exactly. */
      tag?: string | undefined;
      /** Name of the stream, exactly. */
      stream?: string | undefined;
      /** Where it came in. */
      door?: "rest" | "smtp" | "mcp" | "dashboard" | "cli" | "system" | undefined;
      /** The current status. */
      status?: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | undefined;
      /** true: only those scheduled for later; false: all others. */
      scheduled?: boolean | undefined;
      /** Not before this time, ISO 8601. */
      after?: string | undefined;
      /** Before this time, ISO 8601. */
      before?: string | undefined;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<MessageSummary>;
    /** Read everything about a message. One message with its timeline, what happened to each recipient, where it came from and how far handing it over has got; everything but its content. */
    details(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageDetails>;
    /** List the attempts of a message. Attempts to hand a message over that were inconclusive, and reports of delays, oldest first: what the timeline leaves out. */
    listAttempts(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<DeliveryAttempt>;
    /** List the webhook deliveries of a message. Which endpoints received a message’s events, oldest first. */
    listWebhooks(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<WebhookDelivery>;
    /** Decide an unknown outcome. For a message whose outcome is unknown because the connection to the relay broke: count it as sent, or send it again with the same Message-ID. */
    resolve(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** sent: it counts as sent. again: it is due again. */
      as: "sent" | "again";
    }, options?: CallOptions): Promise<ResolveMessageAnswer>;
    /** Read what a message says. Bodies, headers and the list of files of one message, as they were accepted. Content is kept for fewer days than the timeline. */
    content(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageContent>;
    /** Read a message’s source. The message as it is or was handed over (RFC 5322), including tracking. Its token and its unsubscribe link are replaced by ones that do nothing. */
    source(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<File>;
    /** Read an attachment. One file of a message, by its place in the list of its content. */
    attachment(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** Its place, from 0. */
      index: number;
    }, options?: CallOptions): Promise<File>;
    /** Send a message again. Queues the same email once more as a new message, to the same recipients. It counts like any other email. */
    sendAgain(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<SendMessageAgainAnswer>;
  };
  approvals: {
    /** List what waits for approval. Emails that are waiting for a person’s approval, oldest first. None of them has been sent. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<HeldEmail>;
    /** Read an email that waits for approval. One held email as it would be sent: recipients, headers, text and HTML, who gets no copy, what differs from the last email made from its template, and the SHA-256 of it all. */
    get(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<HeldEmailInFull>;
    /** Approve an email. Releases a held email, exactly as it was when it had this SHA-256; once. A key cannot approve what it sent itself. */
    approve(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** The SHA-256 of what you saw. Another one is refused: the email was changed. */
      sha256: string;
    }, options?: CallOptions): Promise<ApprovalDecision>;
    /** Decline an email. A held email is not sent: nobody receives it, and it no longer counts towards today’s quota. */
    decline(input: {
      /** The id that the send call returned. */
      sm_mail_id: string;
      /** The SHA-256 of what you saw. Another one is refused: the email was changed. */
      sha256: string;
    }, options?: CallOptions): Promise<ApprovalDecision>;
  };
  templates: {
    /** List templates. The templates that can be sent, with the names of their variables: the system catalogue and the account’s own. */
    list(input?: {
      /** Only templates of this category. */
      category?: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications" | undefined;
      /** What the email is about, in a few words: the five that fit best. */
      query?: string | undefined;
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<{
      /** What send_email takes as `template`. */
      slug: string;
      /** Its name. */
      name: string;
      /** What it is about. */
      category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
      /** When to use it. */
      description: string;
      /** The account wrote it. Absent: the catalogue’s. */
      own?: true | undefined;
      /** What it can be filled with. get_template says more about each. */
      variables: ({
        /** Name of the variable. */
        name: string;
        /** Whether a send without it is refused. */
        required: boolean;
      })[];
    }>;
    /** Read a template. One template: its subject, its variables with types and examples, a complete sample and how it reads. */
    get(input: {
      /** Slug of the template, from list_templates. */
      slug: string;
    }, options?: CallOptions): Promise<GetTemplateAnswer>;
    /** List the account’s own templates. The account’s own templates with their versions, drafts and archived ones too. */
    listOwn(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<OwnTemplate>;
    /** List the versions of a template. The versions of one of the account’s own templates, newest first, without their text. */
    listVersions(input: {
      /** Slug of the template. */
      slug: string;
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<TemplateVersionEntry>;
    /** Read a template’s source. The source of one version, to change and pass to update_template. Its number is also the ETag. */
    getVersion(input: {
      /** Slug of the template. */
      slug: string;
      /** A number, or: newest, the one saved last; system, the catalogue’s; current, the published one, or the newest, or the system’s. */
      version: string;
    }, options?: CallOptions): Promise<TemplateVersion>;
    /** Clone a template. Copies a system template, or one of the account’s own, so that the account can change it. If the slug stays the same, sends use the copy from now on. */
    clone(input: {
      /** Slug of the template to copy. */
      slug: string;
      /** Slug of the copy; the same by default. */
      as?: string | undefined;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Change a template. Saves a new version of one of the account’s own templates, or creates a template. Fields you leave out keep their values. It is a draft until it is published; earlier versions are kept. */
    put(input: {
      /** Slug of the template. */
      slug: string;
      /** Its name. */
      name?: string | undefined;
      /** What it is about. */
      category?: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications" | undefined;
      /** When to use it. */
      description?: string | undefined;
      /** The stream that its emails go through from now on; null: `transactional`. */
      stream?: string | null | undefined;
      /** Subject, Jinja2. */
      subject?: string | undefined;
      /** Preview line of email programs, Jinja2. */
      preheader?: string | undefined;
      /** HTML, Jinja2. May extend layout.html and import macros.html. */
      html?: string | undefined;
      /** Plain text, Jinja2. Derived from the HTML when null or blank. */
      text?: string | null | undefined;
      /** What it can be filled with. */
      variables?: ({
        /** A name, or a path such as event.name. */
        name: string;
        /** Whether a send without it is refused. */
        required: boolean;
        /** What it must be; `url`: an http(s) address; `any`, the default, is not checked. */
        type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
        /** For an array: the type of its entries, or the fields that each has. */
        items?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | ({
          name: string;
          required?: boolean | undefined;
          type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
        })[] | undefined;
        /** What it is for. */
        description?: string | undefined;
        /** A value that fits. */
        example?: unknown | undefined;
      })[] | undefined;
      /** Variables that show the template at its best. */
      sample?: Record<string, unknown> | undefined;
      /** What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`. */
      messages?: Record<string, Record<string, string | {
        zero?: string | undefined;
        one?: string | undefined;
        two?: string | undefined;
        few?: string | undefined;
        many?: string | undefined;
        other: string;
      }>> | undefined;
      /** The version that fields you leave out are taken from; the newest by default. */
      from_version?: number | undefined;
      /** Whether emails are made from the new version at once. */
      publish?: boolean | undefined;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<UpdateTemplateAnswer>;
    /** Publish a version of a template. Sends use this version from now on. Publishing a version of an archived template brings the template back. */
    publish(input: {
      /** Slug of the template. */
      slug: string;
      /** The version to put live. */
      version: number;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Roll a template back. Sends use the previously published version again. The newer one is kept and can be published again. */
    rollBack(input: {
      /** Slug of the template. */
      slug: string;
      /** The version to take back. If another one is live by now, nothing changes (412). */
      published_version?: number | undefined;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Archive a template. Takes a template out of use: sends use the system template with that slug again, if there is one. Its versions are kept; publishing one brings it back. */
    archive(input: {
      /** Slug of the template. */
      slug: string;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Render a template. Renders a template with these variables and the account’s branding. Nothing is sent. Errors come with line and column. */
    render(input: {
      /** Slug of the template. */
      slug: string;
      /** A version of the account’s own; what sends use by default. */
      version?: number | undefined;
      /** Parts that are not saved; they replace those of the version. */
      draft?: {
        /** Subject, Jinja2. */
        subject?: string | undefined;
        /** Preview line of email programs, Jinja2. */
        preheader?: string | undefined;
        /** HTML, Jinja2. May extend layout.html and import macros.html. */
        html?: string | undefined;
        /** Plain text, Jinja2. Derived from the HTML when null or blank. */
        text?: string | null | undefined;
        /** What it can be filled with. */
        variables?: ({
          /** A name, or a path such as event.name. */
          name: string;
          /** Whether a send without it is refused. */
          required: boolean;
          /** What it must be; `url`: an http(s) address; `any`, the default, is not checked. */
          type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          /** For an array: the type of its entries, or the fields that each has. */
          items?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | ({
            name: string;
            required?: boolean | undefined;
            type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          })[] | undefined;
          /** What it is for. */
          description?: string | undefined;
          /** A value that fits. */
          example?: unknown | undefined;
        })[] | undefined;
        /** Variables that show the template at its best. */
        sample?: Record<string, unknown> | undefined;
        /** What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`. */
        messages?: Record<string, Record<string, string | {
          zero?: string | undefined;
          one?: string | undefined;
          two?: string | undefined;
          few?: string | undefined;
          many?: string | undefined;
          other: string;
        }>> | undefined;
      } | undefined;
      /** What it is filled with; its sample by default. */
      variables?: Record<string, unknown> | undefined;
      /** Its language, such as `de`; the account’s own by default. */
      locale?: string | undefined;
      /** A message made from the template, whose variables are used instead. */
      variables_of?: string | undefined;
    }, options?: CallOptions): Promise<RenderedTemplate>;
    /** Render several templates. Several templates with their samples and the account’s branding, for a gallery. */
    renderSeveral(input: {
      /** Which templates; at most 60. */
      slugs: string[];
      /** Its language, such as `de`; the account’s own by default. */
      locale?: string | undefined;
    }, options?: CallOptions): Pages<TemplatePreview>;
    /** Send a test of a template. Sends what render_template shows to one address, tagged `test`. It counts like any other email. */
    testSend(input: {
      /** Slug of the template. */
      slug: string;
      /** A version of the account’s own; what sends use by default. */
      version?: number | undefined;
      /** Parts that are not saved; they replace those of the version. */
      draft?: {
        /** Subject, Jinja2. */
        subject?: string | undefined;
        /** Preview line of email programs, Jinja2. */
        preheader?: string | undefined;
        /** HTML, Jinja2. May extend layout.html and import macros.html. */
        html?: string | undefined;
        /** Plain text, Jinja2. Derived from the HTML when null or blank. */
        text?: string | null | undefined;
        /** What it can be filled with. */
        variables?: ({
          /** A name, or a path such as event.name. */
          name: string;
          /** Whether a send without it is refused. */
          required: boolean;
          /** What it must be; `url`: an http(s) address; `any`, the default, is not checked. */
          type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          /** For an array: the type of its entries, or the fields that each has. */
          items?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | ({
            name: string;
            required?: boolean | undefined;
            type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          })[] | undefined;
          /** What it is for. */
          description?: string | undefined;
          /** A value that fits. */
          example?: unknown | undefined;
        })[] | undefined;
        /** Variables that show the template at its best. */
        sample?: Record<string, unknown> | undefined;
        /** What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`. */
        messages?: Record<string, Record<string, string | {
          zero?: string | undefined;
          one?: string | undefined;
          two?: string | undefined;
          few?: string | undefined;
          many?: string | undefined;
          other: string;
        }>> | undefined;
      } | undefined;
      /** What it is filled with; its sample by default. */
      variables?: Record<string, unknown> | undefined;
      /** Its language, such as `de`; the account’s own by default. */
      locale?: string | undefined;
      /** Who gets it. */
      to: string;
      /** Sender; the account’s first verified one by default. */
      from_email?: string | undefined;
    }, options?: CallOptions): Promise<SendTestEmailAnswer>;
    /** Rehearse a version of a template. Renders a version, or a draft, with the variables of the template’s latest emails, and compares it with what sends use now. Says which emails would change or fail. Nothing is sent. */
    rehearse(input: {
      /** Slug of the template. */
      slug: string;
      /** A version of the account’s own; what sends use by default. */
      version?: number | undefined;
      /** Parts that are not saved; they replace those of the version. */
      draft?: {
        /** Subject, Jinja2. */
        subject?: string | undefined;
        /** Preview line of email programs, Jinja2. */
        preheader?: string | undefined;
        /** HTML, Jinja2. May extend layout.html and import macros.html. */
        html?: string | undefined;
        /** Plain text, Jinja2. Derived from the HTML when null or blank. */
        text?: string | null | undefined;
        /** What it can be filled with. */
        variables?: ({
          /** A name, or a path such as event.name. */
          name: string;
          /** Whether a send without it is refused. */
          required: boolean;
          /** What it must be; `url`: an http(s) address; `any`, the default, is not checked. */
          type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          /** For an array: the type of its entries, or the fields that each has. */
          items?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | ({
            name: string;
            required?: boolean | undefined;
            type?: "string" | "number" | "boolean" | "url" | "array" | "object" | "any" | undefined;
          })[] | undefined;
          /** What it is for. */
          description?: string | undefined;
          /** A value that fits. */
          example?: unknown | undefined;
        })[] | undefined;
        /** Variables that show the template at its best. */
        sample?: Record<string, unknown> | undefined;
        /** What `t('key', name=…)` says in it, by language and key: text with {name} where values go, or an object of plural forms (`one`, `few`, `other` …), chosen by `count`. */
        messages?: Record<string, Record<string, string | {
          zero?: string | undefined;
          one?: string | undefined;
          two?: string | undefined;
          few?: string | undefined;
          many?: string | undefined;
          other: string;
        }>> | undefined;
      } | undefined;
      /** On how many of the last emails; 20 by default, which is the most. */
      limit?: number | undefined;
    }, options?: CallOptions): Promise<RehearseTemplateAnswer>;
  };
  lint: {
    /** Check an email before it is sent. Lists what mailbox providers and readers would object to in an email: no text part, images only, links that cannot work, HTML that Gmail clips, a subject that reads like spam, placeholders without a value and more. Give the email itself (subject, html, text), or a template with variables. Nothing is sent and no link is followed. */
    check(input?: {
      /** The subject. */
      subject?: string | undefined;
      /** The HTML. */
      html?: string | undefined;
      /** The text part. */
      text?: string | undefined;
      /** Slug of a template, instead of subject, html and text. */
      template?: string | undefined;
      /** What the template is filled with; its sample by default. */
      variables?: Record<string, unknown> | undefined;
      /** Language of the template, such as `de`. */
      locale?: string | undefined;
      /** The stream that it would go through. */
      stream?: string | undefined;
      /** Headers that it would have, such as List-Unsubscribe. */
      headers?: Record<string, string> | undefined;
    }, options?: CallOptions): Promise<LintEmailAnswer>;
  };
  branding: {
    /** Read the branding. The colours, logo, names and links that all of the account’s templates use. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Branding>;
    /** Upload the logo. Stores an image (PNG, JPEG, GIF or WebP, at most 128 KB) and shows it in the header of every email: logo_url becomes its address here. With logo_inline every email carries it instead. */
    setLogo(input: {
      /** The file, base64. */
      content_base64: string;
      /** Carry it in every email. If absent, unchanged. */
      logo_inline?: boolean | undefined;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<Branding>;
    /** Change the branding. Sets the fields you give and leaves the others; null resets one to its default. Every email made from a template uses it from now on. */
    set(input?: {
      /** Sender name in header and footer. The name of the account by default. */
      brand_name?: string | null | undefined;
      /** Header logo. Without it the header is text. */
      logo_url?: string | null | undefined;
      /** The logo for dark mode and dark headers. Without it the logo is shown on white there. */
      logo_dark_url?: string | null | undefined;
      /** Every email carries the uploaded logo, instead of loading it. Off by default. */
      logo_inline?: boolean | null | undefined;
      /** Buttons and accents, hex. #00a071 by default. */
      primary_color?: string | null | undefined;
      /** Second accent, hex. #00e5a0 by default. */
      accent_color?: string | null | undefined;
      /** Footer contact. */
      support_email?: string | null | undefined;
      /** Footer help link. */
      support_url?: string | null | undefined;
      /** HTML in the footer, such as a postal address. */
      footer_html?: string | null | undefined;
      /** Corners of buttons, 0 to 24 px. 8 by default. */
      button_radius?: number | null | undefined;
      /** card (the default), letter (plain) or bold (a header in the primary colour). */
      layout?: "card" | "letter" | "bold" | null | undefined;
      /** system (the default), serif, mono, or names of fonts such as Inter, Arial. */
      font?: string | null | undefined;
      /** Colour behind the email, hex. By default it suits the layout. */
      background?: string | null | undefined;
      /** Adds a Privacy Policy link to every footer. */
      privacy_policy_url?: string | null | undefined;
      /** Adds a Terms & Conditions link to every footer. */
      terms_url?: string | null | undefined;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<Branding>;
    /** Preview the branding. Templates with their samples, as they would look if these values replaced the account’s branding. Nothing is saved. */
    preview(input: {
      /** Values that are not saved yet. */
      branding: {
        /** Sender name in header and footer. The name of the account by default. */
        brand_name?: string | null | undefined;
        /** Header logo. Without it the header is text. */
        logo_url?: string | null | undefined;
        /** The logo for dark mode and dark headers. Without it the logo is shown on white there. */
        logo_dark_url?: string | null | undefined;
        /** Every email carries the uploaded logo, instead of loading it. Off by default. */
        logo_inline?: boolean | null | undefined;
        /** Buttons and accents, hex. #00a071 by default. */
        primary_color?: string | null | undefined;
        /** Second accent, hex. #00e5a0 by default. */
        accent_color?: string | null | undefined;
        /** Footer contact. */
        support_email?: string | null | undefined;
        /** Footer help link. */
        support_url?: string | null | undefined;
        /** HTML in the footer, such as a postal address. */
        footer_html?: string | null | undefined;
        /** Corners of buttons, 0 to 24 px. 8 by default. */
        button_radius?: number | null | undefined;
        /** card (the default), letter (plain) or bold (a header in the primary colour). */
        layout?: "card" | "letter" | "bold" | null | undefined;
        /** system (the default), serif, mono, or names of fonts such as Inter, Arial. */
        font?: string | null | undefined;
        /** Colour behind the email, hex. By default it suits the layout. */
        background?: string | null | undefined;
        /** Adds a Privacy Policy link to every footer. */
        privacy_policy_url?: string | null | undefined;
        /** Adds a Terms & Conditions link to every footer. */
        terms_url?: string | null | undefined;
      };
      /** Which templates; at most 8. */
      slugs: string[];
      /** A message made from the template, whose variables are used instead. */
      variables_of?: string | undefined;
    }, options?: CallOptions): Promise<PreviewBrandingAnswer>;
    /** Rehearse a branding. Renders the account’s latest emails from templates as they would look if these values replaced its branding, and compares them with what sends use now. Says which would change or fail. Nothing is saved or sent. */
    rehearse(input: {
      /** Values that are not saved yet. */
      branding: {
        /** Sender name in header and footer. The name of the account by default. */
        brand_name?: string | null | undefined;
        /** Header logo. Without it the header is text. */
        logo_url?: string | null | undefined;
        /** The logo for dark mode and dark headers. Without it the logo is shown on white there. */
        logo_dark_url?: string | null | undefined;
        /** Every email carries the uploaded logo, instead of loading it. Off by default. */
        logo_inline?: boolean | null | undefined;
        /** Buttons and accents, hex. #00a071 by default. */
        primary_color?: string | null | undefined;
        /** Second accent, hex. #00e5a0 by default. */
        accent_color?: string | null | undefined;
        /** Footer contact. */
        support_email?: string | null | undefined;
        /** Footer help link. */
        support_url?: string | null | undefined;
        /** HTML in the footer, such as a postal address. */
        footer_html?: string | null | undefined;
        /** Corners of buttons, 0 to 24 px. 8 by default. */
        button_radius?: number | null | undefined;
        /** card (the default), letter (plain) or bold (a header in the primary colour). */
        layout?: "card" | "letter" | "bold" | null | undefined;
        /** system (the default), serif, mono, or names of fonts such as Inter, Arial. */
        font?: string | null | undefined;
        /** Colour behind the email, hex. By default it suits the layout. */
        background?: string | null | undefined;
        /** Adds a Privacy Policy link to every footer. */
        privacy_policy_url?: string | null | undefined;
        /** Adds a Terms & Conditions link to every footer. */
        terms_url?: string | null | undefined;
      };
      /** On how many of the last emails; 20 by default, which is the most. */
      limit?: number | undefined;
    }, options?: CallOptions): Promise<RehearseBrandingAnswer>;
  };
  domains: {
    /** List sender domains. Domains that the account may send from once they are verified, each with its DNS records. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Domain>;
    /** Read a sender domain. One domain with its DNS records and what the last check found. */
    get(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
    /** Find out who serves the DNS of a domain. The provider its name servers belong to, and the name of each record as that provider’s form expects it. */
    getDns(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<DomainDns>;
    /** Add a sender domain. Generates signing keys for the domain and returns the DNS records to publish. A domain that already exists is left as it is. It is verified when a check finds its ownership record. */
    put(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
      /** For operators of the service: it is known to belong to the account. */
      vouched?: boolean | undefined;
    }, options?: CallOptions): Promise<Domain>;
    /** Check a sender domain. Looks up every DNS record of the domain and returns what it found. Domains are also checked once a day, new ones more often. */
    check(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
    /** Rotate the signing keys of a domain. Generates the next signing keys and returns the DNS records to publish alongside the current ones. A day after DNS shows them, email is signed with them; a week later you can remove the old records. `rotation` says which step is due. While a rotation is in progress, it is returned unchanged. */
    rotate(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
    /** Remove a sender domain. Email from its addresses is refused from now on, and its signing keys are deleted. If you add it again, it gets new keys and records. */
    remove(input: {
      /** A domain, the part after the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
  };
  addresses: {
    /** List sender addresses. Single addresses that the account may send from once they are verified. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<SenderAddress>;
    /** Read a sender address. Whether the address is verified, and until when its link works. */
    get(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<SenderAddress>;
    /** Add a sender address. Emails a link to the address; opening it proves that the address is theirs. It works once, for two days. */
    put(input: {
      /** An email address. */
      address: string;
      /** For operators of the service: it is known to belong to the account. */
      vouched?: boolean | undefined;
    }, options?: CallOptions): Promise<AddAddressAnswer>;
    /** Email another link. Emails a new link to an address that was added; the previous one stops working. */
    verify(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<VerifyAddressAnswer>;
    /** Remove a sender address. Email from it is refused from now on, unless its domain is verified. */
    remove(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<SenderAddress>;
  };
  streams: {
    /** List streams. The kinds of email that the account sends, archived ones too. `transactional` always exists and is used by sends that name no stream. */
    list(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Stream>;
    /** Read a stream. One stream: what it is for, and whether recipients can leave it. */
    get(input: {
      /** Name of the stream. */
      name: string;
    }, options?: CallOptions): Promise<Stream>;
    /** Create or change a stream. Creates a stream, or changes the fields you give; an archived stream is brought back. Its kind cannot change. Recipients who left it stay unsubscribed. */
    put(input: {
      /** Name of the stream. */
      name: string;
      /** transactional: sent because of something the recipient did. broadcast: sent to many, everyone can leave it, and it waits behind the rest. */
      kind?: "transactional" | "broadcast" | undefined;
      /** Its name for recipients, on the preference page. */
      title?: string | undefined;
      /** What its recipients get. */
      description?: string | undefined;
      /** Whether recipients can leave it. A broadcast can always be left; a transactional stream follows the account’s one_click_unsubscribe until this is set. */
      unsubscribe?: boolean | undefined;
    }, options?: CallOptions): Promise<Stream>;
    /** Archive a stream. Sends that name it are refused from now on. What was sent through it and who left it are kept; a PUT brings it back. */
    remove(input: {
      /** Name of the stream. */
      name: string;
    }, options?: CallOptions): Promise<Stream>;
  };
  suppressions: {
    /** List suppressions. Addresses this account cannot send to, because email bounced, they complained, or someone added them; and those that unsubscribed from a stream. Sorted by address. */
    list(input?: {
      /** A part of the address. */
      search?: string | undefined;
      /** Only those that unsubscribed from this stream. */
      stream?: string | undefined;
      /** Only those with this reason. */
      reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
      /** How many to return: 1 to 1000, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Suppression>;
    /** Read a suppressed address. Whether an address is suppressed for the account, and why. A suppression for every stream comes first. 404 if it is not. */
    get(input: {
      /** An email address. */
      address: string;
      /** Looks up this stream; by default, any stream. */
      stream?: string | undefined;
    }, options?: CallOptions): Promise<Suppression>;
    /** Suppress an address. From now on the account cannot send to this address: through any stream or, if you name one, through that stream, as if the address had unsubscribed. One that is already on the list keeps its reason. */
    put(input: {
      /** An email address. */
      address: string;
      /** Unsubscribes it from this stream only. */
      stream?: string | undefined;
    }, options?: CallOptions): Promise<Suppression>;
    /** Suppress many addresses. From now on the account cannot send to any of these addresses, such as those that bounced at another provider. Those already on the list keep their reason. All are added or, if one is not an address, none. */
    add(input: {
      /** 1 to 1000 email addresses. */
      addresses: string[];
      /** Why they get no more email; `manual` by default, with a stream `unsubscribe`. `unsubscribe` without a stream is from every stream that can be left. */
      reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
      /** Unsubscribes them from this stream only. */
      stream?: string | undefined;
    }, options?: CallOptions): Promise<AddSuppressionsAnswer>;
    /** Allow an address again. Takes an address off the list: the account can send to it again. Lifts the suppression for every stream or, if you name one, the unsubscribe from that stream. */
    remove(input: {
      /** An email address. */
      address: string;
      /** Lifts the unsubscribe from this stream only. */
      stream?: string | undefined;
    }, options?: CallOptions): Promise<Suppression>;
  };
  recipients: {
    /** Export what is known about a person. Everything this account holds about one email address, for answering someone who asks for their data. Each page has emails that were sent to it, newest first, with what they said and what happened to them. The first page also has what is known about the person beside them, and every page what the address is suppressed or unsubscribed from. Files, captured emails and kept reports are named, with the call that returns them: there may be gigabytes. */
    export(input: {
      /** The person’s email address. */
      address: string;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Promise<ExportRecipientAnswer>;
    /** Erase what is known about a person. Erases one email address from everything this account holds, at once and permanently: the content of every email that was sent to it, the address, what it opened and clicked, copies in the sandbox, and reports about it. A suppression is kept as a hash and stays in force, and so does a link that an operator switched off. What the account wrote itself stays: templates, senders, the rules of keys. 409 while an email to it still has to go out. */
    erase(input: {
      /** The person’s email address. */
      address: string;
    }, options?: CallOptions): Promise<EraseRecipientAnswer>;
  };
  webhooks: {
    /** List webhook endpoints. Where the account’s events are posted, and the state of each endpoint. */
    list(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<WebhookEndpoint>;
    /** Read a webhook endpoint. One endpoint: where it is, what it gets, and its state. */
    get(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Add a webhook endpoint. From now on the account’s events are posted there, signed. The answer contains the signing secret, which is shown only once. */
    create(input: {
      /** An https address. */
      url: string;
      /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[] | undefined;
      /** One at a time and in order, which is slower. */
      fifo?: boolean | undefined;
    }, options?: CallOptions): Promise<CreateWebhookEndpointAnswer>;
    /** Change a webhook endpoint. Changes the fields you give; `enabled` turns it off and on. What is waiting is kept. */
    update(input: {
      /** Id of the endpoint. */
      id: string;
      /** An https address. */
      url?: string | undefined;
      /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[] | undefined;
      /** One at a time and in order, which is slower. */
      fifo?: boolean | undefined;
      /** Whether it gets events. */
      enabled?: boolean | undefined;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Remove a webhook endpoint. It receives nothing more, and what is waiting for it is deleted. To keep that, turn it off instead. */
    remove(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Replace a signing secret. Creates a new signing secret, which is shown only once. For a day both sign, so that receivers can switch over. */
    rotate(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<RotateWebhookSecretAnswer>;
    /** Test a webhook endpoint. Posts an example event to the endpoint now, signed like a real one, and returns the answer. It is not logged. */
    test(input: {
      /** Id of the endpoint. */
      id: string;
      /** What it is about; delivery by default. */
      event_type?: "delivery" | "open" | "click" | "bounce" | "complaint" | "subscription" | undefined;
    }, options?: CallOptions): Promise<TestWebhookEndpointAnswer>;
    /** List webhook deliveries. What was posted to an endpoint or waits for it, newest first. */
    listDeliveries(input: {
      /** Id of the endpoint. */
      id: string;
      /** Only those in this state. */
      state?: "pending" | "delivered" | "abandoned" | undefined;
      /** Only those whose last attempt failed: abandoned, or waiting for the next one. */
      failed?: boolean | undefined;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<WebhookDelivery>;
    /** Read a webhook delivery. One delivery: the request that was posted last, or will be posted first, and the answer. Signatures are made with the current secret. */
    getDelivery(input: {
      /** Id of the endpoint. */
      id: string;
      /** Id of the delivery. */
      delivery_id: string;
    }, options?: CallOptions): Promise<GetWebhookDeliveryAnswer>;
    /** Try a webhook delivery again. Posts it now: a waiting delivery is brought forward, a delivered or abandoned one starts again. */
    retryDelivery(input: {
      /** Id of the endpoint. */
      id: string;
      /** Id of the delivery. */
      delivery_id: string;
    }, options?: CallOptions): Promise<WebhookDelivery>;
    /** Replay webhook events. Posts what the endpoint missed: everything that was abandoned, or every event in a period, even from before it was added. Events keep their ids. With `dry_run` they are only counted. */
    replay(input: {
      /** Id of the endpoint. */
      id: string;
      /** Only deliveries that were abandoned, whenever that was. */
      abandoned?: boolean | undefined;
      /** Events since then; needed unless `abandoned` is given. */
      from?: string | undefined;
      /** Events before then; now by default. */
      until?: string | undefined;
      /** Which events; empty: all about messages. `subscription` is sent only if it is named. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint" | "subscription")[] | undefined;
      /** Only count. */
      dry_run?: boolean | undefined;
    }, options?: CallOptions): Promise<ReplayWebhookEventsAnswer>;
  };
  sandbox: {
    /** List captured email. The account’s email that the sandbox captured instead of delivering, newest first, with one-time codes and links. With `wait`, the call answers as soon as there is one, or with an empty list when the time is up. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
      /** Only email to this address. */
      to?: string | undefined;
      /** Only email with this in its subject. */
      subject?: string | undefined;
      /** Only what was captured later than this: the id of a captured email or of a message, or a time such as 2030-01-31T12:00:00Z. Needed with `wait`, so that no code of an earlier email is picked up. */
      after?: string | undefined;
      /** Seconds to wait until there is one, at most 60. */
      wait?: number | undefined;
    }, options?: CallOptions): Pages<CapturedEmail>;
    /** List simulator addresses. Addresses that simulate an outcome in the sandbox, such as one that bounces. */
    listAddresses(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<SimulatorAddress>;
    /** Read a captured email. One captured email, by its id or by that of the message: headers, bodies, bytes. */
    get(input: {
      /** Id of the captured email, or of the message. */
      id: string;
    }, options?: CallOptions): Promise<CapturedContent>;
    /** Read the source of a captured email. A captured email as it was handed over, as a file. */
    raw(input: {
      /** Id of the captured email, or of the message. */
      id: string;
    }, options?: CallOptions): Promise<File>;
    /** Read the HTML of a captured email. The HTML of a captured email as a file, without the tracking pixel: opening it in a browser does not count as an open. */
    html(input: {
      /** Id of the captured email, or of the message. */
      id: string;
    }, options?: CallOptions): Promise<File>;
    /** Empty the sandbox. Deletes the account’s captured email: all of it, or what went to one address. */
    clear(input?: {
      /** Only email to this address. */
      to?: string | undefined;
    }, options?: CallOptions): Promise<ClearSandboxAnswer>;
  };
  keys: {
    /** List API keys. The account’s keys without their secret part, revoked ones too. Newest first. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<ApiKey>;
    /** Read an API key. What a key may do and when it was used last, without its secret part. */
    get(input: {
      /** Id of the key. */
      id: string;
    }, options?: CallOptions): Promise<ApiKey>;
    /** Create an API key. The answer contains the key itself, which is shown only once. You cannot give a key more rights than you have. */
    create(input: {
      /** What it is for. */
      name?: string | undefined;
      /** What it may do. */
      scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "streams:read" | "streams:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read" | "approvals:write")[];
      /** Rules that its sends must keep. */
      rules?: {
        /** It may send only to these addresses and domains; null: to anyone. */
        allowed_recipients?: string[] | null | undefined;
        /** It may send templates only, without its own content. */
        templates_only?: boolean | undefined;
        /** It may not send hidden copies. */
        no_bcc?: boolean | undefined;
        /** Recipients per UTC day, below the account’s quota; null: no cap of its own. */
        daily_cap?: number | null | undefined;
        /** Its email goes to the sandbox and is never delivered. Such a key begins with `sm_test_`. */
        sandbox_only?: boolean | undefined;
        /** When a person has to approve what it sends: `always`, `first_contact` (a recipient this account has not reached before), `outside_domain` (a recipient outside its senders), or `never`. */
        approval?: "never" | "always" | "first_contact" | "outside_domain" | undefined;
        /** It may read and change only what it sent itself. The default for keys with rules. */
        own_messages?: boolean | undefined;
        /** Mailboxes it may send from, with the names that recipients see; null: as the account. */
        senders?: string[] | null | undefined;
        /** Addresses and domains that replies may go to, besides the account’s own senders. */
        reply_to?: string[] | null | undefined;
        /** Hosts that links may lead to, including their subdomains; null: any. */
        link_hosts?: string[] | null | undefined;
      } | undefined;
      /** When it expires; null or absent: never. */
      expires_at?: string | null | undefined;
      /** Addresses and networks it may be used from; null or absent: anywhere. */
      networks?: string[] | null | undefined;
    }, options?: CallOptions): Promise<CreateKeyAnswer>;
    /** Revoke an API key. Revokes a key permanently: whatever uses it is refused with 401 within a second. */
    revoke(input: {
      /** Id of the key. */
      id: string;
    }, options?: CallOptions): Promise<ApiKey>;
  };
  team: {
    /** List the team. The people in the account, with their roles. */
    list(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Member>;
    /** Read a member of the team. One person in the account, with their role. */
    get(input: {
      /** Id of the person. */
      id: string;
    }, options?: CallOptions): Promise<Member>;
    /** Change a role. Changes someone’s role in the account. At least one owner always remains. */
    update(input: {
      /** Id of the person. */
      id: string;
      /** viewer: reads. developer: also sends and edits. owner: also team and account. */
      role: "viewer" | "developer" | "owner";
    }, options?: CallOptions): Promise<Member>;
    /** Remove someone from the team. They are signed out of the account at once. Keys they created keep working. At least one owner always remains. */
    remove(input: {
      /** Id of the person. */
      id: string;
    }, options?: CallOptions): Promise<Member>;
    /** List invitations. Who was invited to the account and has not joined yet. */
    listInvitations(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Invitation>;
    /** Invite someone to the team. Emails them a link, which only they get to see: whoever has it chooses a password and joins. It works once, for a week. */
    invite(input: {
      /** Their address. */
      email: string;
      /** viewer: reads. developer: also sends and edits. owner: also team and account. */
      role: "viewer" | "developer" | "owner";
    }, options?: CallOptions): Promise<InviteMemberAnswer>;
    /** Withdraw an invitation. The emailed link stops working. */
    withdrawInvitation(input: {
      /** Id of the invitation. */
      id: string;
    }, options?: CallOptions): Promise<Invitation>;
  };
  account: {
    /** Read the account. The account’s plan, quota and switches, and what is held back and why. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Account>;
    /** Change the account. Changes the fields you give. Tracking applies to emails sent from now on. */
    update(input?: {
      /** Name of the account. */
      name?: string | undefined;
      /** An invisible image records when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which records clicks. */
      track_clicks?: boolean | undefined;
      /** Email programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
      /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
      refuse_unaligned?: boolean | undefined;
      /** Every send is linted; findings come in the header `X-SM-Warning`. */
      lint_sends?: boolean | undefined;
      /** Language of its emails where a send names none, such as `de`; null: English. */
      locale?: string | null | undefined;
    }, options?: CallOptions): Promise<Account>;
    retention: {
      /** Read how long data is kept. For how many days the account keeps messages and their contents, if fewer than the service as a whole. */
      get(input?: Record<string, never>, options?: CallOptions): Promise<Retention>;
      /** Set how long data is kept. Keeps messages and their contents for fewer days than the service does. What is older is deleted permanently within minutes; email that still has to go out stays. */
      put(input: {
        /** Days for which messages and their timelines are kept. Null: as long as the service does. */
        retention_days: number | null;
        /** Days for which the content of emails is kept, with copies in the sandbox and in reports. Null: as long as the service does. */
        content_retention_days: number | null;
      }, options?: CallOptions): Promise<Retention>;
    };
  };
  usage: {
    /** Read the usage. What is left of today’s quota, and whether the account can send. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Usage>;
    /** Read statistics. How many messages the account sent on recent days, and what happened to them. */
    statistics(input?: {
      /** Days, 1 to 90; one day is returned by the hour. */
      days?: number | undefined;
    }, options?: CallOptions): Promise<Statistics>;
    /** Read analytics by recipient. What happened to the recipients of recent days, by hour or day, and by template, tag, stream or the receiver’s domain; why some bounced and how long delivery took. */
    analytics(input?: {
      /** Days, 1 to 90; one day is returned by the hour. */
      days?: number | undefined;
      /** What the figures are broken down by. */
      by?: "template" | "tag" | "stream" | "domain" | "relay" | undefined;
    }, options?: CallOptions): Promise<Analytics>;
    /** Read statistics by receiver. What happened to the account’s email at each large mailbox provider, day by day, with the wording of their refusals. A provider is identified by the host that answered, if a report names it, otherwise by the domain of the address. */
    receivers(input?: {
      /** Days, 1 to 90. */
      days?: number | undefined;
    }, options?: CallOptions): Promise<GetReceiverStatisticsAnswer>;
    /** List what needs attention. What keeps the account from sending or will soon, and what to do about it. */
    listAlerts(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Alert>;
  };
  audit: {
    /** List changes. Every change to the account: who made it, when, and through which door. Newest first. */
    list(input?: {
      /** Only this operation. */
      action?: string | undefined;
      /** Only what was done to this. */
      target?: string | undefined;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<AuditEntry>;
  };
  accounts: {
    /** List all accounts. Every account of this service. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<OperatedAccount>;
    /** Read any account. One account with its figures and state. For operators only. */
    get(input: {
      /** Number of the account. */
      id: number;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Create an account. Creates an account and, with `owner_email`, invites its owner. If no email can be sent, the answer contains the link: pass it on to the owner only. For operators only. */
    create(input: {
      /** Name of the account. */
      name: string;
      /** free: it cannot send. paid: it can. */
      plan: "free" | "paid";
      /** Recipients per UTC day: to, cc and bcc together. */
      daily_quota?: number | undefined;
      /** Send calls per second. */
      rate_per_second?: number | undefined;
      /** Emails handed over at a time, across all processes; 0: no limit. */
      delivery_limit?: number | undefined;
      /** Its quota on the first day, doubled every day; 0: no ramp. */
      ramp_start?: number | undefined;
      /** When the connection broke after an email: whether it is sent again. */
      unknown_outcome?: "send_again" | "count_as_sent" | undefined;
      /** An invisible image records when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which records clicks. */
      track_clicks?: boolean | undefined;
      /** Email programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
      /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
      refuse_unaligned?: boolean | undefined;
      /** Every send is linted; findings come in the header `X-SM-Warning`. */
      lint_sends?: boolean | undefined;
      /** Gets an invitation as its owner. */
      owner_email?: string | undefined;
    }, options?: CallOptions): Promise<CreateAccountAnswer>;
    /** Change any account. Changes the plan, limits and settings you give. For operators only. */
    update(input: {
      /** Number of the account. */
      id: number;
      /** Name of the account. */
      name?: string | undefined;
      /** free: it cannot send. paid: it can. */
      plan?: "free" | "paid" | undefined;
      /** Recipients per UTC day: to, cc and bcc together. */
      daily_quota?: number | undefined;
      /** Send calls per second. */
      rate_per_second?: number | undefined;
      /** Emails handed over at a time, across all processes; 0: no limit. */
      delivery_limit?: number | undefined;
      /** Its quota on the first day, doubled every day; 0: no ramp. */
      ramp_start?: number | undefined;
      /** When the connection broke after an email: whether it is sent again. */
      unknown_outcome?: "send_again" | "count_as_sent" | undefined;
      /** An invisible image records when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which records clicks. */
      track_clicks?: boolean | undefined;
      /** Email programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
      /** Email from a sender that cannot pass DMARC is refused with 403; otherwise its answer has the header `X-SM-Warning`. */
      refuse_unaligned?: boolean | undefined;
      /** Every send is linted; findings come in the header `X-SM-Warning`. */
      lint_sends?: boolean | undefined;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Suspend an account. Its keys are refused at once; its people can still sign in and read. What it has queued or scheduled is held until it is resumed. For operators only. */
    suspend(input: {
      /** Number of the account. */
      id: number;
      /** The reason, shown to the people in the account. */
      reason: string;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Pause an account. Its sends are refused at once and what is queued waits; its keys still read. For operators only. */
    pause(input: {
      /** Number of the account. */
      id: number;
      /** The reason, shown to the people in the account. */
      reason: string;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Resume an account. Ends a suspension or a pause: its keys work again, and what waited is delivered. Earlier bounces and complaints no longer count. For operators only. */
    resume(input: {
      /** Number of the account. */
      id: number;
    }, options?: CallOptions): Promise<OperatedAccount>;
  };
  service: {
    /** Read the state of the service. Which processes are running, and whether a role is missing. For operators only. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<GetServiceStateAnswer>;
  };
  quarantine: {
    /** List emails that were set aside. Emails that could not be read, composed or recorded, and are not retried until they are released. Oldest first. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<SetAsideMessage>;
    /** Release an email that was set aside. Queues it again. Fix the cause first. For operators only. */
    release(input: {
      /** Id of the message. */
      id: string;
    }, options?: CallOptions): Promise<ReleaseFromQuarantineAnswer>;
    /** Release all emails that were set aside. Queues all of them again. Fix the cause first. For operators only. */
    releaseAll(input?: Record<string, never>, options?: CallOptions): Promise<ReleaseAllFromQuarantineAnswer>;
  };
  relays: {
    /** List relays. Where emails are handed over, and the state of each relay. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100. Without it: all. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Relay>;
    /** Read a relay. One relay: its address, its settings and its state. For operators only. */
    get(input: {
      /** Name of the relay. `default` is the one of RELAY_URL. */
      name: string;
    }, options?: CallOptions): Promise<Relay>;
    /** Add a relay. Connects and logs in to test it, then saves it. Email goes through it at once, according to its rules or weight. For operators only. */
    add(input: {
      /** Name of the relay. `default` is the one of RELAY_URL. */
      name: string;
      /** smtp://user:password@host:port, or smtps:// for TLS from the first byte. */
      url: string;
      /** Its share of the email that no rule sends elsewhere, relative to the other weights. 0: only by rule, or when no other relay can take it. */
      weight?: number | undefined;
      /** Connections of one delivery process; null: as RELAY_CONNECTIONS says. */
      connections?: number | null | undefined;
      /** Emails per second, across all processes; null: no limit. */
      rate_per_second?: number | null | undefined;
      /** Emails per UTC day, across all processes; null: no limit. */
      daily_limit?: number | null | undefined;
      /** Whether email goes through it. */
      enabled?: boolean | undefined;
      /** Email that matches one of them goes to this relay, and to others only when it cannot take it. The rule with the most conditions wins; equal ones share by weight. */
      rules?: ({
        /** The sender’s domain. */
        from_domain?: string | undefined;
        /** The stream. */
        stream?: string | undefined;
        /** The account. */
        account_id?: number | undefined;
        /** One of the tags. */
        tag?: string | undefined;
        /** The recipient’s domain. */
        recipient_domain?: string | undefined;
      })[] | undefined;
      /** Saves the address even if the relay cannot be reached now. */
      untested?: boolean | undefined;
    }, options?: CallOptions): Promise<Relay>;
    /** Change a relay. Changes the fields you give; a new address is tested before it is saved. Emails the relay is working on are finished; the rest follow the new settings. For operators only. */
    update(input: {
      /** Name of the relay. `default` is the one of RELAY_URL. */
      name: string;
      /** smtp://user:password@host:port, or smtps:// for TLS from the first byte. */
      url?: string | undefined;
      /** Its share of the email that no rule sends elsewhere, relative to the other weights. 0: only by rule, or when no other relay can take it. */
      weight?: number | undefined;
      /** Connections of one delivery process; null: as RELAY_CONNECTIONS says. */
      connections?: number | null | undefined;
      /** Emails per second, across all processes; null: no limit. */
      rate_per_second?: number | null | undefined;
      /** Emails per UTC day, across all processes; null: no limit. */
      daily_limit?: number | null | undefined;
      /** Whether email goes through it. */
      enabled?: boolean | undefined;
      /** Email that matches one of them goes to this relay, and to others only when it cannot take it. The rule with the most conditions wins; equal ones share by weight. */
      rules?: ({
        /** The sender’s domain. */
        from_domain?: string | undefined;
        /** The stream. */
        stream?: string | undefined;
        /** The account. */
        account_id?: number | undefined;
        /** One of the tags. */
        tag?: string | undefined;
        /** The recipient’s domain. */
        recipient_domain?: string | undefined;
      })[] | undefined;
      /** Saves the address even if the relay cannot be reached now. */
      untested?: boolean | undefined;
    }, options?: CallOptions): Promise<Relay>;
    /** Remove a relay. No more email goes through it; what it has not started goes to the others. The last one is removed only with `into_sandbox`: from then on the sandbox captures all email and nothing is delivered. For operators only. */
    remove(input: {
      /** Name of the relay. `default` is the one of RELAY_URL. */
      name: string;
      /** Removes the last relay too: email is then captured and not delivered. */
      into_sandbox?: boolean | undefined;
    }, options?: CallOptions): Promise<Relay>;
    /** Test a relay. Connects, logs in and disconnects; no email is sent. Says whether it reports deliveries. For operators only. */
    test(input: {
      /** Name of the relay. `default` is the one of RELAY_URL. */
      name: string;
    }, options?: CallOptions): Promise<RelayTest>;
  };
  feedback: {
    /** List email to postmaster, abuse and the feedback listener. What people wrote to postmaster@ and abuse@ of BOUNCE_DOMAIN, and reports that led to no event, newest first. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
      /** Only what was written to postmaster@ and abuse@. */
      for_people?: boolean | undefined;
    }, options?: CallOptions): Pages<KeptEmail>;
    /** Read an email that was kept. One of them as received, up to 128 KB. A stranger wrote it: be careful with its links. For operators only. */
    get(input: {
      /** Its id. */
      id: string;
    }, options?: CallOptions): Promise<GetKeptFeedbackAnswer>;
  };
}

/** The event types of webhooks. */
export const EVENT_TYPES = ['delivery', 'open', 'click', 'bounce', 'complaint', 'subscription'] as const;

/** Method, path and what may be retried, by the name of the call. */
export const ROUTES = {
  'send': { method: 'POST', path: '/v1/send', sends: true },
  'sendBatch': { method: 'POST', path: '/v1/send/batch', sends: true },
  'sendPreview': { method: 'POST', path: '/v1/send/preview' },
  'messages.get': { method: 'GET', path: '/v1/messages/{sm_mail_id}' },
  'messages.explain': { method: 'GET', path: '/v1/messages/{sm_mail_id}/explanation' },
  'messages.wait': { method: 'GET', path: '/v1/messages/{sm_mail_id}/wait' },
  'messages.reschedule': { method: 'PATCH', path: '/v1/messages/{sm_mail_id}' },
  'messages.cancel': { method: 'POST', path: '/v1/messages/{sm_mail_id}/cancel' },
  'approvals.list': { method: 'GET', path: '/v1/approvals', list: true },
  'approvals.get': { method: 'GET', path: '/v1/approvals/{sm_mail_id}' },
  'approvals.approve': { method: 'POST', path: '/v1/approvals/{sm_mail_id}/approve' },
  'approvals.decline': { method: 'POST', path: '/v1/approvals/{sm_mail_id}/decline' },
  'messages.list': { method: 'GET', path: '/v1/messages', list: true },
  'messages.details': { method: 'GET', path: '/v1/messages/{sm_mail_id}/details' },
  'messages.listAttempts': { method: 'GET', path: '/v1/messages/{sm_mail_id}/attempts', list: true },
  'messages.listWebhooks': { method: 'GET', path: '/v1/messages/{sm_mail_id}/webhooks', list: true },
  'messages.resolve': { method: 'POST', path: '/v1/messages/{sm_mail_id}/resolve' },
  'messages.content': { method: 'GET', path: '/v1/messages/{sm_mail_id}/content' },
  'messages.source': { method: 'GET', path: '/v1/messages/{sm_mail_id}/source' },
  'messages.attachment': { method: 'GET', path: '/v1/messages/{sm_mail_id}/attachments/{index}' },
  'messages.sendAgain': { method: 'POST', path: '/v1/messages/{sm_mail_id}/send-again', sends: true },
  'templates.list': { method: 'GET', path: '/v1/templates', list: true },
  'templates.get': { method: 'GET', path: '/v1/templates/{slug}' },
  'templates.listOwn': { method: 'GET', path: '/v1/own-templates', list: true },
  'templates.listVersions': { method: 'GET', path: '/v1/templates/{slug}/versions', list: true },
  'templates.getVersion': { method: 'GET', path: '/v1/templates/{slug}/versions/{version}' },
  'templates.clone': { method: 'POST', path: '/v1/templates/{slug}/clone' },
  'templates.put': { method: 'PUT', path: '/v1/templates/{slug}', ifMatch: 'base_version' },
  'templates.publish': { method: 'POST', path: '/v1/templates/{slug}/publish', ifMatch: 'base_version' },
  'templates.rollBack': { method: 'POST', path: '/v1/templates/{slug}/roll-back' },
  'templates.archive': { method: 'POST', path: '/v1/templates/{slug}/archive' },
  'templates.render': { method: 'POST', path: '/v1/templates/{slug}/render' },
  'templates.renderSeveral': { method: 'POST', path: '/v1/templates/render', list: true },
  'templates.testSend': { method: 'POST', path: '/v1/templates/{slug}/test-send', sends: true },
  'lint.check': { method: 'POST', path: '/v1/lint' },
  'templates.rehearse': { method: 'POST', path: '/v1/templates/{slug}/rehearse' },
  'branding.get': { method: 'GET', path: '/v1/branding' },
  'branding.setLogo': { method: 'PUT', path: '/v1/branding/logo', ifMatch: 'base_version' },
  'branding.set': { method: 'PATCH', path: '/v1/branding', ifMatch: 'base_version' },
  'branding.preview': { method: 'POST', path: '/v1/branding/preview' },
  'branding.rehearse': { method: 'POST', path: '/v1/branding/rehearse' },
  'domains.list': { method: 'GET', path: '/v1/domains', list: true },
  'domains.get': { method: 'GET', path: '/v1/domains/{domain}' },
  'domains.getDns': { method: 'GET', path: '/v1/domains/{domain}/dns' },
  'domains.put': { method: 'PUT', path: '/v1/domains/{domain}' },
  'domains.check': { method: 'POST', path: '/v1/domains/{domain}/check' },
  'domains.rotate': { method: 'POST', path: '/v1/domains/{domain}/rotate' },
  'domains.remove': { method: 'DELETE', path: '/v1/domains/{domain}' },
  'addresses.list': { method: 'GET', path: '/v1/addresses', list: true },
  'addresses.get': { method: 'GET', path: '/v1/addresses/{address}' },
  'addresses.put': { method: 'PUT', path: '/v1/addresses/{address}' },
  'addresses.verify': { method: 'POST', path: '/v1/addresses/{address}/verify' },
  'addresses.remove': { method: 'DELETE', path: '/v1/addresses/{address}' },
  'streams.list': { method: 'GET', path: '/v1/streams', list: true },
  'streams.get': { method: 'GET', path: '/v1/streams/{name}' },
  'streams.put': { method: 'PUT', path: '/v1/streams/{name}' },
  'streams.remove': { method: 'DELETE', path: '/v1/streams/{name}' },
  'suppressions.list': { method: 'GET', path: '/v1/suppressions', list: true },
  'suppressions.get': { method: 'GET', path: '/v1/suppressions/{address}' },
  'suppressions.put': { method: 'PUT', path: '/v1/suppressions/{address}' },
  'suppressions.add': { method: 'POST', path: '/v1/suppressions' },
  'suppressions.remove': { method: 'DELETE', path: '/v1/suppressions/{address}' },
  'recipients.export': { method: 'GET', path: '/v1/recipients/{address}' },
  'recipients.erase': { method: 'DELETE', path: '/v1/recipients/{address}' },
  'webhooks.list': { method: 'GET', path: '/v1/webhooks', list: true },
  'webhooks.get': { method: 'GET', path: '/v1/webhooks/{id}' },
  'webhooks.create': { method: 'POST', path: '/v1/webhooks' },
  'webhooks.update': { method: 'PATCH', path: '/v1/webhooks/{id}' },
  'webhooks.remove': { method: 'DELETE', path: '/v1/webhooks/{id}' },
  'webhooks.rotate': { method: 'POST', path: '/v1/webhooks/{id}/rotate' },
  'webhooks.test': { method: 'POST', path: '/v1/webhooks/{id}/test' },
  'webhooks.listDeliveries': { method: 'GET', path: '/v1/webhooks/{id}/deliveries', list: true },
  'webhooks.getDelivery': { method: 'GET', path: '/v1/webhooks/{id}/deliveries/{delivery_id}' },
  'webhooks.retryDelivery': { method: 'POST', path: '/v1/webhooks/{id}/deliveries/{delivery_id}/retry' },
  'webhooks.replay': { method: 'POST', path: '/v1/webhooks/{id}/replay' },
  'sandbox.list': { method: 'GET', path: '/v1/sandbox/messages', list: true },
  'sandbox.listAddresses': { method: 'GET', path: '/v1/simulator-addresses', list: true },
  'sandbox.get': { method: 'GET', path: '/v1/sandbox/messages/{id}' },
  'sandbox.raw': { method: 'GET', path: '/v1/sandbox/messages/{id}/raw' },
  'sandbox.html': { method: 'GET', path: '/v1/sandbox/messages/{id}/html' },
  'sandbox.clear': { method: 'DELETE', path: '/v1/sandbox/messages' },
  'keys.list': { method: 'GET', path: '/v1/keys', list: true },
  'keys.get': { method: 'GET', path: '/v1/keys/{id}' },
  'keys.create': { method: 'POST', path: '/v1/keys' },
  'keys.revoke': { method: 'DELETE', path: '/v1/keys/{id}' },
  'team.list': { method: 'GET', path: '/v1/team', list: true },
  'team.get': { method: 'GET', path: '/v1/team/{id}' },
  'team.update': { method: 'PATCH', path: '/v1/team/{id}' },
  'team.remove': { method: 'DELETE', path: '/v1/team/{id}' },
  'team.listInvitations': { method: 'GET', path: '/v1/team/invitations', list: true },
  'team.invite': { method: 'POST', path: '/v1/team/invitations' },
  'team.withdrawInvitation': { method: 'DELETE', path: '/v1/team/invitations/{id}' },
  'account.get': { method: 'GET', path: '/v1/account' },
  'account.update': { method: 'PATCH', path: '/v1/account' },
  'account.retention.get': { method: 'GET', path: '/v1/account/retention' },
  'account.retention.put': { method: 'PUT', path: '/v1/account/retention' },
  'usage.get': { method: 'GET', path: '/v1/usage' },
  'usage.statistics': { method: 'GET', path: '/v1/statistics' },
  'usage.analytics': { method: 'GET', path: '/v1/analytics' },
  'usage.receivers': { method: 'GET', path: '/v1/statistics/receivers' },
  'usage.listAlerts': { method: 'GET', path: '/v1/alerts', list: true },
  'audit.list': { method: 'GET', path: '/v1/audit', list: true },
  'accounts.list': { method: 'GET', path: '/v1/accounts', list: true },
  'accounts.get': { method: 'GET', path: '/v1/accounts/{id}' },
  'accounts.create': { method: 'POST', path: '/v1/accounts' },
  'accounts.update': { method: 'PATCH', path: '/v1/accounts/{id}' },
  'accounts.suspend': { method: 'POST', path: '/v1/accounts/{id}/suspend' },
  'accounts.pause': { method: 'POST', path: '/v1/accounts/{id}/pause' },
  'accounts.resume': { method: 'POST', path: '/v1/accounts/{id}/resume' },
  'service.get': { method: 'GET', path: '/v1/service' },
  'quarantine.list': { method: 'GET', path: '/v1/quarantine', list: true },
  'quarantine.release': { method: 'POST', path: '/v1/quarantine/{id}/release' },
  'quarantine.releaseAll': { method: 'POST', path: '/v1/quarantine/release' },
  'relays.list': { method: 'GET', path: '/v1/relays', list: true },
  'relays.get': { method: 'GET', path: '/v1/relays/{name}' },
  'relays.add': { method: 'POST', path: '/v1/relays' },
  'relays.update': { method: 'PATCH', path: '/v1/relays/{name}' },
  'relays.remove': { method: 'DELETE', path: '/v1/relays/{name}' },
  'relays.test': { method: 'POST', path: '/v1/relays/{name}/test' },
  'feedback.list': { method: 'GET', path: '/v1/feedback', list: true },
  'feedback.get': { method: 'GET', path: '/v1/feedback/{id}' },
} as const;
