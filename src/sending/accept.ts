// Accepting a send: from a well-formed request to a mail on disk. Doors call it through
// operations/send-email.ts; after it, delivery/attempt.ts finds the due row. The order of the steps
// is the contract's order of checks.
import { checkLimits, overCap } from '../accounts/agent-limits.ts';
import type { Caller, Directory } from '../accounts/directory.ts';
import { pausedProblem } from '../accounts/pause.ts';
import type { Mailbox } from '../addresses.ts';
import type { Clock } from '../clock.ts';
import { type LimitState, Problem } from '../errors.ts';
import { newIdBytes, showId } from '../ids.ts';
import type { MailClass } from '../queue/lanes.ts';
import type { RenderTemplate } from '../templates/rendering.ts';
import { type Attachment, readAttachments } from './attachments.ts';
import type { Allowance, Batcher, Verdict } from './batch.ts';
import { type Content, checkBody, makeContent } from './content.ts';
import { readHeaders, readTags } from './headers.ts';
import { guardAgainstRepeat, type IdempotencyClaim, readIdempotencyKey } from './idempotency.ts';
import { checkInlineParts } from './inline-parts.ts';
import type { PackedSend } from './packed-send.ts';
import { type Recipients, readMailbox, readRecipients } from './recipients.ts';
import type { SendAnswer, SendRequest } from './request.ts';
import { writeHead } from './stored-head.ts';

export interface AcceptDeps {
  clock: Clock;
  directory: Directory;
  render: RenderTemplate;
  batcher: Batcher;
  /** Seconds until the relay is tried again, for the answer while its circuit is open. */
  relayRetryAfterSeconds: () => number;
  /**
   * Headers by which relays take orders and which the operator allows all the same, in lower case.
   */
  allowedHeaders: ReadonlySet<string>;
}

export interface SendVia {
  door: PackedSend['door'];
  idempotencyKey?: string | undefined;
  /**
   * Take an identical send through the same key within a minute for a repeat, when there is no
   * idempotency key.
   */
  guardRepeats?: boolean;
}

/** The answer, with how the daily quota stands for the doors that show it. */
export interface Accepted {
  answer: SendAnswer;
  /** The answer is that of an earlier send; nothing was queued now. */
  repeated: boolean;
  limit: LimitState | null;
}

export async function acceptSend(
  deps: AcceptDeps,
  caller: Caller,
  request: SendRequest,
  via: SendVia,
): Promise<Accepted> {
  // The service's own mails go on: links for a password, notices.
  if (caller.paused !== null && via.door !== 'system') throw pausedProblem(caller.paused);
  const checked = checkRequest(deps, caller, request, via);
  if (caller.limits !== null) {
    checkLimits(caller.limits, { envelope: checked.recipients.envelope, request });
  }
  await requireVerifiedSender(deps.directory, caller, checked.from);
  const content = await makeContent(deps.render, caller.accountId, request);
  checkInlineParts(checked.attachments, content.html);
  const send = pack(deps.clock, caller, checked, content, via);
  return answer(deps, send, await deps.batcher.add(send));
}

interface Checked {
  from: Mailbox;
  replyTo: Mailbox | null;
  recipients: Recipients;
  headers: [string, string][];
  tags: string[] | null;
  attachments: Attachment[];
  idempotency: IdempotencyClaim | null;
}

function checkRequest(
  deps: AcceptDeps,
  caller: Caller,
  request: SendRequest,
  via: SendVia,
): Checked {
  checkBody(request);
  return {
    from: readMailbox('from_email', request.from_email),
    recipients: readRecipients(request),
    replyTo: request.reply_to === undefined ? null : readMailbox('reply_to', request.reply_to),
    headers: readHeaders(request.headers, deps.allowedHeaders),
    tags: readTags(request.tags),
    attachments: readAttachments(request.attachments),
    idempotency:
      via.guardRepeats && via.idempotencyKey === undefined
        ? guardAgainstRepeat(caller.keyId ?? via.door, request)
        : readIdempotencyKey(via.idempotencyKey, request),
  };
}

async function requireVerifiedSender(
  directory: Directory,
  caller: Caller,
  from: Mailbox,
): Promise<void> {
  if (await directory.maySendFrom(caller, from)) return;
  throw new Problem(
    'forbidden',
    `from_email: ${from.address} is not a verified identity of this account. Verify the address or the domain ${from.domain} first.`,
  );
}

function pack(
  clock: Clock,
  caller: Caller,
  checked: Checked,
  content: Content,
  via: SendVia,
): PackedSend {
  const head = writeHead({
    from: checked.from,
    to: checked.recipients.to,
    cc: checked.recipients.cc,
    replyTo: checked.replyTo,
    headers: checked.headers,
    attachments: checked.attachments.map(({ content, ...attachment }) => ({
      ...attachment,
      size: content.length,
    })),
    ...(caller.limits?.sandboxOnly ? { sandbox: true } : {}),
    ...(keepsLinks(via, content) ? { keepLinks: true } : {}),
  });
  const attachments = joinBytes(checked.attachments);
  return {
    id: newIdBytes(clock.nowMs()),
    accountId: caller.accountId,
    keyId: caller.keyId,
    door: via.door,
    from: checked.from.address,
    envelope: checked.recipients.envelope,
    recipientCount: checked.recipients.count,
    subject: content.subject,
    tags: checked.tags,
    template: content.template,
    templateVersion: content.templateVersion,
    brandingVersion: content.brandingVersion,
    head,
    html: content.html,
    text: content.text,
    attachments,
    size:
      Buffer.byteLength(head) +
      Buffer.byteLength(content.html ?? '') +
      Buffer.byteLength(content.text ?? '') +
      (attachments?.length ?? 0),
    class: classOf(via, content),
    idempotency: checked.idempotency,
    keyCap: caller.limits?.dailyCap ?? null,
  };
}

/** About logging in and about danger: nobody can wait for these. */
const ABOUT_ACCESS = ['authentication', 'security'];

const isAboutAccess = (via: SendVia, { category }: Content): boolean =>
  via.door === 'system' || ABOUT_ACCESS.includes(category ?? '');

/**
 * Links that log in, reset or alarm: people are taught to look where they go, and a redirect would
 * teach them not to. Those of the service itself act for who follows them: they belong in no
 * timeline.
 */
const keepsLinks = isAboutAccess;

const classOf = (via: SendVia, content: Content): MailClass =>
  isAboutAccess(via, content) ? 'urgent' : 'normal';

/** One attachment is passed on as it is: 20 MB are not copied for nothing. */
function joinBytes(attachments: Attachment[]): Buffer | null {
  if (attachments.length === 0) return null;
  if (attachments.length === 1) return attachments[0]!.content;
  return Buffer.concat(attachments.map((attachment) => attachment.content));
}

function answer(deps: AcceptDeps, send: PackedSend, verdict: Verdict): Accepted {
  switch (verdict.kind) {
    case 'accepted':
    case 'repeated':
      return {
        answer: { id: showId('msg_', verdict.id), status: 'queued' },
        repeated: verdict.kind === 'repeated',
        limit: verdict.allowance && dailyLimit(verdict.allowance, secondsToMidnight(deps.clock)),
      };
    case 'conflict':
      throw new Problem(
        'invalid',
        'This Idempotency-Key was used with another request within the last 24 hours. Use a new key for a new mail.',
      );
    case 'over-cap':
      throw overCap(send.keyCap ?? 0, verdict.capLeft, verdict.retryAfterSeconds);
    case 'over-quota':
      throw new Problem(
        'over-limit',
        `The daily quota of ${verdict.allowance.quota} recipients has ${verdict.allowance.quotaLeft} left (to, cc and bcc count). It starts anew at 00:00 UTC.`,
        {
          retryAfterSeconds: verdict.retryAfterSeconds,
          limit: dailyLimit(verdict.allowance, verdict.retryAfterSeconds),
        },
      );
    case 'over-rate':
      throw new Problem(
        'over-limit',
        `More than ${verdict.allowance.rate} sends a second. Wait and try again, or spread the calls.`,
        {
          retryAfterSeconds: verdict.retryAfterSeconds,
          limit: {
            limit: verdict.allowance.rate,
            remaining: 0,
            resetSeconds: verdict.retryAfterSeconds,
            windowSeconds: 1,
          },
        },
      );
    case 'queue-full':
      throw new Problem(
        'unavailable',
        'The queue of this service is full, so new mail is not accepted right now. Try again in a while. Mail accepted before is delivered.',
        { retryAfterSeconds: 30 },
      );
    case 'relay-down':
      throw new Problem(
        'relay-down',
        'The SMTP relay cannot be reached, so new mail is not accepted right now. Try again shortly. Mail accepted before stays queued and is delivered.',
        { retryAfterSeconds: deps.relayRetryAfterSeconds() },
      );
  }
}

const DAY_SECONDS = 86_400;

function dailyLimit(allowance: Allowance, resetSeconds: number): LimitState {
  return {
    limit: allowance.quota,
    remaining: Math.max(0, allowance.quotaLeft),
    resetSeconds,
    windowSeconds: DAY_SECONDS,
  };
}

const secondsToMidnight = (clock: Clock): number =>
  DAY_SECONDS - (Math.floor(clock.nowMs() / 1000) % DAY_SECONDS);
