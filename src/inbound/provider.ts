// POST /inbound/{postmark,mailgun,sendgrid}: what a provider reports about email relayed through
// it. feedback/providers decides who is calling and what it says; here the email is found and the
// event recorded, for Amazon SES (ses.ts) too.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../errors.ts';
import type { Matcher } from '../feedback/match.ts';
import { isFirstOrSame } from '../feedback/provider-nonces.ts';
import { mailgun } from '../feedback/providers/mailgun.ts';
import { postmark } from '../feedback/providers/postmark.ts';
import { notAuthentic, type Provider, type ProviderEvent } from '../feedback/providers/provider.ts';
import { sendgrid } from '../feedback/providers/sendgrid.ts';
import type { ReportRecorder } from '../feedback/record.ts';
import type { Bodies } from '../http/body.ts';
import { showId } from '../ids.ts';
import { type RefusalDeps, refuse } from '../operations/refusal.ts';
import type { Clock } from '../process/clock.ts';
import { isDataFault } from '../process/group-commit.ts';
import type { Metrics } from '../process/metrics.ts';
import type { Database } from '../store/pool.ts';
import { isMachine } from '../tracking/machines.ts';
import type { EngagementRecorder } from '../tracking/record.ts';

export const PROVIDERS: readonly Provider[] = [postmark, mailgun, sendgrid];

export interface EventDeps extends RefusalDeps {
  clock: Clock;
  matcher: Matcher;
  recorder: ReportRecorder;
  engagements: EngagementRecorder;
}

export interface PostDeps extends EventDeps {
  bodies: Bodies;
  /** Called for every refused post, and logs it now and then: anyone can post. */
  refusedPost: (error: unknown) => void;
}

export interface ProviderDeps extends PostDeps {
  metrics: Pick<Metrics, 'refused' | 'unreadEvents'>;
  /**
   * Called for every event that does not match the provider's documentation, and logs it now and
   * then.
   */
  couldNotRead: (problem: Problem) => void;
  database: Database;
  /** The values of each provider's setting, by its name; none: it is refused. */
  providerSecrets: Readonly<Record<string, readonly string[]>>;
}

/** SendGrid posts up to 768 KB at a time, the others one event. */
const MOST_BYTES = 1024 * 1024;

export async function answerProvider(
  deps: ProviderDeps,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await answerPost(deps, response, async () => {
    const events = await read(deps, provider, request);
    await recordAll(deps, provider.title, events);
  });
}

/** 200 for what was accepted. Providers retry after a fault of ours. */
export async function answerPost(
  deps: PostDeps,
  response: ServerResponse,
  take: () => Promise<void>,
): Promise<void> {
  try {
    await take();
    response.writeHead(200).end();
  } catch (error) {
    const { status, headers, body } = refuse(deps, { door: 'inbound' }, error);
    deps.refusedPost(error);
    response.writeHead(status, { ...headers, 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }
}

/**
 * Together: they share a commit. If one could not be written, the provider retries with all of
 * them, and those already recorded change nothing.
 */
async function recordAll(
  deps: EventDeps,
  provider: string,
  events: readonly ProviderEvent[],
): Promise<void> {
  const ends = await Promise.allSettled(events.map((event) => recordEvent(deps, provider, event)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

async function read(
  deps: ProviderDeps,
  provider: Provider,
  request: IncomingMessage,
): Promise<ProviderEvent[]> {
  const { title, name, setting } = provider;
  const secrets = deps.providerSecrets[name] ?? [];
  if (request.method !== 'POST') throw new Problem('invalid', `${title} posts here.`);
  if (secrets.length === 0) throw new Problem('forbidden', `${setting} is unset.`);
  const body = await deps.bodies.read(request, { key: undefined, mostBytes: MOST_BYTES });
  try {
    const [path = ''] = (request.url ?? '').split('?');
    const rest = path.slice(`/inbound/${name}/`.length);
    const text = body.bytes.toString();
    provider.authenticate({ rest, headers: request.headers, text }, secrets, deps.clock.nowMs());
    const told = parse(title, text);
    await requireOnce(deps, provider, told);
    return (Array.isArray(told) ? told : [told]).flatMap((one) => readOne(deps, provider, one));
  } finally {
    body.release();
  }
}

/**
 * It is dropped: otherwise the provider would send it again, with everything else in the same post.
 */
function readOne(
  { metrics, couldNotRead }: ProviderDeps,
  { name, read }: Provider,
  one: unknown,
): ProviderEvent[] {
  try {
    const event = read(one);
    return event === undefined ? [] : [event];
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    metrics.unreadEvents.inc({ provider: name });
    couldNotRead(problem);
    return [];
  }
}

async function requireOnce(
  { database }: ProviderDeps,
  { name, title, signedWord }: Provider,
  told: unknown,
): Promise<void> {
  if (signedWord === undefined) return;
  const { nonce, said } = signedWord(told);
  if (await isFirstOrSame(database, name, nonce, said)) return;
  throw notAuthentic(title, 'its token was already used, with another event');
}

function parse(title: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('invalid', `The body is not JSON, which ${title} always sends.`);
  }
}

/**
 * The provider was authenticated as the operator said: its reports count without a token of ours if
 * the email is found by its id.
 */
export async function recordEvent(
  deps: EventDeps,
  provider: string,
  event: ProviderEvent,
): Promise<void> {
  try {
    await record(deps, provider, event);
  } catch (error) {
    // It would fail every time, and hold back everything that comes with it.
    if (!isDataFault(error)) throw error;
    deps.log.warn(
      { err: error, provider, kind: event.kind },
      'a report from a provider was dropped',
    );
  }
}

async function record(deps: EventDeps, provider: string, event: ProviderEvent): Promise<void> {
  const { kind, report, relayMessageId } = event;
  const subject =
    deps.matcher.prove(report) ?? (await deps.matcher.guess(report, { relayMessageId }));
  const email = subject?.email;
  deps.log.info(
    {
      account: email?.accountId,
      message: email && showId('msg_', email.messageId),
      kind,
      provider,
    },
    email ? 'report from a provider' : 'a report from a provider matches no email of ours',
  );
  if (subject === undefined || email === undefined) return;
  if (kind !== 'open' && kind !== 'click') {
    await deps.recorder.record({ ...subject, report });
    return;
  }
  const userAgent = event.userAgent ?? '';
  const ipAddress = event.ipAddress ?? '';
  deps.engagements.note({
    ...email,
    kind: kind === 'open' ? 'opened' : 'clicked',
    userAgent,
    ipAddress,
    machine: isMachine(userAgent, ipAddress),
    index: 0,
    place: typeof subject.about === 'number' ? subject.about : null,
    identity: event.fingerprint,
    ...(kind === 'click' ? { url: event.url ?? '' } : {}),
  });
}
