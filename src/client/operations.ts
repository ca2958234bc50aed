// Generated from the operations by `npm run generate`; change them there.
import type { CallOptions, Pages } from './calls.ts';

export interface HtmlBody {
  subject: string;
  html: string;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
}

export interface PlainTextBody {
  subject: string;
  text: string;
  html?: never | undefined;
  template?: never | undefined;
  variables?: Record<string, unknown> | undefined;
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

export interface MessageTimeline {
  /** The message id. */
  sm_mail_id: string;
  /** The owning account, as a string. */
  user_id: string;
  /** The current status: the highest rank seen. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** What happened, oldest first. */
  events: (SentEvent | DeliveredEvent | OpenedEvent | ClickedEvent | BouncedEvent | ComplainedEvent)[];
}

/** The relay took the mail. */
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

/** The receiving server took the mail. */
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

/** The mail was opened. */
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

/** A link in the mail was followed. */
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

/** The mail will not arrive. */
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
  /** True when the account writes no more to the address because of it. */
  suppressed?: boolean | undefined;
}

/** A recipient reported the mail as unwanted. */
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

export interface MessageSummary {
  /** The message id, `sm_mail_id` in the call that tells its story. */
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
  /** Where it came in. */
  door: "rest" | "mcp" | "dashboard" | "cli" | "system";
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
}

export interface MessageDetails {
  /** The message id, `sm_mail_id` in the call that tells its story. */
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
  /** Where it came in. */
  door: "rest" | "mcp" | "dashboard" | "cli" | "system";
  /** When it was accepted: ISO 8601, UTC. */
  created_at: string;
  /** What happened, oldest first. */
  events: (SentEvent | DeliveredEvent | OpenedEvent | ClickedEvent | BouncedEvent | ComplainedEvent)[];
  /** What became of each recipient’s copy. */
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
  /** Its id at the relay, once it took it. */
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
    /** Those of them of whom nobody knows whether the relay has the email. */
    unknown: string[];
    /** What the relay said last. */
    last_response: string | null;
    /** Why it is not tried any more; null: it is. */
    set_aside: string | null;
  } | null;
}

export interface RecipientState {
  /** The recipient. */
  address: string;
  /** How they were addressed. */
  kind: "to" | "cc" | "bcc";
  /** What became of their copy. */
  status: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained";
  /** Since when: ISO 8601, UTC; null: it is still queued. */
  at: string | null;
  /** What the last mail server said about it. */
  response: string | null;
}

export interface DeliveryAttempt {
  /** When: ISO 8601, UTC. */
  at: string;
  /** Which; null: a report of the relay. */
  attempt: number | null;
  /** Who was asked, or who reported. */
  server: string;
  /** What it said about each. */
  recipients: ({
    /** About whom. */
    recipient: string;
    /** unknown: the line was cut after the email. */
    result: "deferred" | "unknown";
    /** What the server said. */
    reply: string;
  })[];
  /** When it was to be tried next; null: not any more. */
  next_at: string | null;
}

export interface WebhookDelivery {
  /** Id of the delivery. */
  id: string;
  /** The endpoint it goes to. */
  endpoint_id: string;
  /** The message that the event is about. */
  message_id: string;
  /** Id of the event, the same over retries and replays. */
  event_id: string;
  /** What happened. */
  event_type: "delivery" | "open" | "click" | "bounce" | "complaint";
  /** pending: it is tried again. abandoned: it was tried often enough. */
  state: "pending" | "delivered" | "abandoned";
  /** How often it was tried. */
  attempts: number;
  /** When it happened: ISO 8601, UTC. */
  created_at: string;
  /** When it was tried last. */
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
  /** Whom it was about. */
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
  /** Recipients who stand in no header. */
  bcc: string[];
  /** Where answers go; null: to the sender. */
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
    /** Its place, for the call that answers it. */
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
  /** What people call it. */
  name: string;
  /** What it is about. */
  category: string;
  /** When to use it. */
  description: string;
  /** The subject as it is written, in Jinja2. */
  subject: string;
  /** What it can be filled with. */
  variables: ({
    /** Name of the variable. */
    name: string;
    /** Whether a send without it is refused. */
    required: boolean;
    /** What it must be: string, number, boolean, array or object. */
    type: string;
    /** What it is for. */
    description: string;
    /** A value that fits. */
    example?: unknown | undefined;
  })[];
  /** A complete set of variables, to be copied and changed. It is made up. */
  sample: Record<string, unknown>;
  /** The plain text of the mail, rendered with the sample and the account’s branding. */
  preview: string;
}

export interface OwnTemplate {
  /** What a send takes as `template`. */
  slug: string;
  /** What people call it. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
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
  /** What people call it. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
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
  /** Preview line of mail programs, Jinja2. */
  preheader: string;
  /** HTML, Jinja2. May extend layout.html and import macros.html. */
  html: string;
  /** Plain text, Jinja2. Derived from the HTML when null or blank. */
  text: string | null;
  /** What it can be filled with. */
  variables: TemplateVariable[];
  /** Variables that show the template at its best. */
  sample: Record<string, unknown>;
}

export interface TemplateVariable {
  /** A name, or a path such as event.name. */
  name: string;
  /** Whether a send without it is refused. */
  required: boolean;
  /** What it must be; string by default. */
  type: "string" | "number" | "boolean" | "array" | "object";
  /** What it is for. */
  description: string;
  /** A value that fits. */
  example?: unknown | undefined;
}

export interface UpdateTemplateAnswer {
  /** What a send takes as `template`. */
  slug: string;
  /** What people call it. */
  name: string;
  /** What it is about. */
  category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
  /** When to use it. */
  description: string;
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
}

export interface RenderedMail {
  /** The subject. */
  subject: string;
  /** The HTML, without tracking. */
  html: string;
  /** The plain text. */
  text: string;
}

export interface TemplatePreview {
  /** Slug of the template. */
  slug: string;
  /** The mail; null: it cannot be rendered. */
  mail: RenderedMail | null;
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

export interface SendTestEmailAnswer {
  /** Message id. Use it as sm_mail_id in later calls. */
  id: string;
  /** Always `queued`: delivery is asynchronous. */
  status: "queued";
}

export interface Branding {
  /** Raised by every change; 0: nothing was ever set. */
  version: number;
  /** The fields that have a value. */
  branding: {
    /** Sender name in the footer. */
    brand_name?: string | undefined;
    /** Header logo. Without it the header is text. */
    logo_url?: string | undefined;
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
    /** Adds a Privacy Policy link to every footer. */
    privacy_policy_url?: string | undefined;
    /** Adds a Terms & Conditions link to every footer. */
    terms_url?: string | undefined;
  };
  /** What stands where nothing is set. */
  defaults: {
    /** Sender name in the footer. */
    brand_name?: string | undefined;
    /** Header logo. Without it the header is text. */
    logo_url?: string | undefined;
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
  /** The colour of the text that emails put on it. */
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

export interface Domain {
  /** The domain. */
  domain: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who says so: the operator, its DNS, or who reads its mail; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** What to publish in DNS. Empty: it has no signing keys; add it again to get them. */
  records: DomainRecord[];
  /** When DNS was asked last: ISO 8601, UTC. */
  checked_at: string | null;
}

export interface DomainRecord {
  /** What it is for. `ownership` decides whether the domain is verified. */
  purpose: "ownership" | "dkim-rsa" | "dkim-ed25519" | "spf" | "dmarc" | "return-path";
  /** Type of the DNS record. */
  type: "TXT" | "CNAME";
  /** Name of the DNS record. */
  name: string;
  /** What it must hold. */
  value: string;
  /** What the last check found; null: none was made. */
  check: {
    /** missing: it is not there or differs. unknown: DNS did not answer. */
    state: "ok" | "missing" | "unknown";
    /** What DNS has instead. */
    seen: string[];
    /** What is wrong and what to do. */
    note: string | null;
  } | null;
}

export interface SenderAddress {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who says so: the operator, its DNS, or who reads its mail; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the link that was mailed can be used; null: there is none. */
  link_until: string | null;
}

export interface AddAddressAnswer {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who says so: the operator, its DNS, or who reads its mail; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the link that was mailed can be used; null: there is none. */
  link_until: string | null;
  /** Id of the message with the link. */
  verification_mail: string | null;
  /** Why no link was mailed, where one was needed. */
  note: string | null;
}

export interface VerifyAddressAnswer {
  /** The address. */
  address: string;
  /** Whether the account may send from it. */
  verified: boolean;
  /** Who says so: the operator, its DNS, or who reads its mail; null: nobody yet. */
  verified_by: "operator" | "dns" | "link" | null;
  /** When it was added: ISO 8601, UTC. */
  created_at: string;
  /** Until when the link that was mailed can be used; null: there is none. */
  link_until: string | null;
  /** Id of the message with the link. */
  verification_mail: string | null;
  /** Why no link was mailed, where one was needed. */
  note: string | null;
}

export interface Suppression {
  /** The address, in the form in which addresses are compared. */
  address: string;
  /** Why nobody writes to it any more. */
  reason: "bounce" | "complaint" | "unsubscribe" | "manual";
  /** The message that led to it. */
  message_id: string | null;
  /** Since when: ISO 8601, UTC. */
  created_at: string;
}

export interface AddSuppressionsAnswer {
  /** How many were not on the list yet. */
  added: number;
  /** How many were on it already, or were given twice. */
  present: number;
}

export interface WebhookEndpoint {
  /** Id of the endpoint. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** Which events; empty: all. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it failed in a row, up to now. */
  failures: number;
  /** Nothing but failures since then; null: it works. */
  failing_since: string | null;
  /** Nothing is tried before then, since it keeps failing. */
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
  /** Which events; empty: all. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it failed in a row, up to now. */
  failures: number;
  /** Nothing but failures since then; null: it works. */
  failing_since: string | null;
  /** Nothing is tried before then, since it keeps failing. */
  paused_until: string | null;
  /** After a rotation: the old secret signs too until then. */
  previous_secret_until: string | null;
  /** Deliveries that wait for it; counted up to 10,000. */
  waiting: number;
  /** The signing secret, shown this once. */
  secret: string;
  /** What is odd about the address, when something is. */
  warning?: string | undefined;
}

export interface RotateWebhookSecretAnswer {
  /** Id of the endpoint. */
  id: string;
  /** Where events are posted to. */
  url: string;
  /** Which events; empty: all. */
  event_types: ("delivery" | "open" | "click" | "bounce" | "complaint")[];
  /** Whether events come one at a time and in order. */
  fifo: boolean;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** Since when it gets nothing; null: it is in use. */
  disabled_at: string | null;
  /** owner: by hand. gone: it answered 410. failing: it failed too long. */
  disabled_reason: "owner" | "gone" | "failing" | null;
  /** How often it failed in a row, up to now. */
  failures: number;
  /** Nothing but failures since then; null: it works. */
  failing_since: string | null;
  /** Nothing is tried before then, since it keeps failing. */
  paused_until: string | null;
  /** After a rotation: the old secret signs too until then. */
  previous_secret_until: string | null;
  /** Deliveries that wait for it; counted up to 10,000. */
  waiting: number;
  /** The signing secret, shown this once. */
  secret: string;
}

export interface TestWebhookEndpointAnswer {
  /** Whether the endpoint took it. */
  ok: boolean;
  /** What it answered; null: nothing. */
  status: number | null;
  /** Why it failed. */
  error: string | null;
  /** How long it took. */
  duration_ms: number;
  /** What was posted. */
  request_body: string;
  /** What the endpoint wrote back, cut when it is long. */
  response_body: string;
}

export interface GetWebhookDeliveryAnswer {
  /** Id of the delivery. */
  id: string;
  /** The endpoint it goes to. */
  endpoint_id: string;
  /** The message that the event is about. */
  message_id: string;
  /** Id of the event, the same over retries and replays. */
  event_id: string;
  /** What happened. */
  event_type: "delivery" | "open" | "click" | "bounce" | "complaint";
  /** pending: it is tried again. abandoned: it was tried often enough. */
  state: "pending" | "delivered" | "abandoned";
  /** How often it was tried. */
  attempts: number;
  /** When it happened: ISO 8601, UTC. */
  created_at: string;
  /** When it was tried last. */
  attempted_at: string | null;
  /** When it is tried next, while it is pending. */
  next_attempt_at: string | null;
  /** What the endpoint answered last. */
  status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** How long the last attempt took. */
  duration_ms: number | null;
  /** Null when the event is older than what is kept. */
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

export interface CapturedMail {
  /** Id of the captured mail. */
  id: string;
  /** When: ISO 8601, UTC. */
  captured_at: string;
  /** Sender of the envelope. */
  from: string;
  /** Recipients of the envelope. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The message it is a copy of. */
  message_id: string | null;
  /** Bytes. */
  size: number;
}

export interface SimulatorAddress {
  /** Send to it. */
  address: string;
  /** What becomes of the mail. */
  plays: string;
}

export interface CapturedContent {
  /** Id of the captured mail. */
  id: string;
  /** When: ISO 8601, UTC. */
  captured_at: string;
  /** Sender of the envelope. */
  from: string;
  /** Recipients of the envelope. */
  recipients: string[];
  /** The subject. */
  subject: string;
  /** The message it is a copy of. */
  message_id: string | null;
  /** Bytes. */
  size: number;
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
  /** The mail as it went over the wire, its first 4 MB. */
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
  scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read")[];
  /** Rules that its sends must keep; null: none. */
  rules: {
    /** It may write only to these addresses and domains; null: to anybody. */
    allowed_recipients: string[] | null;
    /** It may send templates only, without words of its own. */
    templates_only: boolean;
    /** It may not send hidden copies. */
    no_bcc: boolean;
    /** Recipients a UTC day, below the account’s quota; null: no cap of its own. */
    daily_cap: number | null;
    /** Its mail goes to the sandbox and never leaves. */
    sandbox_only: boolean;
  } | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** When it ends; null: not by itself. */
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
  scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read")[];
  /** Rules that its sends must keep; null: none. */
  rules: {
    /** It may write only to these addresses and domains; null: to anybody. */
    allowed_recipients: string[] | null;
    /** It may send templates only, without words of its own. */
    templates_only: boolean;
    /** It may not send hidden copies. */
    no_bcc: boolean;
    /** Recipients a UTC day, below the account’s quota; null: no cap of its own. */
    daily_cap: number | null;
    /** Its mail goes to the sandbox and never leaves. */
    sandbox_only: boolean;
  } | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: string[] | null;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** When it ends; null: not by itself. */
  expires_at: string | null;
  /** When it was used last. */
  last_used_at: string | null;
  /** Since when it is refused; null: it is not. */
  revoked_at: string | null;
  /** The key itself, shown this once. */
  secret: string;
}

export interface Member {
  /** Id of the person. */
  id: string;
  /** With which they sign in. */
  email: string;
  /** What they are called. */
  name: string;
  /** viewer: reads. developer: also sends and edits. owner: also team and account. */
  role: "viewer" | "developer" | "owner";
  /** Whether they operate the service. */
  operator: boolean;
  /** Whether it is who asks. */
  you: boolean;
  /** Since when they belong to the account: ISO 8601, UTC. */
  joined_at: string;
  /** When they were signed in last. */
  last_seen_at: string | null;
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
  /** There is no relay: the mail is in the sandbox, where operators can open it. */
  captured: boolean;
}

export interface Account {
  /** Number of the account. */
  id: number;
  /** What people call it. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** How much it may send. */
  quota: {
    /** Recipients today, to, cc and bcc together. */
    limit: number;
    /** How many of them are used. */
    used: number;
    /** How many are left. */
    left: number;
    /** When the count starts anew: ISO 8601, UTC. */
    resets_at: string;
    /** Send calls a second. */
    rate_per_second: number;
  };
  /** The operator stopped it; null: no. */
  suspended: Halt | null;
  /** It may not send for now, and what is queued waits; null: it may. */
  paused: Halt | null;
  /** An invisible image tells when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which tells of clicks. */
  track_clicks: boolean;
  /** Mail programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
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
  /** Why; the people of the account read it. */
  reason: string;
}

export interface Usage {
  /** Recipients that the account may write to today (UTC). */
  limit: number;
  /** How many it wrote to. */
  used: number;
  /** How many are left. */
  left: number;
  /** When the quota starts anew: ISO 8601, UTC. */
  resets_at: string;
  /** Send calls a second. */
  rate_per_second: number;
  /** Whether the account ever sent anything itself. */
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
    /** Of them delivered, whatever came after. */
    delivered: number;
    /** Of them opened by somebody. */
    opened: number;
    /** Of them with a link that was followed. */
    clicked: number;
    /** Of them bounced. */
    bounced: number;
    /** Of them reported as unwanted. */
    complained: number;
    /** When the hour or day begins: ISO 8601, UTC. */
    at: string;
  })[];
  /** All of them together. */
  totals: {
    /** Messages that were accepted. */
    sends: number;
    /** Of them delivered, whatever came after. */
    delivered: number;
    /** Of them opened by somebody. */
    opened: number;
    /** Of them with a link that was followed. */
    clicked: number;
    /** Of them bounced. */
    bounced: number;
    /** Of them reported as unwanted. */
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

export interface Alert {
  /** What it is about. */
  kind: "suspended" | "paused" | "free-plan" | "quota" | "no-sender" | "domain" | "relay-down" | "bounce-rate" | "complaint-rate" | "webhook";
  /** critical: mail is held up. */
  severity: "warning" | "critical";
  /** What is wrong, in a few words. */
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** Where it can be mended; null: the operator of the service must. */
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
    /** Name of the key, or the person’s address. */
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
  /** What changed, as it is since. */
  after: Record<string, unknown> | null;
  /** The request, as the log names it. */
  request_id: string;
}

export interface OperatedAccount {
  /** Number of the account. */
  id: number;
  /** What people call it. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** Recipients a UTC day: to, cc and bcc together. */
  daily_quota: number;
  /** Send calls a second. */
  rate_per_second: number;
  /** Mails handed over at a time, over all processes; 0: no limit. */
  delivery_limit: number;
  /** Quota of its first day, doubled every day; 0: no ramp. */
  ramp_start: number;
  /** When the line was cut after a mail: whether it is sent again. */
  unknown_outcome: "send_again" | "count_as_sent";
  /** An invisible image tells when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which tells of clicks. */
  track_clicks: boolean;
  /** Mail programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
  /** Recipients it wrote to today. */
  used_today: number;
  /** How many people belong to it. */
  members: number;
  /** When it was made: ISO 8601, UTC. */
  created_at: string;
  /** Its keys are refused; null: they are not. */
  suspended: Halt | null;
  /** It may not send, and what is queued waits; null: it may. */
  paused: Halt | null;
}

export interface CreateAccountAnswer {
  /** Number of the account. */
  id: number;
  /** What people call it. */
  name: string;
  /** free: it cannot send. paid: it can. */
  plan: "free" | "paid";
  /** Recipients a UTC day: to, cc and bcc together. */
  daily_quota: number;
  /** Send calls a second. */
  rate_per_second: number;
  /** Mails handed over at a time, over all processes; 0: no limit. */
  delivery_limit: number;
  /** Quota of its first day, doubled every day; 0: no ramp. */
  ramp_start: number;
  /** When the line was cut after a mail: whether it is sent again. */
  unknown_outcome: "send_again" | "count_as_sent";
  /** An invisible image tells when an email is opened. */
  track_opens: boolean;
  /** Links lead through the service, which tells of clicks. */
  track_clicks: boolean;
  /** Mail programs show a button; whoever uses it is suppressed. */
  one_click_unsubscribe: boolean;
  /** Recipients it wrote to today. */
  used_today: number;
  /** How many people belong to it. */
  members: number;
  /** When it was made: ISO 8601, UTC. */
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
    /** Only where no mail could be sent. */
    link: string | null;
    /** Why no mail was sent. */
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
    /** None runs, and one should. */
    missing: boolean;
    /** How it does, in a sentence. */
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
    /** Since when it runs: ISO 8601, UTC. */
    started_at: string;
  })[];
}

export interface SetAsideMessage {
  /** Id of the message. */
  id: string;
  /** The account that sent it. */
  account_id: number;
  /** Since when it is set aside: ISO 8601, UTC. */
  since: string;
  /** Why it could not be read, made or recorded. */
  reason: string;
  /** How often it was tried. */
  attempts: number;
  /** Recipients that did not get it yet; null: all of them. */
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

/** Every operation, by resource. */
export interface Operations {
  /** Send an e-mail. Queue one transactional e-mail, from an inline body (subject with html and/or text) or from a template with variables. Answers at once; delivery is asynchronous. */
  send(input: {
    /** Sender, `a@b.example` or `Name <a@b.example>`. A verified address of the account, or any address at a verified domain (not its subdomains). */
    from_email: string;
    /** Recipients. to, cc and bcc together name 1 to 50. */
    to: string[];
    /** Recipients of a copy. */
    cc?: string[] | undefined;
    /** Recipients of a hidden copy. They are in the envelope only. */
    bcc?: string[] | undefined;
    /** Where answers go: the Reply-To header. */
    reply_to?: string | undefined;
    /** Required without a template. With one, it replaces the template’s subject and is rendered as Jinja2. */
    subject?: string | undefined;
    /** HTML body. Needed when text is absent, unless a template is used. */
    html?: string | undefined;
    /** Plain-text body. Derived from the HTML when blank and a template is used. */
    text?: string | undefined;
    /** Slug of a system template or of one of the account’s own templates. */
    template?: string | undefined;
    /** What the template is rendered with: at most 100 objects and lists inside one another. Numbers reach it as they are written. */
    variables?: Record<string, unknown> | undefined;
    /** Additional message headers, at most 50 and 8 KiB. Structural ones (From, Subject, Content-*, DKIM-*, X-SM-* …) are refused, and so are those by which relays take orders (X-SMTPAPI, X-SES-*, X-Mailgun-* …). */
    headers?: Record<string, string> | undefined;
    /** Labels for analytics and webhook events: at most 20, each 1 to 128 characters. */
    tags?: string[] | undefined;
    /** Files in strict base64, at most 50; the whole request is at most 25 MB. One with a `content_id` stands inside of the HTML, which shows it as `<img src="cid:…">`; each needs the other. */
    attachments?: ({
      /** File name, without a path. */
      filename: string;
      /** Base64-encoded content. */
      content_base64: string;
      /** Media type of the content. `text/calendar; method=REQUEST` is sent as an invitation. */
      content_type: string;
      /** Makes it an image inside of the HTML, which shows it as `<img src="cid:…">`. */
      content_id?: string | undefined;
      /** `inline` asks mail programs to show the file below the text. Default: `attachment`. */
      disposition?: "attachment" | "inline" | undefined;
    })[] | undefined;
  } & (HtmlBody | PlainTextBody | TemplateBody), options?: CallOptions): Promise<SendEmailAnswer>;
  messages: {
    /** Read an e-mail’s timeline. The status of one e-mail and everything that happened to it, in order. */
    get(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageTimeline>;
    /** Search messages. The account’s messages, newest first, by recipient, subject, template, tag, door, status and time. One call looks through a bounded number of them: continue while `next` is not null, even when a page is empty. */
    list(input?: {
      /** A message id: that one alone. */
      id?: string | undefined;
      /** An address in to, cc or bcc, or a part of one. */
      recipient?: string | undefined;
      /** A part of the subject. */
      subject?: string | undefined;
      /** Slug of the template, exactly. */
      template?: string | undefined;
      /** A tag, exactly. */
      tag?: string | undefined;
      /** Where it came in. */
      door?: "rest" | "mcp" | "dashboard" | "cli" | "system" | undefined;
      /** The current status. */
      status?: "queued" | "sent" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | undefined;
      /** Not before this time, ISO 8601. */
      after?: string | undefined;
      /** Before this time, ISO 8601. */
      before?: string | undefined;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<MessageSummary>;
    /** Read everything about a message. One message with its timeline, what became of each recipient, where it came from and how handing it over stands; everything but what it says. */
    details(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageDetails>;
    /** List the attempts of a message. Attempts to hand a message over that were no end, and reports of delays, oldest first: what the timeline leaves out. */
    listAttempts(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Pages<DeliveryAttempt>;
    /** List the webhook deliveries of a message. Which endpoints were told of the events of a message, oldest first. */
    listWebhooks(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Pages<WebhookDelivery>;
    /** Decide an unknown outcome. For a message of which nobody knows whether the relay has it, because the line was cut: count it as sent, or send it again with the same Message-ID. */
    resolve(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
      /** sent: it counts as sent. again: it is due again. */
      as: "sent" | "again";
    }, options?: CallOptions): Promise<ResolveMessageAnswer>;
    /** Read what a message says. Bodies, headers and the list of files of one message, as they were accepted. Content is kept for fewer days than the timeline. */
    content(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<MessageContent>;
    /** Read a message’s source. The message as it goes or went over the wire (RFC 5322), tracking and all. */
    source(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<File>;
    /** Read an attachment. One file of a message, by its place in the list of its content. */
    attachment(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
      /** Its place, from 0. */
      index: number;
    }, options?: CallOptions): Promise<File>;
    /** Send a message again. Queues the same email once more as a new message, to the same recipients. It counts as any other email. */
    sendAgain(input: {
      /** The id that the send call answered. */
      sm_mail_id: string;
    }, options?: CallOptions): Promise<SendMessageAgainAnswer>;
  };
  templates: {
    /** List templates. The templates that can be sent, with the names of their variables: the system catalogue and the account’s own. */
    list(input?: {
      /** Only templates of this category. */
      category?: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications" | undefined;
    }, options?: CallOptions): Pages<{
      /** What send_email takes as `template`. */
      slug: string;
      /** What people call it. */
      name: string;
      /** What it is about. */
      category: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications";
      /** When to use it. */
      description: string;
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
    /** List the account’s own templates. Templates that the account cloned or made, with their versions, drafts and archived ones too. */
    listOwn(input?: Record<string, never>, options?: CallOptions): Pages<OwnTemplate>;
    /** List the versions of a template. The versions of one of the account’s own templates, newest first, without their text. */
    listVersions(input: {
      /** Slug of the template. */
      slug: string;
    }, options?: CallOptions): Pages<TemplateVersionEntry>;
    /** Read a template’s source. The source of one version, to be changed and given back to update_template. Its number is also the ETag. */
    getVersion(input: {
      /** Slug of the template. */
      slug: string;
      /** A number, or: newest, the one saved last; system, the catalogue’s; current, the published one, else the newest, else the system’s. */
      version: string;
    }, options?: CallOptions): Promise<TemplateVersion>;
    /** Clone a template. Makes a copy of a system template, or of one of the account’s own, that the account can change. Under the same slug, emails are made from the copy from now on. */
    clone(input: {
      /** Slug of the template to copy. */
      slug: string;
      /** Slug of the copy; the same by default. */
      as?: string | undefined;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Change a template. Saves a new version of one of the account’s own templates, or makes a new template. What is not given stays as it was. It is a draft until it is published; earlier versions are kept. What the newest version says already makes no new one. */
    put(input: {
      /** Slug of the template. */
      slug: string;
      /** What people call it. */
      name?: string | undefined;
      /** What it is about. */
      category?: "authentication" | "security" | "account" | "team" | "billing" | "orders" | "bookings" | "support" | "notifications" | undefined;
      /** When to use it. */
      description?: string | undefined;
      /** Subject, Jinja2. */
      subject?: string | undefined;
      /** Preview line of mail programs, Jinja2. */
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
        /** What it must be; string by default. */
        type?: "string" | "number" | "boolean" | "array" | "object" | undefined;
        /** What it is for. */
        description?: string | undefined;
        /** A value that fits. */
        example?: unknown | undefined;
      })[] | undefined;
      /** Variables that show the template at its best. */
      sample?: Record<string, unknown> | undefined;
      /** The version that stays where nothing is given; the newest by default. */
      from_version?: number | undefined;
      /** Whether emails are made from the new version at once. */
      publish?: boolean | undefined;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<UpdateTemplateAnswer>;
    /** Publish a version of a template. From now on emails are made from this version; an archived template is in use again. The version is named, so that nobody puts live what nobody looked at. */
    publish(input: {
      /** Slug of the template. */
      slug: string;
      /** The version to put live. */
      version: number;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Roll a template back. Emails are made again from the version that was in use before the published one. The newer one is kept and can be published again. */
    rollBack(input: {
      /** Slug of the template. */
      slug: string;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Archive a template. Takes a template out of use: sends find the system template of the slug again, or none. Its versions are kept; publishing one brings it back. */
    archive(input: {
      /** Slug of the template. */
      slug: string;
    }, options?: CallOptions): Promise<OwnTemplate>;
    /** Render a template. The email that a template makes with these variables and the account’s branding, without sending anything. What is wrong is told with line and column. */
    render(input: {
      /** Slug of the template. */
      slug: string;
      /** A version of the account’s own; what sends use by default. */
      version?: number | undefined;
      /** Parts that are not saved, over those of the version. */
      draft?: {
        /** Subject, Jinja2. */
        subject?: string | undefined;
        /** Preview line of mail programs, Jinja2. */
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
          /** What it must be; string by default. */
          type?: "string" | "number" | "boolean" | "array" | "object" | undefined;
          /** What it is for. */
          description?: string | undefined;
          /** A value that fits. */
          example?: unknown | undefined;
        })[] | undefined;
        /** Variables that show the template at its best. */
        sample?: Record<string, unknown> | undefined;
      } | undefined;
      /** What it is filled with; its sample by default. */
      variables?: Record<string, unknown> | undefined;
    }, options?: CallOptions): Promise<RenderedMail>;
    /** Render several templates. Several templates with their samples and the account’s branding, for a gallery. */
    renderSeveral(input: {
      /** Which templates; at most 60. */
      slugs: string[];
    }, options?: CallOptions): Pages<TemplatePreview>;
    /** Send a test of a template. Sends what render_template shows to one address, with the tag `test`. It counts as any other email. */
    testSend(input: {
      /** Slug of the template. */
      slug: string;
      /** A version of the account’s own; what sends use by default. */
      version?: number | undefined;
      /** Parts that are not saved, over those of the version. */
      draft?: {
        /** Subject, Jinja2. */
        subject?: string | undefined;
        /** Preview line of mail programs, Jinja2. */
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
          /** What it must be; string by default. */
          type?: "string" | "number" | "boolean" | "array" | "object" | undefined;
          /** What it is for. */
          description?: string | undefined;
          /** A value that fits. */
          example?: unknown | undefined;
        })[] | undefined;
        /** Variables that show the template at its best. */
        sample?: Record<string, unknown> | undefined;
      } | undefined;
      /** What it is filled with; its sample by default. */
      variables?: Record<string, unknown> | undefined;
      /** Who gets it. */
      to: string;
      /** Sender; the account’s first verified one by default. */
      from_email?: string | undefined;
    }, options?: CallOptions): Promise<SendTestEmailAnswer>;
  };
  branding: {
    /** Read the branding. Colours, logo, names and links that every template of the account shows. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Branding>;
    /** Change the branding. Sets the fields that are given and leaves the others; null takes one back to its default. Every email made from a template from now on looks like it. */
    set(input?: {
      /** Sender name in the footer. */
      brand_name?: string | null | undefined;
      /** Header logo. Without it the header is text. */
      logo_url?: string | null | undefined;
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
      /** Adds a Privacy Policy link to every footer. */
      privacy_policy_url?: string | null | undefined;
      /** Adds a Terms & Conditions link to every footer. */
      terms_url?: string | null | undefined;
      /** The version that the change is based on. */
      base_version?: number | undefined;
    }, options?: CallOptions): Promise<Branding>;
    /** Preview the branding. Templates with their samples, as they would look with these values over the account’s branding. Nothing is saved. */
    preview(input: {
      /** Values that are not saved yet. */
      branding: {
        /** Sender name in the footer. */
        brand_name?: string | null | undefined;
        /** Header logo. Without it the header is text. */
        logo_url?: string | null | undefined;
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
        /** Adds a Privacy Policy link to every footer. */
        privacy_policy_url?: string | null | undefined;
        /** Adds a Terms & Conditions link to every footer. */
        terms_url?: string | null | undefined;
      };
      /** Which templates; at most 8. */
      slugs: string[];
    }, options?: CallOptions): Promise<PreviewBrandingAnswer>;
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
      /** A domain, as it stands behind the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
    /** Add a sender domain. Makes signing keys for the domain and answers the DNS records to publish. One that is there already stays as it is. It is verified when a check finds its ownership record. */
    put(input: {
      /** A domain, as it stands behind the @ of senders. */
      domain: string;
      /** For operators of the service: it is known to belong to the account. */
      vouched?: boolean | undefined;
    }, options?: CallOptions): Promise<Domain>;
    /** Check a sender domain. Asks DNS for every record of the domain and answers what it found. Domains are also checked once a day, new ones more often. */
    check(input: {
      /** A domain, as it stands behind the @ of senders. */
      domain: string;
    }, options?: CallOptions): Promise<Domain>;
    /** Remove a sender domain. Mail from its addresses is refused from now on, and its signing keys are deleted. Added again, it gets other keys and records. */
    remove(input: {
      /** A domain, as it stands behind the @ of senders. */
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
    /** Add a sender address. Mails a link to the address; whoever follows it proves that the address is theirs. It works once, for two days. */
    put(input: {
      /** An email address. */
      address: string;
      /** For operators of the service: it is known to belong to the account. */
      vouched?: boolean | undefined;
    }, options?: CallOptions): Promise<AddAddressAnswer>;
    /** Mail another link. Mails a new link to an address that was added; the one before stops working. */
    verify(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<VerifyAddressAnswer>;
    /** Remove a sender address. Mail from it is refused from now on, unless its domain is verified. */
    remove(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<SenderAddress>;
  };
  suppressions: {
    /** List suppressed addresses. Addresses this account must not write to any more, because mail to them bounced, because they complained or unsubscribed, or because somebody added them. In the order of the addresses. */
    list(input?: {
      /** A part of the address. */
      search?: string | undefined;
      /** How many to return: 1 to 1000, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<Suppression>;
    /** Read a suppressed address. Whether the account must not write to an address, and why. 404 when it may. */
    get(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<Suppression>;
    /** Suppress an address. From now on the account writes no more to this address. One that is on the list already stays there with its reason. */
    put(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<Suppression>;
    /** Suppress many addresses. From now on the account writes no more to any of these addresses, such as those that bounced at another provider. Those on the list already stay there with their reason. All are added or, when one is no address, none. */
    add(input: {
      /** 1 to 1000 email addresses. */
      addresses: string[];
      /** Why nobody writes to them any more; `manual` by default. */
      reason?: "bounce" | "complaint" | "unsubscribe" | "manual" | undefined;
    }, options?: CallOptions): Promise<AddSuppressionsAnswer>;
    /** Allow an address again. Takes an address off the list: the account may write to it again. */
    remove(input: {
      /** An email address. */
      address: string;
    }, options?: CallOptions): Promise<Suppression>;
  };
  webhooks: {
    /** List webhook endpoints. Where the account’s events are posted to, and how each endpoint does. */
    list(input?: Record<string, never>, options?: CallOptions): Pages<WebhookEndpoint>;
    /** Read a webhook endpoint. One endpoint: where it is, what it gets, and how it does. */
    get(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Add a webhook endpoint. From now on the account’s events are posted there, signed. The answer holds the signing secret, which is shown this once. */
    create(input: {
      /** An https address. */
      url: string;
      /** Which events; empty: all. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint")[] | undefined;
      /** One at a time and in order, at the price of speed. */
      fifo?: boolean | undefined;
    }, options?: CallOptions): Promise<CreateWebhookEndpointAnswer>;
    /** Change a webhook endpoint. Changes what is given; `enabled` turns it off and on. What waits is kept meanwhile. */
    update(input: {
      /** Id of the endpoint. */
      id: string;
      /** An https address. */
      url?: string | undefined;
      /** Which events; empty: all. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint")[] | undefined;
      /** One at a time and in order, at the price of speed. */
      fifo?: boolean | undefined;
      /** Whether it gets events. */
      enabled?: boolean | undefined;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Remove a webhook endpoint. It gets nothing more, and what waits for it is dropped. Turn it off instead to keep what waits. */
    remove(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Replace a signing secret. Makes a new signing secret, which is shown this once. For a day both sign, so that receivers can change over. */
    rotate(input: {
      /** Id of the endpoint. */
      id: string;
    }, options?: CallOptions): Promise<RotateWebhookSecretAnswer>;
    /** Send a test event. Posts an example event to the endpoint now, signed like a real one, and tells what came back. It leaves no trace in the log. */
    test(input: {
      /** Id of the endpoint. */
      id: string;
      /** What it tells of; delivery by default. */
      event_type?: "delivery" | "open" | "click" | "bounce" | "complaint" | undefined;
    }, options?: CallOptions): Promise<TestWebhookEndpointAnswer>;
    /** List webhook deliveries. What was posted to an endpoint or waits for it, newest first. */
    listDeliveries(input: {
      /** Id of the endpoint. */
      id: string;
      /** Only those in this state. */
      state?: "pending" | "delivered" | "abandoned" | undefined;
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<WebhookDelivery>;
    /** Read a webhook delivery. One delivery with what is posted and what came back last. The signature is that of the secret in force now. */
    getDelivery(input: {
      /** Id of the endpoint. */
      id: string;
      /** Id of the delivery. */
      delivery_id: string;
    }, options?: CallOptions): Promise<GetWebhookDeliveryAnswer>;
    /** Try a webhook delivery again. Posts it now: one that waits is brought forward, one that was delivered or abandoned begins anew. */
    retryDelivery(input: {
      /** Id of the endpoint. */
      id: string;
      /** Id of the delivery. */
      delivery_id: string;
    }, options?: CallOptions): Promise<WebhookDelivery>;
    /** Post past events again. Posts to the endpoint what it missed: all that was abandoned, or every event of a time, those from before it was added too. Events keep their ids, so that a receiver can tell repeats. With `dry_run` they are only counted. */
    replay(input: {
      /** Id of the endpoint. */
      id: string;
      /** Only deliveries that were abandoned, of whatever time. */
      abandoned?: boolean | undefined;
      /** Events since then; needed unless `abandoned` is given. */
      from?: string | undefined;
      /** Events before then; now by default. */
      until?: string | undefined;
      /** Which events; empty: all. */
      event_types?: ("delivery" | "open" | "click" | "bounce" | "complaint")[] | undefined;
      /** Only count. */
      dry_run?: boolean | undefined;
    }, options?: CallOptions): Promise<ReplayWebhookEventsAnswer>;
  };
  sandbox: {
    /** List captured mail. Mail of the account that the sandbox captured instead of delivering, newest first. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<CapturedMail>;
    /** List simulator addresses. Addresses that play a part in the sandbox, such as one that bounces. */
    listAddresses(input?: Record<string, never>, options?: CallOptions): Pages<SimulatorAddress>;
    /** Read a captured mail. One captured mail, by its id or by that of the message: headers, bodies, bytes. */
    get(input: {
      /** Id of the captured mail, or of the message. */
      id: string;
    }, options?: CallOptions): Promise<CapturedContent>;
    /** Empty the sandbox. Throws all captured mail of the account away. */
    clear(input?: Record<string, never>, options?: CallOptions): Promise<ClearSandboxAnswer>;
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
    /** Make an API key. The answer holds the key itself, which is shown this once. Nobody can give a key more than they may do themselves. */
    create(input: {
      /** What it is for. */
      name?: string | undefined;
      /** What it may do. */
      scopes: ("email:send" | "email:read" | "admin" | "messages:read" | "messages:write" | "templates:read" | "templates:write" | "branding:read" | "branding:write" | "senders:read" | "senders:write" | "suppressions:read" | "suppressions:write" | "webhooks:read" | "webhooks:write" | "keys:read" | "keys:write" | "sandbox:read" | "sandbox:write" | "usage:read" | "account:read" | "account:write" | "team:read" | "team:write" | "audit:read")[];
      /** Rules that its sends must keep. */
      rules?: {
        /** It may write only to these addresses and domains; null: to anybody. */
        allowed_recipients?: string[] | null | undefined;
        /** It may send templates only, without words of its own. */
        templates_only?: boolean | undefined;
        /** It may not send hidden copies. */
        no_bcc?: boolean | undefined;
        /** Recipients a UTC day, below the account’s quota; null: no cap of its own. */
        daily_cap?: number | null | undefined;
        /** Its mail goes to the sandbox and never leaves. */
        sandbox_only?: boolean | undefined;
      } | undefined;
      /** When it ends; null or absent: not by itself. */
      expires_at?: string | null | undefined;
      /** Addresses and networks it may be used from; null or absent: anywhere. */
      networks?: string[] | null | undefined;
    }, options?: CallOptions): Promise<CreateKeyAnswer>;
    /** Revoke an API key. Ends a key for good: whatever uses it is refused with 401 within a second. */
    revoke(input: {
      /** Id of the key. */
      id: string;
    }, options?: CallOptions): Promise<ApiKey>;
  };
  team: {
    /** List the team. The people of the account, with their roles. */
    list(input?: Record<string, never>, options?: CallOptions): Pages<Member>;
    /** Change a role. Gives somebody of the account another role. One owner always stays. */
    update(input: {
      /** Id of the person. */
      id: string;
      /** viewer: reads. developer: also sends and edits. owner: also team and account. */
      role: "viewer" | "developer" | "owner";
    }, options?: CallOptions): Promise<Member>;
    /** Remove somebody from the team. They are signed out of the account at once. Keys they made stay. One owner always stays. */
    remove(input: {
      /** Id of the person. */
      id: string;
    }, options?: CallOptions): Promise<Member>;
    /** List invitations. Who was invited to the account and has not come yet. */
    listInvitations(input?: Record<string, never>, options?: CallOptions): Pages<Invitation>;
    /** Invite somebody to the team. Mails them a link, which only they get to see: whoever has it chooses a password and joins. It works once, for a week. */
    invite(input: {
      /** Their address. */
      email: string;
      /** viewer: reads. developer: also sends and edits. owner: also team and account. */
      role: "viewer" | "developer" | "owner";
    }, options?: CallOptions): Promise<InviteMemberAnswer>;
    /** Withdraw an invitation. The link that was mailed stops working. */
    withdrawInvitation(input: {
      /** Id of the invitation. */
      id: string;
    }, options?: CallOptions): Promise<Invitation>;
  };
  account: {
    /** Read the account. The account’s plan, quota and switches, and what is held back and why. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Account>;
    /** Change the account. Changes what is given. Tracking applies to emails that are sent from now on. */
    update(input?: {
      /** What people call the account. */
      name?: string | undefined;
      /** An invisible image tells when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which tells of clicks. */
      track_clicks?: boolean | undefined;
      /** Mail programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
    }, options?: CallOptions): Promise<Account>;
  };
  usage: {
    /** Read the usage. How today’s quota stands, and whether the account has what it needs to send. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<Usage>;
    /** Read statistics. How many messages the account sent in the last days and what became of them. */
    statistics(input?: {
      /** Days, 1 to 90; one day comes by hours. */
      days?: number | undefined;
    }, options?: CallOptions): Promise<Statistics>;
    /** List what needs an action. What keeps the account from sending or will soon, and what to do about it. */
    listAlerts(input?: Record<string, never>, options?: CallOptions): Pages<Alert>;
  };
  audit: {
    /** List changes. Every change of the account: who made it, when, through which door. Newest first. */
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
    /** List all accounts. Everybody who sends through this service. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<OperatedAccount>;
    /** Read one of all accounts. One account with its figures and state. For operators only. */
    get(input: {
      /** Number of the account. */
      id: number;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Make an account. Makes an account and, with `owner_email`, invites its owner. Where no mail can be sent the answer holds the link, to pass on to nobody else. For operators only. */
    create(input: {
      /** What people call the account. */
      name: string;
      /** free: it cannot send. paid: it can. */
      plan: "free" | "paid";
      /** Recipients a UTC day: to, cc and bcc together. */
      daily_quota?: number | undefined;
      /** Send calls a second. */
      rate_per_second?: number | undefined;
      /** Mails handed over at a time, over all processes; 0: no limit. */
      delivery_limit?: number | undefined;
      /** Quota of its first day, doubled every day; 0: no ramp. */
      ramp_start?: number | undefined;
      /** When the line was cut after a mail: whether it is sent again. */
      unknown_outcome?: "send_again" | "count_as_sent" | undefined;
      /** An invisible image tells when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which tells of clicks. */
      track_clicks?: boolean | undefined;
      /** Mail programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
      /** Gets an invitation as its owner. */
      owner_email?: string | undefined;
    }, options?: CallOptions): Promise<CreateAccountAnswer>;
    /** Change one of all accounts. Changes what is given of plan, figures and switches. For operators only. */
    update(input: {
      /** Number of the account. */
      id: number;
      /** What people call the account. */
      name?: string | undefined;
      /** free: it cannot send. paid: it can. */
      plan?: "free" | "paid" | undefined;
      /** Recipients a UTC day: to, cc and bcc together. */
      daily_quota?: number | undefined;
      /** Send calls a second. */
      rate_per_second?: number | undefined;
      /** Mails handed over at a time, over all processes; 0: no limit. */
      delivery_limit?: number | undefined;
      /** Quota of its first day, doubled every day; 0: no ramp. */
      ramp_start?: number | undefined;
      /** When the line was cut after a mail: whether it is sent again. */
      unknown_outcome?: "send_again" | "count_as_sent" | undefined;
      /** An invisible image tells when an email is opened. */
      track_opens?: boolean | undefined;
      /** Links lead through the service, which tells of clicks. */
      track_clicks?: boolean | undefined;
      /** Mail programs show a button; whoever uses it is suppressed. */
      one_click_unsubscribe?: boolean | undefined;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Suspend an account. Its keys are refused at once; its people still sign in and read. What is queued already is still delivered. For operators only. */
    suspend(input: {
      /** Number of the account. */
      id: number;
      /** Why; the people of the account read it. */
      reason: string;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Pause an account. Its sends are refused at once and what is queued waits; its keys still read. For operators only. */
    pause(input: {
      /** Number of the account. */
      id: number;
      /** Why; the people of the account read it. */
      reason: string;
    }, options?: CallOptions): Promise<OperatedAccount>;
    /** Resume an account. Ends a suspension or a pause: its keys work again, and what waited is delivered. Bounces and complaints from before do not count any more. For operators only. */
    resume(input: {
      /** Number of the account. */
      id: number;
    }, options?: CallOptions): Promise<OperatedAccount>;
  };
  service: {
    /** Read how the service does. Which processes run, and whether a role is missing. For operators only. */
    get(input?: Record<string, never>, options?: CallOptions): Promise<GetServiceStateAnswer>;
  };
  quarantine: {
    /** List mails that were set aside. Mails that could not be read, made or recorded, and are not tried until they are released. Oldest first. For operators only. */
    list(input?: {
      /** How many to return: 1 to 100, 25 by default. */
      limit?: number | undefined;
      /** Where to continue: `next` of the previous answer. */
      cursor?: string | undefined;
    }, options?: CallOptions): Pages<SetAsideMessage>;
    /** Release a mail that was set aside. It is due again. Mend the cause first. For operators only. */
    release(input: {
      /** Id of the message. */
      id: string;
    }, options?: CallOptions): Promise<ReleaseFromQuarantineAnswer>;
    /** Release all mails that were set aside. All of them are due again. Mend the cause first. For operators only. */
    releaseAll(input?: Record<string, never>, options?: CallOptions): Promise<ReleaseAllFromQuarantineAnswer>;
  };
}

/** Method, path and what may be tried again, by the name of the call. */
export const ROUTES = {
  'send': { method: 'POST', path: '/v1/send', sends: true },
  'messages.get': { method: 'GET', path: '/v1/messages/{sm_mail_id}' },
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
  'branding.get': { method: 'GET', path: '/v1/branding' },
  'branding.set': { method: 'PATCH', path: '/v1/branding', ifMatch: 'base_version' },
  'branding.preview': { method: 'POST', path: '/v1/branding/preview' },
  'domains.list': { method: 'GET', path: '/v1/domains', list: true },
  'domains.get': { method: 'GET', path: '/v1/domains/{domain}' },
  'domains.put': { method: 'PUT', path: '/v1/domains/{domain}' },
  'domains.check': { method: 'POST', path: '/v1/domains/{domain}/check' },
  'domains.remove': { method: 'DELETE', path: '/v1/domains/{domain}' },
  'addresses.list': { method: 'GET', path: '/v1/addresses', list: true },
  'addresses.get': { method: 'GET', path: '/v1/addresses/{address}' },
  'addresses.put': { method: 'PUT', path: '/v1/addresses/{address}' },
  'addresses.verify': { method: 'POST', path: '/v1/addresses/{address}/verify' },
  'addresses.remove': { method: 'DELETE', path: '/v1/addresses/{address}' },
  'suppressions.list': { method: 'GET', path: '/v1/suppressions', list: true },
  'suppressions.get': { method: 'GET', path: '/v1/suppressions/{address}' },
  'suppressions.put': { method: 'PUT', path: '/v1/suppressions/{address}' },
  'suppressions.add': { method: 'POST', path: '/v1/suppressions' },
  'suppressions.remove': { method: 'DELETE', path: '/v1/suppressions/{address}' },
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
  'sandbox.list': { method: 'GET', path: '/v1/sandbox', list: true },
  'sandbox.listAddresses': { method: 'GET', path: '/v1/simulator-addresses', list: true },
  'sandbox.get': { method: 'GET', path: '/v1/sandbox/{id}' },
  'sandbox.clear': { method: 'DELETE', path: '/v1/sandbox' },
  'keys.list': { method: 'GET', path: '/v1/keys', list: true },
  'keys.get': { method: 'GET', path: '/v1/keys/{id}' },
  'keys.create': { method: 'POST', path: '/v1/keys' },
  'keys.revoke': { method: 'DELETE', path: '/v1/keys/{id}' },
  'team.list': { method: 'GET', path: '/v1/team', list: true },
  'team.update': { method: 'PATCH', path: '/v1/team/{id}' },
  'team.remove': { method: 'DELETE', path: '/v1/team/{id}' },
  'team.listInvitations': { method: 'GET', path: '/v1/team/invitations', list: true },
  'team.invite': { method: 'POST', path: '/v1/team/invitations' },
  'team.withdrawInvitation': { method: 'DELETE', path: '/v1/team/invitations/{id}' },
  'account.get': { method: 'GET', path: '/v1/account' },
  'account.update': { method: 'PATCH', path: '/v1/account' },
  'usage.get': { method: 'GET', path: '/v1/usage' },
  'usage.statistics': { method: 'GET', path: '/v1/statistics' },
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
} as const;
