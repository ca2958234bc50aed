// POST /inbound/ses: what Amazon SES tells through SNS, for accounts that relay through it.
// feedback/sns.ts checks who speaks and ses.ts what is said; here the certificate is fetched and
// the mail found.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { Problem } from '../errors.ts';
import type { Matcher } from '../feedback/match.ts';
import type { ReportRecorder } from '../feedback/record.ts';
import { readSes, type SesEvent } from '../feedback/ses.ts';
import { subscribeUrl, verifySns } from '../feedback/sns.ts';
import type { Bodies } from '../http/body.ts';
import { showId } from '../ids.ts';
import { type RefusalDeps, refuse } from '../operations/refusal.ts';
import { isMachine } from '../tracking/machines.ts';
import type { EngagementRecorder } from '../tracking/record.ts';

export interface SesDeps extends RefusalDeps {
  clock: Clock;
  matcher: Matcher;
  recorder: ReportRecorder;
  engagements: EngagementRecorder;
  topics: readonly string[];
  bodies: Bodies;
  /** The text at an address of SNS, which was checked to be one. */
  fetchText: (url: string) => Promise<string>;
}

/** SNS messages are at most 256 KB. */
const MOST_BYTES = 300 * 1024;

export async function answerSes(
  deps: SesDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    if (request.method !== 'POST') throw new Problem('invalid', 'Amazon SNS posts here.');
    if (deps.topics.length === 0) throw new Problem('forbidden', 'SES_TOPICS allows no topic.');
    const body = await deps.bodies.read(request, { key: undefined, mostBytes: MOST_BYTES });
    try {
      await take(deps, body.bytes.toString());
    } finally {
      body.release();
    }
    response.writeHead(200).end();
  } catch (error) {
    const { status, headers, body } = refuse(deps, { door: 'inbound' }, error);
    deps.log.warn({ detail: body.detail }, 'a notification of Amazon SES was not taken');
    // SNS comes again after a fault of ours.
    response.writeHead(status, { ...headers, 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }
}

async function take(deps: SesDeps, body: string): Promise<void> {
  const message = await verifySns(
    {
      topics: deps.topics,
      fetchCertificate: deps.fetchText,
      nowMs: () => deps.clock.nowMs(),
    },
    body,
  );
  const confirm = subscribeUrl(message);
  if (confirm !== undefined) {
    await deps.fetchText(confirm);
    deps.log.info({ topic: message.TopicArn }, 'the subscription of an SNS topic is confirmed');
    return;
  }
  if (message.Type !== 'Notification') return;
  const event = readSes(message.Message);
  if (event !== undefined) await recordEvent(deps, event);
}

async function recordEvent(deps: SesDeps, event: SesEvent): Promise<void> {
  const { kind, report, relayMessageId } = event;
  // Amazon signed it and the operator named the topic: its reports count without a token of ours.
  const subject =
    deps.matcher.prove(report) ?? (await deps.matcher.guess(report, { relayMessageId }));
  const mail = subject?.mail;
  deps.log.info(
    { account: mail?.accountId, message: mail && showId('msg_', mail.messageId), kind },
    mail ? 'SES report' : 'an SES report is about no mail of ours',
  );
  if (subject === undefined || mail === undefined) return;
  if (kind !== 'open' && kind !== 'click') {
    await deps.recorder.record({ ...subject, report });
    return;
  }
  const userAgent = event.userAgent ?? '';
  const ipAddress = event.ipAddress ?? '';
  deps.engagements.note({
    ...mail,
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
