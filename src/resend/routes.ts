// What the Resend door serves: each call of Resend's API as operations of ours. Before it: door.ts,
// which knows the caller and has read the body. What Resend offers and we do not is in NOT_SERVED.
import type { Caller } from '../accounts/directory.ts';
import { Problem } from '../errors.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { domainOperations } from '../operations/domains.ts';
import { contentOperations } from '../operations/message-content.ts';
import { getMessageDetails, listMessages } from '../operations/messages.ts';
import { type Operation, requireScope } from '../operations/operation.ts';
import { type NewVia, perform } from '../operations/perform.ts';
import { cancelEmail, rescheduleEmail } from '../operations/recalls.ts';
import { sendBatch } from '../operations/send-batch.ts';
import { sendEmail } from '../operations/send-email.ts';
import { takeTurns } from '../process/in-turns.ts';
import { MOST_IN_BATCH } from '../sending/batch-request.ts';
import { fromResendId, htmlWithoutText, toResendId, toResendTag, toSendRequest } from './emails.ts';
import { NotServed } from './errors.ts';

export interface ResendCall {
  caller: Caller;
  body: unknown;
  query: URLSearchParams;
  via: NewVia;
  /** `strict` or `permissive`, for batches. */
  validation: string | undefined;
}

export interface Route {
  method: string;
  path: RegExp;
  answer: (deps: OperationDeps, call: ResendCall, id: string) => Promise<object>;
}

const named = (operations: readonly { name: string }[], name: string): Operation =>
  operations.find((operation) => operation.name === name) as unknown as Operation;

const getContent = named(contentOperations, 'get_message_content');
const listDomains = named(domainOperations, 'list_domains');
const getDomain = named(domainOperations, 'get_domain');

export const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: /^\/emails$/,
    async answer(deps, { caller, body, via }) {
      requireScope(caller, sendEmail.scope);
      const wish = await readEmail(deps, caller, body);
      const { id } = await perform(deps, sendEmail, caller, wish, via);
      return { id: toResendId(id) };
    },
  },
  {
    method: 'POST',
    path: /^\/emails\/batch$/,
    answer: sendAll,
  },
  {
    method: 'GET',
    path: /^\/emails$/,
    answer: listEmails,
  },
  {
    method: 'GET',
    path: /^\/emails\/([^/]+)$/,
    answer: (deps, call, id) => tellEmail(deps, call, fromResendId(id)),
  },
  {
    method: 'PATCH',
    path: /^\/emails\/([^/]+)$/,
    async answer(deps, { caller, body, via }, id) {
      const { scheduled_at, scheduledAt } = (body ?? {}) as Record<string, unknown>;
      const wish = { sm_mail_id: fromResendId(id), scheduled_at: scheduled_at ?? scheduledAt };
      await perform(deps, rescheduleEmail, caller, wish, via);
      return { object: 'email', id: toResendId(wish.sm_mail_id) };
    },
  },
  {
    method: 'POST',
    path: /^\/emails\/([^/]+)\/cancel$/,
    async answer(deps, { caller, via }, id) {
      const wish = { sm_mail_id: fromResendId(id) };
      await perform(deps, cancelEmail, caller, wish, via);
      return { object: 'email', id: toResendId(wish.sm_mail_id) };
    },
  },
  {
    method: 'GET',
    path: /^\/domains$/,
    async answer(deps, { caller, query, via }) {
      const limit = Number(query.get('limit') ?? 100) || 100;
      const cursor = query.get('after') ?? undefined;
      const wish = { limit: Math.min(100, limit), ...(cursor && { cursor }) };
      const { data, has_more } = await perform(deps, listDomains, caller, wish, via);
      return { object: 'list', has_more, data: (data as OwnDomain[]).map(toResendDomain) };
    },
  },
  {
    method: 'GET',
    path: /^\/domains\/([^/]+)$/,
    async answer(deps, { caller, via }, id) {
      const found = await perform(deps, getDomain, caller, { domain: id }, via);
      return { object: 'domain', ...toResendDomain(found as unknown as OwnDomain), records: [] };
    },
  },
];

async function sendAll(
  deps: OperationDeps,
  { caller, body, via, validation }: ResendCall,
): Promise<object> {
  if (!Array.isArray(body)) throw new Problem('invalid', 'The body must be a list of emails.');
  requireScope(caller, sendBatch.scope);
  const wish = { emails: await readEmails(deps, caller, body), validation };
  const { data, errors } = await perform(deps, sendBatch, caller, wish, via);
  const sent = data.map(({ id }) => ({ id: toResendId(id) }));
  if (validation !== 'permissive') return { data: sent };
  return { data: sent, errors: errors.map(({ index, detail }) => ({ index, message: detail })) };
}

/**
 * An email that cannot be read is replaced by its Problem. Of a list that is too long, only enough
 * is read to show that it is.
 */
async function readEmails(
  deps: OperationDeps,
  caller: Caller,
  body: readonly unknown[],
): Promise<unknown[]> {
  const turns = takeTurns();
  const emails: unknown[] = [];
  for (const email of body.slice(0, MOST_IN_BATCH + 1)) {
    emails.push(await readEmail(deps, caller, email).catch(orThrow));
    await turns();
  }
  return emails;
}

/** What is wrong with one email; that the account is over its limit is about all of them. */
function orThrow(error: unknown): Problem {
  if (error instanceof Problem && error.code !== 'over-limit') return error;
  throw error;
}

async function readEmail(
  deps: OperationDeps,
  { accountId }: Caller,
  raw: unknown,
): Promise<Record<string, unknown>> {
  const request = toSendRequest(raw);
  const html = htmlWithoutText(raw);
  const text = html === undefined ? undefined : await deps.textOf(accountId, html);
  return text ? { ...request, text } : request;
}

/** Newest first. Our search reads a limited number of messages; this is not a search. */
async function listEmails(
  deps: OperationDeps,
  { caller, query, via }: ResendCall,
): Promise<object> {
  if (query.get('before')) {
    throw new NotServed('GET /emails: this service pages by after, not by before.');
  }
  const after = query.get('after');
  const wish = {
    limit: readLimit(query),
    ...(after ? { cursor: fromResendId(after) } : {}),
  };
  const { data, has_more } = await perform(deps, listMessages, caller, wish, via);
  return { object: 'list', has_more, data: data.map(listedEmail) };
}

const MOST_LISTED = 100;

/** Resend's default is 20; 1 to 100 are allowed. */
function readLimit(query: URLSearchParams): number {
  const limit = Number(query.get('limit') ?? 20);
  if (Number.isInteger(limit) && limit >= 1 && limit <= MOST_LISTED) return limit;
  throw new Problem('invalid', `limit must be a whole number from 1 to ${MOST_LISTED}.`, {
    at: 'limit',
  });
}

type Listed = Awaited<ReturnType<(typeof listMessages)['run']>>['data'][number];

/** Who is in To, Cc or Bcc is in the content, which a list does not read. */
const listedEmail = (message: Listed) => ({
  id: toResendId(message.id),
  from: message.from_email,
  to: message.recipients,
  cc: [],
  bcc: [],
  reply_to: [],
  subject: message.subject,
  created_at: message.created_at,
  scheduled_at: message.scheduled_at,
  last_event: lastEvent({ ...message, events: [] }),
});

interface OwnDomain {
  domain: string;
  verified: boolean;
  created_at: string;
}

/** Its name is its id here. We have no regions. */
const toResendDomain = ({ domain, verified, created_at }: OwnDomain) => ({
  id: domain,
  name: domain,
  status: verified ? 'verified' : 'pending',
  created_at,
  region: 'self-hosted',
  capabilities: { sending: 'enabled', receiving: 'disabled' },
});

async function tellEmail(
  deps: OperationDeps,
  { caller, via }: ResendCall,
  sm_mail_id: string,
): Promise<object> {
  const details = await perform(deps, getMessageDetails, caller, { sm_mail_id }, { ...via });
  const content = await contentOf(deps, caller, sm_mail_id, via);
  return {
    object: 'email',
    id: toResendId(sm_mail_id),
    from: content?.from_email ?? details.from_email,
    to: content?.to ?? details.recipients,
    cc: content?.cc ?? [],
    bcc: content?.bcc ?? [],
    reply_to: content?.reply_to ? [content.reply_to] : [],
    subject: details.subject,
    html: content?.html ?? null,
    text: content?.text ?? null,
    tags: details.tags.map(toResendTag),
    created_at: details.created_at,
    scheduled_at: details.scheduled_at,
    last_event: lastEvent(details),
  };
}

/** Undefined: it is past its retention, or only for its reader. */
async function contentOf(
  deps: OperationDeps,
  caller: Caller,
  sm_mail_id: string,
  via: NewVia,
): Promise<OwnContent | undefined> {
  try {
    return (await perform(
      deps,
      getContent,
      caller,
      { sm_mail_id },
      { ...via },
    )) as unknown as OwnContent;
  } catch (error) {
    if (error instanceof Problem && /^(not-found|forbidden)$/.test(error.code)) return undefined;
    throw error;
  }
}

interface OwnContent {
  from_email: string;
  to: string[];
  cc: string[];
  bcc: string[];
  reply_to: string | null;
  html: string | null;
  text: string | null;
}

interface Told {
  status: string;
  scheduled_at: string | null;
  cancelled_at: string | null;
  events: readonly { type: string; bounce_type?: unknown }[];
}

function lastEvent({ status, scheduled_at, cancelled_at, events }: Told): string {
  if (cancelled_at !== null) return 'canceled';
  if (status === 'queued') return scheduled_at === null ? 'queued' : 'scheduled';
  const bounces = events.filter(({ type }) => type === 'bounced');
  const isSuppressed =
    bounces.length > 0 && bounces.every(({ bounce_type }) => bounce_type === 'suppressed');
  return status === 'bounced' && isSuppressed ? 'suppressed' : status;
}

/** By the first part of the path: what it is, and what to use instead. */
const NOT_SERVED: Record<string, string> = {
  'api-keys': 'API keys here: create them in the dashboard or with /v1/keys',
  audiences: 'audiences',
  automations: 'automations',
  broadcasts: 'broadcasts',
  'contact-properties': 'properties of contacts',
  contacts: 'contacts',
  domains: 'this for domains: use the dashboard or /v1/domains',
  emails: 'this for emails',
  events: 'events of automations',
  inboxes: 'inboxes',
  logs: 'logs of calls: see /v1/audit',
  oauth: 'OAuth grants',
  segments: 'segments',
  suppressions: 'suppressions here: use /v1/suppressions',
  templates: 'templates here: use /v1/templates; send one with template.id',
  topics: 'topics',
  usage: 'usage here: use /v1/usage',
  webhooks: 'webhooks here: use /v1/webhooks',
};

export const RESOURCES: ReadonlySet<string> = new Set(Object.keys(NOT_SERVED));

/** The route and the id in its path; throws if there is none. */
export function routeFor(method: string, path: string): { route: Route; id: string } {
  for (const route of ROUTES) {
    const found = route.method === method ? route.path.exec(path) : null;
    if (found !== null)
      return { route, id: found[1] === undefined ? '' : decodeURIComponent(found[1]) };
  }
  const resource = path.split('/', 2)[1] ?? '';
  if (RESOURCES.has(resource)) {
    throw new NotServed(
      `${method} ${path.slice(0, 100)}: this service does not offer ${NOT_SERVED[resource]}.`,
    );
  }
  throw new Problem('not-found', `There is nothing at ${method} ${path.slice(0, 100)}.`);
}
