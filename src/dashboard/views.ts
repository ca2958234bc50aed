// Views: what the dashboard's pages show and send, as JSON. Types only, so that web/ can read them too; contract.ts says
// which route answers which. Times are ISO 8601 in UTC with Z, unless said otherwise.

export type Role = 'viewer' | 'developer' | 'owner';
export type Scope = 'email:send' | 'email:read' | 'admin';
export type Plan = 'free' | 'paid';
export type MessageStatus =
  | 'queued'
  | 'sent'
  | 'delivered'
  | 'opened'
  | 'clicked'
  | 'bounced'
  | 'complained';
export type HookType = 'delivery' | 'bounce' | 'open' | 'click' | 'complaint';
/** `system`: the service itself, such as a link that verifies an address. */
export type Door = 'rest' | 'mcp' | 'dashboard' | 'system';

/** A list that is read page by page: `next` goes into `before` of the next call; null: that was all. */
export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Every refusal. `faults` comes with 400 where templates are concerned. */
export interface Refusal {
  detail: string;
  faults?: TemplateFault[];
}

// ---- Session ----------------------------------------------------------------------------------------------------

/** What the app asks first. */
export interface SessionState {
  /** `set-up`: nobody can sign in yet; the service printed a link to /setup when it started. */
  state: 'set-up' | 'signed-out' | 'signed-in';
  me: Me | null;
}

export interface Me {
  user: { id: string; email: string; name: string; operator: boolean };
  /** The account this session works in; null: an operator who belongs to none. */
  account: { id: number; name: string; role: Role; plan: Plan; suspended: boolean } | null;
  /** All accounts the user belongs to, for the switcher. */
  accounts: { id: number; name: string; role: Role }[];
  service: Service;
}

export interface Service {
  version: string;
  baseUrl: string;
  mcpUrl: string;
  /** True while no RELAY_URL is set: every mail is captured, none leaves. */
  sandbox: boolean;
  bounceDomain: string;
}

export interface SignIn {
  email: string;
  password: string;
}

/** `token` is what follows the # in the link. Passwords have 10 to 200 characters. */
export interface SetUp extends SignIn {
  token: string;
  name: string;
  accountName: string;
}

export interface InvitationView {
  email: string;
  accountName: string;
  role: Role;
  invitedBy: string;
  expiresAt: string;
  /** They have a password already, so they sign in with it instead of choosing one. */
  known: boolean;
}

export interface AcceptInvitation {
  token: string;
  password: string;
  /** Not needed when `known`. */
  name?: string;
}

export interface ChangePassword {
  current: string;
  password: string;
}

// ---- Overview ---------------------------------------------------------------------------------------------------

export interface Overview {
  quota: Quota;
  /** One entry per bucket, oldest first, without gaps. */
  series: {
    bucket: 'hour' | 'day';
    points: VolumePoint[];
    /** False: a large account whose figures are still being counted; ask again in some seconds. */
    complete: boolean;
  };
  totals: Volume;
  /** Shares of `sends` in the period; null: nothing was sent. */
  rates: {
    delivered: number | null;
    opened: number | null;
    bounced: number | null;
    complained: number | null;
  };
  problems: ActionNeeded[];
  quickstart: Quickstart;
}

export interface Quota {
  /** Recipients a UTC day. */
  limit: number;
  used: number;
  left: number;
  resetsAt: string;
  ratePerSecond: number;
}

/** Messages, by what became of them: one that was opened also counts as delivered. */
export interface Volume {
  sends: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
}

export interface VolumePoint extends Volume {
  /** When the bucket begins. */
  at: string;
}

export interface ActionNeeded {
  kind:
    | 'free-plan'
    | 'suspended'
    | 'quota'
    | 'no-sender'
    | 'domain'
    | 'relay-down'
    | 'bounce-rate'
    | 'complaint-rate'
    | 'webhook';
  severity: 'info' | 'warning' | 'critical';
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** The page where it is done; null: an operator must. */
  page: 'senders' | 'webhooks' | 'messages' | 'account' | 'suppressions' | null;
  /** The thing it is about, such as a domain or an endpoint's id. */
  subject: string | null;
}

export interface Quickstart {
  /** Nothing was ever sent: show the quickstart instead of charts. `live` tells when that changes. */
  waiting: boolean;
  /** A sender that works; null: none is verified yet. */
  from: string | null;
  keys: number;
}

// ---- Messages ---------------------------------------------------------------------------------------------------

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
  /** Null: past CONTENT_RETENTION_DAYS. */
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
    lastResponse: string | null;
  } | null;
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

// ---- Templates and branding --------------------------------------------------------------------------------------

export type Category =
  | 'authentication'
  | 'security'
  | 'account'
  | 'team'
  | 'billing'
  | 'orders'
  | 'bookings'
  | 'support'
  | 'notifications';

export interface TemplateRow {
  slug: string;
  name: string;
  category: Category;
  description: string;
  /** Whose it is. Where an account has one of its own, that stands here. */
  source: 'system' | 'account';
  /** Of the account's own: sends use it (published), or they use the system's of that slug, if there is one. */
  state: 'system' | 'published' | 'draft' | 'archived';
  publishedVersion: number | null;
  newestVersion: number | null;
  /** There is a system template of this slug. */
  hasSystem: boolean;
}

export interface TemplateVariable {
  name: string;
  required: boolean;
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  description: string;
  example?: unknown;
}

/** What an editor changes. Jinja2 in subject, preheader, html and text. */
export interface TemplateSource {
  subject: string;
  preheader: string;
  html: string;
  /** Null: derived from the HTML. */
  text: string | null;
  variables: TemplateVariable[];
  sample: Record<string, unknown>;
}

export interface TemplateDetail extends TemplateRow {
  /** The version `content` is of; null: the system template. */
  version: number | null;
  content: TemplateSource;
}

export interface TemplateVersionRow {
  version: number;
  clonedFrom: string | null;
  basedOn: number | null;
  createdAt: string;
  /** When first; null: a draft that was never used. */
  publishedAt: string | null;
  published: boolean;
}

/** Where a template is wrong. `part` is a field, or `template` for the whole. */
export interface TemplateFault {
  part: 'subject' | 'preheader' | 'html' | 'text' | 'variables' | 'sample' | 'template';
  line: number | null;
  column: number | null;
  message: string;
}

export interface TemplatePreviewRequest {
  /** What `draft` replaces; it need not exist when the draft has subject and html. */
  slug: string;
  version?: number;
  draft?: Partial<TemplateSource>;
  /** Else the sample. */
  variables?: Record<string, unknown>;
  /** Unsaved values over the account's branding. */
  branding?: BrandingChange;
}

export interface RenderedMail {
  subject: string;
  html: string;
  text: string;
}

/** One of the two: a mail, or why there is none. */
export interface TemplatePreview {
  mail: RenderedMail | null;
  faults: TemplateFault[];
}

/** `name`, `category` and `description` may change too. What is absent stays as in `basedOn`. */
export interface SaveTemplate extends Partial<TemplateSource> {
  name?: string;
  category?: Category;
  description?: string;
  basedOn?: number;
}

/** Sends what the preview shows. */
export interface TestSend extends Omit<TemplatePreviewRequest, 'slug' | 'branding'> {
  to: string;
  /** Else the account's first verified sender. */
  from?: string;
}

/** The ten fields of the specification; absent: not set. */
export interface Branding {
  brand_name?: string;
  logo_url?: string;
  primary_color: string;
  accent_color: string;
  support_email?: string;
  support_url?: string;
  footer_html?: string;
  button_radius: number;
  privacy_policy_url?: string;
  terms_url?: string;
}

/** Null takes a field back to its default. */
export type BrandingChange = { [Field in keyof Branding]?: Branding[Field] | null };

export interface BrandingView {
  /** 0: never changed. */
  version: number;
  fields: Branding;
  defaults: Branding;
  contrasts: BrandingContrast[];
}

/** Colours that would be hard to read, and what mails use instead. */
export interface BrandingContrast {
  field: 'primary_color' | 'accent_color';
  /** On white, in a link or on a button. */
  ratio: number;
  /** Below 4.5, WCAG AA. */
  low: boolean;
  /** The text colour that mails put on it. */
  textColor: string;
  /** The shade that mails use for links on white. */
  linkColor: string;
}

export interface BrandingPreviewRequest {
  branding: BrandingChange;
  /** At most 8. */
  slugs: string[];
}

export interface BrandingPreview {
  contrasts: BrandingContrast[];
  previews: ({ slug: string } & TemplatePreview)[];
  /** What is wrong with the values, such as "branding.button_radius must be …"; then there are no previews. */
  fault: string | null;
}

// ---- Senders ----------------------------------------------------------------------------------------------------

export interface Senders {
  domains: SenderDomain[];
  addresses: SenderAddress[];
}

export interface SenderDomain {
  domain: string;
  verified: boolean;
  /** Who vouched for it. */
  verifiedBy: 'operator' | 'dns' | 'link' | null;
  createdAt: string;
  /** Empty: added before domains had keys; add it again to get them. */
  records: SenderRecord[];
  checkedAt: string | null;
}

export interface SenderRecord {
  purpose: 'ownership' | 'dkim-rsa' | 'dkim-ed25519' | 'spf' | 'dmarc' | 'return-path';
  type: 'TXT' | 'CNAME';
  name: string;
  value: string;
  /** What the last check found; null: not checked yet. `unknown`: DNS did not answer. */
  check: { state: 'ok' | 'missing' | 'unknown'; seen: string[]; note: string | null } | null;
}

export interface SenderAddress {
  address: string;
  verified: boolean;
  verifiedBy: 'operator' | 'dns' | 'link' | null;
  createdAt: string;
  /** A link was mailed and can still be used until then. */
  linkUntil: string | null;
}

/** `note`: why no link was mailed; null: it was, or the address is verified already. */
export interface AskedAddress extends SenderAddress {
  note: string | null;
}

// ---- Webhooks ---------------------------------------------------------------------------------------------------

export interface WebhookEndpoint {
  id: string;
  url: string;
  /** Null: all. */
  eventTypes: HookType[] | null;
  /** One at a time, in the order of the events. */
  fifo: boolean;
  createdAt: string;
  /** `owner`: switched off; `gone`: it answered 410; `failing`: for too long. */
  disabled: { at: string; reason: 'owner' | 'gone' | 'failing' } | null;
  /** The old secret signs beside the new one until then. */
  previousSecretUntil: string | null;
  failures: number;
  failingSince: string | null;
  pausedUntil: string | null;
  /** Deliveries that wait. */
  pending: number;
}

export interface NewEndpoint {
  url: string;
  eventTypes?: HookType[] | null;
  fifo?: boolean;
}

export interface EndpointChange {
  url?: string;
  eventTypes?: HookType[] | null;
  fifo?: boolean;
  disabled?: boolean;
}

/** Shown this once. */
export interface EndpointSecret {
  endpoint: WebhookEndpoint;
  secret: string;
  /** Something odd about the URL that is still allowed. */
  warning: string | null;
}

export interface DeliveryRow {
  id: string;
  endpointId: string;
  endpointUrl: string;
  messageId: string;
  eventId: string;
  eventType: HookType;
  state: 'pending' | 'delivered' | 'abandoned';
  attempts: number;
  createdAt: string;
  attemptedAt: string | null;
  /** Of a pending one. */
  nextAt: string | null;
  status: number | null;
  error: string | null;
  durationMs: number | null;
}

export interface DeliveryDetail extends DeliveryRow {
  request: { url: string; headers: [name: string, value: string][]; body: string };
  response: { status: number; body: string; truncated: boolean } | null;
}

export interface WebhookTest {
  ok: boolean;
  status: number | null;
  error: string | null;
  durationMs: number;
  response: string;
}

export interface Replay {
  from: string;
  until: string;
  eventTypes?: HookType[];
  /** Only those whose delivery was abandoned. */
  onlyFailed?: boolean;
  /** Count, and send nothing. */
  dryRun: boolean;
}

// ---- Keys, suppressions, sandbox ---------------------------------------------------------------------------------

export interface KeyLimits {
  /** Addresses and domains; null: anybody. */
  allowedRecipients: string[] | null;
  templatesOnly: boolean;
  noBcc: boolean;
  /** Recipients a UTC day, below the account's quota; null: none of its own. */
  dailyCap: number | null;
  sandboxOnly: boolean;
}

export interface KeyRow {
  id: string;
  name: string | null;
  prefix: string;
  scopes: Scope[];
  limits: KeyLimits | null;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface NewKey {
  name?: string;
  scopes: Scope[];
  limits?: Partial<KeyLimits>;
}

export interface SuppressionRow {
  address: string;
  reason: 'bounce' | 'complaint' | 'unsubscribe' | 'manual';
  /** The mail that led to it. */
  messageId: string | null;
  createdAt: string;
}

export interface SandboxRow {
  id: string;
  capturedAt: string;
  from: string;
  recipients: string[];
  subject: string;
  messageId: string | null;
  size: number;
}

export interface SandboxMail extends SandboxRow {
  headers: [name: string, value: string][];
  html: string | null;
  text: string | null;
  attachments: { filename: string; contentType: string; size: number }[];
  /** As it went over the wire. */
  raw: string;
}

export interface SandboxInbox extends Page<SandboxRow> {
  /** Addresses that play a part, for the cheat-sheet. */
  simulator: { address: string; plays: string }[];
}

// ---- Team, account, operator -------------------------------------------------------------------------------------

export interface Team {
  members: Member[];
  invitations: Invitation[];
}

export interface Member {
  id: string;
  email: string;
  name: string;
  role: Role;
  operator: boolean;
  you: boolean;
  joinedAt: string;
  lastSeenAt: string | null;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: string;
  expiresAt: string;
}

/** The link is shown in any case; `mailed` says whether it was also sent, `note` why not. */
export interface Invited {
  invitation: Invitation;
  link: string;
  mailed: boolean;
  note: string | null;
}

export interface AccountView {
  id: number;
  name: string;
  plan: Plan;
  createdAt: string;
  quota: Quota;
  suspended: { at: string; reason: string } | null;
  tracking: Tracking;
  /** What this account cannot do now, and why. Empty: nothing is held back. */
  blocked: { what: string; why: string }[];
}

export interface Tracking {
  trackOpens: boolean;
  trackClicks: boolean;
  oneClickUnsubscribe: boolean;
}

export interface AccountChange extends Partial<Tracking> {
  name?: string;
}

export interface OperatorAccount {
  id: number;
  name: string;
  plan: Plan;
  dailyQuota: number;
  ratePerSecond: number;
  usedToday: number;
  members: number;
  createdAt: string;
  suspended: { at: string; reason: string } | null;
}

export interface NewAccount {
  name: string;
  plan: Plan;
  dailyQuota?: number;
  ratePerSecond?: number;
  /** Gets an invitation as its owner. */
  ownerEmail?: string;
}

export interface OperatorChange {
  name?: string;
  plan?: Plan;
  dailyQuota?: number;
  ratePerSecond?: number;
}
