// Accepting a send: from a well-formed request to an email on disk. Doors call it through
// operations/send-email.ts; after it, delivery/attempt.ts finds the due row. The order of the steps
// is the contract's order of checks.
import { checkLimits, checkRenderedLinks } from '../accounts/agent-rules.ts';
import type { Caller, Directory, KnownSender } from '../accounts/directory.ts';
import { isVerified, verifiedSenders } from '../accounts/identities.ts';
import { pausedProblem } from '../accounts/pause.ts';
import type { Mailbox } from '../addresses.ts';
import { fingerprint } from '../approvals/fingerprint.ts';
import { type HeldReason, whyHeld } from '../approvals/holding.ts';
import { Problem, readTogether } from '../errors.ts';
import { newIdBytes, showUuid } from '../ids.ts';
import { DEFAULT_STREAM, type StreamKind } from '../messages/stream.ts';
import type { Clock } from '../process/clock.ts';
import type { EmailClass } from '../queue/lanes.ts';
import type { Database } from '../store/pool.ts';
import { type KnownStreams, requireStream, unfitStream } from '../streams/streams.ts';
import { listedForms } from '../suppressions/erased.ts';
import { isAboutAccess as isAbout } from '../templates/categories.ts';
import type { RenderTemplate } from '../templates/rendering.ts';
import { type Accepted, answer, withoutCopy } from './answer.ts';
import { type Attachment, readAttachments } from './attachments.ts';
import type { Batcher } from './batch.ts';
import { type Content, checkBody, inline, makeContent } from './content.ts';
import { readHeaders, readTags } from './headers.ts';
import {
  type BatchClaim,
  findEarlier,
  guardAgainstRepeat,
  type IdempotencyClaim,
  keepFor,
  keyNameAt,
  readIdempotencyKey,
} from './idempotency.ts';
import { checkInlineParts } from './inline-parts.ts';
import type { PackedSend } from './packed-send.ts';
import { type Recipients, readMailbox, readRecipients, readSender } from './recipients.ts';
import { requireNoTwin } from './repeats.ts';
import type { SendRequest } from './request.ts';
import { readInstant, requireAhead } from './schedule.ts';
import { writeHead } from './stored-head.ts';
import { type Submitted, saidBy } from './submitted.ts';
import { type WarningDeps, warningsOn } from './warnings.ts';

export interface AcceptDeps extends WarningDeps {
  database: Database;
  clock: Clock;
  directory: Directory;
  render: RenderTemplate;
  /** The account's streams that take email. */
  streams: (accountId: number) => Promise<KnownStreams>;
  batcher: Batcher;
  /** Why no more can be scheduled; undefined: there is room. */
  scheduledFullness: () => string | undefined;
  /** Seconds until the relay is tried again, for the answer while its circuit is open. */
  relayRetryAfterSeconds: () => number;
  /** Headers that instruct relays and that the operator allows nevertheless, in lower case. */
  allowedHeaders: ReadonlySet<string>;
}

export interface SendVia {
  door: PackedSend['door'];
  idempotencyKey?: string | undefined;
  /** The name by which the caller knows the key, if it differs from the door's name for it. */
  keyName?: string;
  /**
   * Treat an identical send through the same key within a minute as a repeat, if there is no
   * idempotency key.
   */
  guardRepeats?: boolean;
  /** Refuse a send that the same key made within a minute under another idempotency key. */
  askRepeats?: boolean;
  /** Say which recipients get no copy. */
  tellSuppressed?: boolean;
  /** One key for a whole batch, used if the send has none of its own. */
  claim?: BatchClaim;
  /**
   * It is about signing in or security, although no template says so: it is sent again from a
   * message that was.
   */
  aboutAccess?: boolean;
  /** The request came as a whole email, which is kept as it came. */
  submitted?: Submitted;
}

export async function acceptSend(
  deps: AcceptDeps,
  caller: Caller,
  request: SendRequest,
  via: SendVia,
): Promise<Accepted> {
  requireNotPaused(caller, via);
  const prepared = await prepareSend(deps, caller, request, via);
  if ('answer' in prepared) return prepared;
  if (via.askRepeats) await requireNoTwin(deps, prepared);
  const verdict = await deps.batcher.add(prepared);
  const accepted = answer(deps, prepared, verdict);
  if ('listed' in verdict && verdict.listed) {
    accepted.suppressed = await withoutCopy(deps, prepared);
  }
  return accepted;
}

/** The service's own emails still go out: password links, notices. */
export function requireNotPaused({ paused }: Caller, { door }: SendVia): void {
  if (paused !== null && door !== 'system') throw pausedProblem(paused);
}

/** Everything but the writing: checked, rendered and packed; or a repeat's answer. */
export async function prepareSend(
  deps: AcceptDeps,
  caller: Caller,
  request: SendRequest,
  via: SendVia,
): Promise<PackedSend | Accepted> {
  const checked = checkRequest(deps, caller, request, via);
  if (checked.scheduledAtMs !== null) {
    const earlier = await checkSchedule(deps, caller, checked.scheduledAtMs, checked.idempotency);
    if (earlier !== undefined) return earlier;
  }
  if (caller.limits !== null) {
    await checkLimits(
      caller.limits,
      { request, cameWhole: via.submitted?.mime != null, ...checked, ...shownBy(checked, via) },
      {
        maySendFrom: async (mailbox) =>
          (await deps.directory.senderOf(caller, mailbox)) !== undefined,
        isVerifiedAddress: (address) => isVerified(deps.database, caller.accountId, address),
      },
    );
  }
  const named =
    request.stream === undefined ? null : await readStream(deps, caller, request.stream);
  // Both are usually available at once; awaiting what is already there took 2 µs of a send.
  const found = findVerifiedSender(deps, caller, checked.from);
  const sender = found instanceof Promise ? await found : found;
  const made = via.submitted?.mime
    ? inline(request.subject ?? '', null, null)
    : makeContent(deps.render, caller.accountId, request);
  const content = made instanceof Promise ? await made : made;
  if (caller.limits !== null) await checkRenderedLinks(caller.limits, request, content);
  const carrying = withFiles(checked, content);
  const checkingParts = checkInlineParts(carrying.attachments, content.html);
  if (checkingParts !== undefined) await checkingParts;
  const stream =
    named ??
    (content.stream === null ? TRANSACTIONAL : await readStream(deps, caller, content.stream));
  requireFit(stream, content);
  const send = pack(deps.clock, caller, carrying, content, stream, via);
  if (sender.unaligned !== null || sender.lintSends) {
    const about = { stream, headers: checked.headers };
    send.warnings = await warningsOn(deps, caller, sender, send, about);
  }
  if (caller.limits === null) return send;
  const reason = await whyHeld(deps, caller, send.envelope);
  return reason === null ? send : hold(send, reason);
}

/** Who gets it, and what its header says. */
function shownBy({ headers, recipients: { envelope, to, cc } }: Checked, { submitted }: SendVia) {
  if (submitted === undefined) return { envelope, named: [...to, ...cc], headers };
  const named = [...submitted.to, ...submitted.cc];
  return { envelope, named, headers: [...headers, ...submitted.unread] };
}

/** Stored like any other, but not due until a person has approved exactly this email. */
function hold(send: PackedSend, reason: HeldReason): PackedSend {
  const sha256 = fingerprint({ ...send, recipients: send.envelope });
  return { ...send, approval: `${reason} ${sha256}` };
}

/** What a template carries is treated like the sender's own images and files. */
function withFiles(checked: Checked, { files }: Content): Checked {
  if (files.length === 0) return checked;
  const carried = files.map((file) => ({ ...file, content: Buffer.from(file.content) }));
  return { ...checked, attachments: [...checked.attachments, ...carried] };
}

interface Checked {
  from: Mailbox;
  replyTo: Mailbox | null;
  recipients: Recipients;
  headers: [string, string][];
  tags: string[] | null;
  attachments: Attachment[];
  idempotency: IdempotencyClaim | null;
  scheduledAtMs: number | null;
}

function checkRequest(
  deps: AcceptDeps,
  caller: Caller,
  request: SendRequest,
  via: SendVia,
): Checked {
  const { reply_to, scheduled_at } = request;
  const { submitted } = via;
  const headers = submitted?.headers ?? Object.entries(request.headers ?? {});
  const checked = readTogether<Checked>((read) => {
    read(checkBody, request, submitted?.mime != null);
    return {
      scheduledAtMs:
        scheduled_at === undefined ? null : read(readInstant, 'scheduled_at', scheduled_at),
      from: read(readSender, 'from_email', request.from_email),
      recipients: read(readRecipients, request),
      replyTo: reply_to === undefined ? null : read(readMailbox, 'reply_to', reply_to),
      headers: read(readHeaders, headers, deps.allowedHeaders),
      tags: read(readTags, request.tags),
      attachments: read(readAttachments, request.attachments),
      idempotency: null,
    };
  });
  const waitsMs = checked.scheduledAtMs === null ? 0 : checked.scheduledAtMs - deps.clock.nowMs();
  // Changed in place: a copy with one more field took 8 µs of a send.
  checked.idempotency = claimOf(caller, request, via, waitsMs);
  return checked;
}

function claimOf(
  { keyId }: Caller,
  request: SendRequest,
  { door, idempotencyKey, keyName = keyNameAt(door), guardRepeats, claim, submitted }: SendVia,
  waitsMs: number,
): IdempotencyClaim | null {
  if (idempotencyKey !== undefined) {
    const said = submitted === undefined ? request : saidBy(request, submitted);
    return readIdempotencyKey({ key: idempotencyKey, name: keyName }, said, waitsMs);
  }
  if (claim !== undefined) return keepFor(claim, waitsMs);
  return guardRepeats ? guardAgainstRepeat(keyId ?? door, request) : null;
}

/** Even if its time is no longer valid, a repeat gets the same answer as the first send. */
async function checkSchedule(
  deps: AcceptDeps,
  { accountId }: Caller,
  scheduledAtMs: number,
  idempotency: IdempotencyClaim | null,
): Promise<Accepted | undefined> {
  try {
    requireAhead('scheduled_at', scheduledAtMs, { nowMs: deps.clock.nowMs() });
    const full = deps.scheduledFullness();
    if (full !== undefined) throw new Problem('unavailable', full, { retryAfterSeconds: 600 });
    return undefined;
  } catch (problem) {
    const uuid = idempotency && (await findEarlier(deps.database, accountId, idempotency));
    if (!uuid) throw problem;
    return {
      answer: { id: showUuid('msg_', uuid), status: 'queued' },
      repeated: true,
      limit: null,
      warnings: [],
    };
  }
}

function findVerifiedSender(
  deps: Pick<AcceptDeps, 'directory' | 'database'>,
  caller: Caller,
  from: Mailbox,
): KnownSender | Promise<KnownSender> {
  const found = deps.directory.senderOf(caller, from);
  return found === undefined || found instanceof Promise || !mayBeUsed(found)
    ? requireVerifiedSender(deps, caller, from)
    : found;
}

const mayBeUsed = ({ unaligned, refuseUnaligned }: KnownSender): boolean =>
  unaligned === null || !refuseUnaligned;

async function requireVerifiedSender(
  { directory, database }: Pick<AcceptDeps, 'directory' | 'database'>,
  caller: Caller,
  from: Mailbox,
): Promise<KnownSender> {
  const sender = await directory.senderOf(caller, from);
  if (sender !== undefined && mayBeUsed(sender)) return sender;
  if (sender?.unaligned) {
    const detail = `from_email: ${sender.unaligned} This account refuses such email (refuse_unaligned).`;
    throw new Problem('forbidden', detail, { at: 'from_email', see: 'check_domain' });
  }
  const own = caller.limits?.senders ?? (await verifiedSenders(database, caller.accountId));
  const instead =
    own.length === 0
      ? 'It has none yet.'
      : `These may be used: ${own.slice(0, 10).join(', ')}${own.length > 10 ? ' and others' : ''}.`;
  throw new Problem(
    'forbidden',
    `from_email: ${from.address} is not a verified identity of this account. ${instead} Or verify the address or the domain ${from.domain} first.`,
    { at: 'from_email' },
  );
}

interface ChosenStream {
  name: string;
  kind: StreamKind;
}

const TRANSACTIONAL: ChosenStream = { name: DEFAULT_STREAM, kind: 'transactional' };

async function readStream(
  { streams }: AcceptDeps,
  { accountId }: Caller,
  name: string,
): Promise<ChosenStream> {
  return { name, kind: requireStream(await streams(accountId), name) };
}

function requireFit({ name, kind }: ChosenStream, { category }: Content): void {
  if (kind === 'broadcast' && isAbout(category)) throw unfitStream(name, category);
}

function pack(
  clock: Clock,
  caller: Caller,
  checked: Checked,
  content: Content,
  stream: ChosenStream,
  via: SendVia,
): PackedSend {
  const mime = via.submitted?.mime;
  const sandbox = caller.limits?.sandboxOnly === true;
  const keepLinks = keepsLinks(via, content);
  const head = writeHead(
    {
      from: checked.from,
      to: via.submitted?.to ?? checked.recipients.to,
      cc: via.submitted?.cc ?? checked.recipients.cc,
      replyTo: checked.replyTo,
      headers: via.submitted ? [...checked.headers, ...via.submitted.unread] : checked.headers,
      attachments:
        mime?.files ??
        checked.attachments.map(({ content, ...attachment }) => ({
          ...attachment,
          size: content.length,
        })),
      sandbox: sandbox || undefined,
      keepLinks: keepLinks || undefined,
      mime: mime?.stored,
      locale: content.locale ?? undefined,
    },
    content.variables,
  );
  const attachments = mime?.body ?? joinBytes(checked.attachments);
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
    stream: stream.name === DEFAULT_STREAM ? null : stream.name,
    head,
    html: content.html,
    text: content.text,
    attachments,
    size:
      Buffer.byteLength(head) +
      Buffer.byteLength(content.html ?? '') +
      Buffer.byteLength(content.text ?? '') +
      (attachments?.length ?? 0),
    class: classOf(caller, via, content, stream),
    idempotency: checked.idempotency,
    keyCap: caller.limits?.dailyCap ?? null,
    sandbox,
    aboutAccess: keepLinks,
    scheduledAtMs: checked.scheduledAtMs,
    approval: null,
    listedForms: via.tellSuppressed
      ? checked.recipients.envelope.flatMap((address) => listedForms(caller.accountId, address))
      : null,
  };
}

/** About signing in and security: these cannot wait. */
const isAboutAccess = (via: SendVia, { category }: Content): boolean =>
  via.door === 'system' || via.aboutAccess === true || isAbout(category);

/**
 * Links that sign in, reset or warn: people are taught to look where a link goes, and a redirect
 * would teach them not to. Links of the service's own emails act for whoever follows them: they
 * belong in no timeline.
 */
const keepsLinks = isAboutAccess;

function classOf(
  { limits }: Caller,
  via: SendVia,
  content: Content,
  { kind }: ChosenStream,
): EmailClass {
  if (limits?.sandboxOnly) return 'captured';
  if (isAboutAccess(via, content)) return 'urgent';
  return kind === 'broadcast' ? 'bulk' : 'normal';
}

/** A single attachment is passed on as it is: no need to copy 20 MB. */
function joinBytes(attachments: Attachment[]): Buffer | null {
  if (attachments.length === 0) return null;
  if (attachments.length === 1) return attachments[0]!.content;
  return Buffer.concat(attachments.map((attachment) => attachment.content));
}
