// The rules of an agent's key, checked against one send. Before it: sending/accept.ts has read the
// request. After it: the send goes on, or a Problem names the rule it breaks. The daily cap is
// judged where it is counted, approval where the email is stored (approvals/).
import { addressKey, formatMailbox, type Mailbox, parseMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import { inLongTurns } from '../process/in-turns.ts';
import type { AgentLimits } from './agent-limits.ts';
import { type AttachedFile, strangeLink, strangeLinkIn } from './link-hosts.ts';

const RECIPIENT_LISTS = ['to', 'cc', 'bcc'] as const;
type RecipientList = (typeof RECIPIENT_LISTS)[number];

/** What the rules check: the parsed request, and the request as it was written. */
export interface LimitedSend {
  envelope: readonly string[];
  from: Mailbox;
  replyTo: Mailbox | null;
  /** The senders whose names recipients see. */
  named: readonly Mailbox[];
  /** The headers of the request, including those of an email that arrived whole. */
  headers: readonly (readonly [string, string])[];
  attachments: readonly AttachedFile[];
  /** The body arrived whole: nobody knows everything that email programs read in it. */
  cameWhole: boolean;
  request: Record<string, unknown> & {
    [List in RecipientList]?: readonly string[] | undefined;
  };
}

/** What the account may send from. */
export interface OwnSenders {
  /** The exact address or its domain is verified. */
  maySendFrom(mailbox: Mailbox): boolean | Promise<boolean>;
  /** This exact address is verified. */
  isVerifiedAddress(address: string): Promise<boolean>;
}

export async function checkLimits(
  limits: AgentLimits,
  send: LimitedSend,
  own: OwnSenders,
): Promise<void> {
  const { request } = send;
  checkRecipients(limits, send);
  if (limits.noBcc && request.bcc !== undefined && request.bcc.length > 0) {
    throw broken('no_bcc', 'this API key may not send hidden copies. Leave bcc out.', 'bcc');
  }
  if (limits.templatesOnly) {
    checkWords(request);
    checkHeaders(send.headers);
  }
  await checkSender(limits, send.from, own);
  await checkAnswers(limits, send, own);
  if (limits.linkHosts !== null) await inLongTurns(checkLinks(limits.linkHosts, send));
}

// Who it may send to.

function checkRecipients(limits: AgentLimits, send: LimitedSend): void {
  const { envelope, request } = send;
  const routed = envelope.find(isRouted);
  if (routed !== undefined) {
    throw broken(
      'addresses',
      `a key with rules may not write to ${routed}: % and ! forward an email to another address.`,
      placeOf(routed, request),
    );
  }
  const allowed = limits.allowedRecipients;
  const refused = allowed && envelope.find((address) => !isAmong(allowed, address));
  if (refused == null) return;
  throw broken(
    'allowed_recipients',
    `this API key may not write to ${refused}. It may write to ${someOf(allowed!)}.`,
    placeOf(refused, request),
  );
}

/** Old mail servers pass a%b@c on to a@b: the rules see c, and b gets it. */
const isRouted = (address: string): boolean =>
  /[%!]/.test(address.slice(0, address.lastIndexOf('@')));

/** An address, or one at a domain (not its subdomains). */
function isAmong(allowed: readonly string[], address: string): boolean {
  const key = addressKey(address);
  return allowed.includes(key) || allowed.includes(key.slice(key.lastIndexOf('@') + 1));
}

function someOf(all: readonly string[]): string {
  const more = all.length > 10 ? ` and ${all.length - 10} more` : '';
  return `${all.slice(0, 10).join(', ')}${more}`;
}

/** Where the address was written. */
function placeOf(address: string, request: LimitedSend['request']): string | undefined {
  for (const list of RECIPIENT_LISTS) {
    for (const [index, text] of (request[list] ?? []).entries()) {
      const mailbox = parseMailbox(text);
      if ('address' in mailbox && mailbox.address === address) return `${list}[${index}]`;
    }
  }
  return undefined;
}

// What it may say: what a template says, filled in.

const OWN_WORDS = ['subject', 'html', 'text', 'attachments'] as const;

function checkWords(request: LimitedSend['request']): void {
  if (request.template === undefined) {
    const detail = 'this API key may only send templates. Name a template.';
    throw broken('templates_only', detail, 'template');
  }
  const own = OWN_WORDS.find((field) => request[field] !== undefined);
  if (own === undefined) return;
  throw broken(
    'templates_only',
    `this API key may only send templates as they are. Leave ${own} out and fill in the template's variables.`,
    own,
  );
}

/** People never see these; email programs use them only to group emails into threads. */
const HARMLESS_HEADERS = ['in-reply-to', 'references', 'x-entity-ref-id'];

function checkHeaders(headers: LimitedSend['headers']): void {
  const other = headers.find(([name]) => !HARMLESS_HEADERS.includes(name.toLowerCase()));
  if (other === undefined) return;
  throw broken(
    'templates_only',
    `this API key may not set the header ${other[0].slice(0, 100)}. It may set In-Reply-To, References and X-Entity-Ref-ID.`,
    'headers',
  );
}

/**
 * An account fixes the names it is known by; a key that may not choose words may not choose those.
 */
async function checkSender(limits: AgentLimits, from: Mailbox, own: OwnSenders): Promise<void> {
  if (limits.senders !== null) {
    const wanted = formatMailbox(from);
    if (limits.senders.some((one) => one === wanted || isBareFormOf(one, from))) return;
    throw broken(
      'senders',
      `this API key may not write from ${wanted}. It may write from ${someOf(limits.senders)}.`,
      'from_email',
    );
  }
  if (!limits.templatesOnly || !(await own.maySendFrom(from))) return;
  if (from.name !== '') {
    throw broken(
      'templates_only',
      `this API key may not choose the name that recipients see. Give ${from.address} alone, or name the mailbox in \`senders\` when a key is made.`,
      'from_email',
    );
  }
  if (/^no-?reply@/i.test(from.address) || (await own.isVerifiedAddress(from.address))) return;
  throw broken(
    'templates_only',
    `this API key may not choose an address of its own at ${from.domain}. It may write from no-reply@${from.domain}, from a verified address, and from those named in \`senders\` when a key is made.`,
    'from_email',
  );
}

const isBareFormOf = (sender: string, { name, address }: Mailbox): boolean =>
  name === '' && sender.endsWith(`<${address}>`);

/** Where replies go: Reply-To, and any other header in which email programs look for an address. */
async function checkAnswers(
  limits: AgentLimits,
  { replyTo, headers }: LimitedSend,
  own: OwnSenders,
): Promise<void> {
  if (limits.replyTo === null && !limits.templatesOnly) return;
  if (replyTo !== null) await checkAnswer(limits, replyTo.address, 'reply_to', own);
  for (const [name, value] of headers) {
    if (HARMLESS_HEADERS.includes(name.toLowerCase())) continue;
    for (const [address] of value.matchAll(/[^\s<>,;:"'()]+@[^\s<>,;:"'()]+/g)) {
      await checkAnswer(limits, address, 'headers', own);
    }
  }
}

async function checkAnswer(
  limits: AgentLimits,
  address: string,
  at: 'reply_to' | 'headers',
  own: OwnSenders,
): Promise<void> {
  const to = parseMailbox(address);
  if ('address' in to && !isRouted(to.address)) {
    if (limits.replyTo !== null && isAmong(limits.replyTo, to.address)) return;
    if (await own.maySendFrom(to)) return;
  }
  throw broken(
    'reply_to',
    `this API key may not direct replies to ${address.slice(0, 100)}, only to the account's own senders${limits.replyTo === null ? '' : ` and ${someOf(limits.replyTo)}`}.`,
    at,
  );
}

/**
 * Names count too: email programs turn whatever looks like a link into one, wherever it is shown.
 */
function* checkLinks(hosts: readonly string[], send: LimitedSend): Generator<void, void> {
  const { request, from, replyTo, named, headers, attachments } = send;
  if (send.cameWhole) throw unseen(hosts, 'an email that is handed over whole');
  const { variables, subject, html, text } = request;
  yield* requireOwnLinks(hosts, {
    ...{ variables, subject, html, from_email: from.name, to: named.map(({ name }) => name) },
    ...{ reply_to: replyTo?.name, headers: headers.map(([, value]) => value) },
  });
  yield* requireOwnLinks(hosts, { text }, { plain: true });
  for (const [index, file] of attachments.entries()) {
    const at = `attachments[${index}]`;
    const strange = yield* strangeLinkIn(file, hosts);
    if (strange === null) throw unseen(hosts, `the file ${file.filename}`, at);
    if (strange !== undefined) throw strangeTo(hosts, strange, at);
  }
}

/** What a template made of the caller's words: a link can be assembled there. */
export async function checkRenderedLinks(
  { linkHosts }: AgentLimits,
  request: LimitedSend['request'],
  rendered: RenderedWords,
): Promise<void> {
  if (linkHosts !== null) await inLongTurns(renderedLinks(linkHosts, request, rendered));
}

interface RenderedWords {
  subject: string;
  text: string | Buffer | null;
}

function* renderedLinks(
  hosts: readonly string[],
  { subject, text }: LimitedSend['request'],
  rendered: RenderedWords,
): Generator<void, void> {
  yield* requireOwnLinks(hosts, { ...(subject !== undefined && { subject: rendered.subject }) });
  const shown = text !== undefined && { text: String(rendered.text ?? '') };
  yield* requireOwnLinks(hosts, { ...shown }, { plain: true });
}

function* requireOwnLinks(
  hosts: readonly string[],
  shown: Record<string, unknown>,
  how: { plain?: boolean } = {},
): Generator<void, void> {
  for (const [field, value] of Object.entries(shown)) {
    const strange = yield* strangeLink(value, hosts, how);
    if (strange === null) throw unseen(hosts, `a word of more than 64 KB in ${field}`, field);
    if (strange !== undefined) throw strangeTo(hosts, strange, field);
  }
}

const strangeTo = (hosts: readonly string[], strange: string, at: string): Problem =>
  broken(
    'link_hosts',
    `this API key may not link to ${strange}. It may link to ${someOf(hosts)}.`,
    at,
  );

const unseen = (hosts: readonly string[], what: string, at?: string): Problem =>
  broken(
    'link_hosts',
    `this API key may only link to ${someOf(hosts)}, and links in ${what} cannot be looked through. Images (png, jpg, gif, webp), txt and ics files can.`,
    at,
  );

export function overCap(cap: number, left: number, retryAfterSeconds: number): Problem {
  return broken(
    'daily_cap',
    `this API key may write to ${cap} recipients a day and has ${Math.max(0, left)} left (to, cc and bcc count). It resets at 00:00 UTC, in ${retryAfterSeconds} seconds.`,
  );
}

const broken = (rule: string, detail: string, at?: string): Problem =>
  new Problem(
    'forbidden',
    `The rule ${rule} of this key: ${detail}`,
    at === undefined ? {} : { at },
  );
