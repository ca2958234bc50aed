// Making an email: from what is stored to the bytes that go over the wire. Before: stored-email.ts
// loaded it. After: attempt.ts hands the copies over, and people look at the source of one.
import { randomBytes } from 'node:crypto';
import type { Mailbox } from '../addresses.ts';
import { bytesBehind, type Chunk, freeChunks, lengthOf } from '../bytes/chunks.ts';
import { freeBytes, LEAST_FREED_BYTES } from '../bytes/free-bytes.ts';
import { isWhole } from '../bytes/large-bytes.ts';
import { copyToken } from '../feedback/return-path.ts';
import { idTimeMs, showId } from '../ids.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import { type Tracker, unsubscribeUrl } from '../tracking/apply.ts';
import {
  type Assembled,
  type AssembledLarge,
  asBuffer,
  asSent,
  assemble,
  type CopyOrder,
  type OwnBytes,
} from './assembling.ts';
import { emailChunks } from './compose.ts';
import { signEmail } from './dkim.ts';
import { headersForReceivers } from './receiver-headers.ts';
import type { Sender, Senders } from './senders.ts';
import type { StoredEmail } from './stored-email.ts';

/** What an email is made with. */
export interface MakingDeps {
  /** Signs return paths. */
  returnPathKey: Buffer;
  senders: Senders;
  tracker: Tracker;
  /**
   * False while no address is configured under which recipients reach us: then emails to the real
   * relay are not tracked.
   */
  isPublic: () => boolean;
  /** Assembles large copies where they block nobody. */
  assembleLarge: (order: CopyOrder) => Promise<AssembledLarge>;
}

export interface Copy {
  recipient: string;
  /** The recipient's index in the message's own list; tokens contain it. */
  place: number;
  /** Used in its return path and its header. */
  token: string;
  /** Where its reader unsubscribes. */
  unsubscribe: string | null;
}

export interface MadeCopy {
  chunks: Chunk[];
  smtputf8: boolean;
}

/**
 * One for each recipient, with a return path, a token and links of its own: a report names the
 * person it is about, and nobody can speak for another. With one copy for all, any recipient could
 * bounce everyone else.
 */
export function copiesFor(
  deps: MakingDeps,
  email: StoredEmail,
  recipients: readonly string[],
): Copy[] {
  const ownWay = email.head.headers.some(([name]) => name.toLowerCase() === 'list-unsubscribe');
  const oneClick = email.leavable && !ownWay && hasWorkingLinks(deps, email);
  return recipients.map((recipient) => {
    const place = email.recipients.indexOf(recipient);
    const token = copyToken(deps.returnPathKey, email, place);
    const unsubscribe = oneClick ? unsubscribeUrl(deps.tracker, email, recipient) : null;
    return { recipient, place, token, unsubscribe };
  });
}

const hasWorkingLinks = (deps: MakingDeps, email: StoredEmail): boolean =>
  deps.isPublic() || email.head.sandbox === true;

/** Asynchronous: threads sign it or assemble it. */
export const takesThreads = (email: StoredEmail, { keys }: Sender): boolean =>
  keys.length > 0 || isLarge(email);

/** Composed and signed. Nothing of a large email is kept after its last copy. */
export async function makeCopy(
  deps: MakingDeps,
  email: StoredEmail,
  sender: Sender,
  copy: Copy & { isLast?: boolean },
): Promise<MadeCopy> {
  const order = orderOf(deps, email, sender, copy);
  const assembled = isLarge(email)
    ? await assembleElsewhere(deps, email, order, copy.isLast ?? false)
    : assemble(order);
  const signatures = await signEmail(assembled, sender.keys, acceptedAt(email));
  return { chunks: emailChunks(assembled, signatures), smtputf8: assembled.smtputf8 };
}

/**
 * From this size on, a thread is worth the round trip. Assembling takes up to 5 ms for 100 KB, and
 * many are assembled in one turn of the event loop.
 */
const LARGE_BYTES = 64 * 1024;

const isLarge = ({ html, text, attachments }: StoredEmail): boolean =>
  (html?.length ?? 0) + (text?.length ?? 0) + (attachments?.length ?? 0) > LARGE_BYTES;

/**
 * Its own bytes are empty here while the thread has them. Of the last copy only those are left that
 * it consists of.
 */
async function assembleElsewhere(
  deps: MakingDeps,
  email: StoredEmail,
  order: CopyOrder,
  isLast: boolean,
): Promise<Assembled> {
  const made = await deps.assembleLarge({ ...order, own: ownBytes(email) });
  const { head, smtputf8, bodyHash } = made;
  const body = made.body.map(asSent);
  const used = new Set(body.flatMap(bytesBehind).map(({ buffer }) => buffer));
  for (const name of BODIES) {
    const bytes = made[name];
    if (bytes !== undefined && !isLast) email[name] = asBuffer(bytes);
    else if (bytes !== undefined && !used.has(bytes.buffer)) freeBytes(bytes);
  }
  return { head, smtputf8, bodyHash, body };
}

const BODIES = ['html', 'text', 'attachments'] as const;

/** Only bytes in a buffer of their own, as stored-email.ts reads large ones. */
function ownBytes(email: StoredEmail): OwnBytes {
  const own: OwnBytes = {};
  for (const name of BODIES) {
    const bytes = email[name];
    if (bytes !== null && bytes.length > LARGE_BYTES && isWhole(bytes)) own[name] = bytes;
  }
  return own;
}

/** Frees what was made for a copy that the relay has: all but the email's own bytes. */
export function freeCopy(email: StoredEmail, { chunks }: MadeCopy): void {
  if (lengthOf(chunks) < LEAST_FREED_BYTES) return;
  const own = new Set(BODIES.map((name) => email[name]?.buffer));
  freeChunks(chunks.flatMap(bytesBehind).filter(({ buffer }) => !own.has(buffer)));
}

/**
 * An email as it goes over the wire, for display: the copy of the first recipient. Only that
 * recipient can complain about it or unsubscribe with it: in the version shown, the token and the
 * link for that are signed with a key that nobody has.
 */
export async function sourceOf(deps: MakingDeps, email: StoredEmail): Promise<Chunk[]> {
  const tracker = { ...deps.tracker, key: NOBODYS_KEY };
  const shown = { ...deps, tracker, returnPathKey: NOBODYS_KEY };
  const [copy] = copiesFor(shown, email, email.recipients);
  const sender = await deps.senders.of(email.account, email.head.from.domain);
  return (await makeCopy(deps, email, sender, { ...copy!, isLast: true })).chunks;
}

const NOBODYS_KEY = randomBytes(32);

function orderOf(deps: MakingDeps, email: StoredEmail, sender: Sender, copy: Copy): CopyOrder {
  const { head, html, text } = email;
  const { token } = copy;
  const { from, to, cc, replyTo, headers } = head;
  const id = showId('msg_', email.messageId);
  return {
    accountId: email.accountId,
    tracking: trackingOf(deps, email, copy),
    email: {
      from,
      to,
      cc,
      replyTo,
      headers,
      messageId: stableMessageId(id, from),
      date: acceptedAt(email),
      subject: email.subject,
      text,
      html,
      // Reports about the email are matched by the first two if the return path is lost on the way.
      ownHeaders: [
        ['X-SM-Message-Id', id],
        ['X-SM-Token', token],
        ...headersForReceivers(email, sender, token),
        ...unsubscribeHeaders(copy.unsubscribe),
      ],
      ...contentOf(head, email.attachments),
    },
  };
}

function trackingOf(deps: MakingDeps, email: StoredEmail, { place }: Copy): CopyOrder['tracking'] {
  const { trackOpens, trackClicks } = email.account;
  const wanted = { opens: trackOpens, clicks: trackClicks && !email.head.keepLinks };
  if (!hasWorkingLinks(deps, email) || !(wanted.opens || wanted.clicks)) return null;
  const { accountId, messageId } = email;
  const { key, url } = deps.tracker;
  return { key, url: url(), email: { accountId, messageId, place }, wanted };
}

/** RFC 8058 3.1: both headers, and both signed. */
const unsubscribeHeaders = (url: string | null): [string, string][] =>
  url === null
    ? []
    : [
        ['List-Unsubscribe', `<${url}>`],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ];

/** The same on every attempt, so the signatures made with it are the same too. */
const acceptedAt = (email: StoredEmail): Date => new Date(idTimeMs(email.messageId));

/** The same on every attempt, so that a repeat after a crash can be recognised. */
const stableMessageId = (id: string, from: Mailbox): string => `<${id}@${from.domain}>`;

/** What `attachments` holds: files one after the other, or a tree that arrived whole. */
function contentOf(
  head: StoredHead,
  bytes: Buffer | null,
): Pick<CopyOrder['email'], 'attachments' | 'mime'> {
  if (head.mime === undefined) return { attachments: sliceAttachments(head, bytes) };
  return { attachments: [], mime: { ...head.mime, body: bytes ?? Buffer.alloc(0) } };
}

function sliceAttachments(head: StoredHead, bytes: Buffer | null) {
  let at = 0;
  return head.attachments.map(({ size, ...attachment }) => {
    const content = bytes?.subarray(at, at + size) ?? Buffer.alloc(0);
    at += size;
    return { ...attachment, content };
  });
}
