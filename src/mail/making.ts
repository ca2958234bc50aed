// Making an email: from what is stored to the bytes that go over the wire. Before: stored-email.ts
// loaded it. After: attempt.ts hands the copies over, and people look at the source of one.
import { randomBytes } from 'node:crypto';
import type { Mailbox } from '../addresses.ts';
import { copyToken } from '../feedback/return-path.ts';
import { freeBytes } from '../free-bytes.ts';
import { idTimeMs, showId } from '../ids.ts';
import type { StoredHead } from '../sending/stored-head.ts';
import { type Tracker, unsubscribeUrl } from '../tracking/apply.ts';
import {
  type Assembled,
  type AssembledLarge,
  asBuffer,
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
   * False while nobody said under which address recipients reach us: then emails to the real relay
   * are not tracked.
   */
  isPublic: () => boolean;
  /** Large copies, where they hold up nobody. */
  assembleLarge: (order: CopyOrder) => Promise<AssembledLarge>;
}

export interface Copy {
  recipient: string;
  /** In the message's own list; tokens name it. */
  place: number;
  /** Where its reader unsubscribes. */
  unsubscribe: string | null;
}

export interface MadeCopy {
  chunks: Buffer[];
  smtputf8: boolean;
}

/**
 * One for each recipient, with a return path, a token and links of its own: what comes back names
 * the person it is about, and nobody can speak for another. With one copy for all, whoever got it
 * could bounce everybody else.
 */
export function copiesFor(
  deps: MakingDeps,
  mail: StoredEmail,
  recipients: readonly string[],
): Copy[] {
  const ownWay = mail.head.headers.some(([name]) => name.toLowerCase() === 'list-unsubscribe');
  const oneClick = mail.leavable && !ownWay && hasWorkingLinks(deps, mail);
  return recipients.map((recipient) => ({
    recipient,
    place: mail.recipients.indexOf(recipient),
    unsubscribe: oneClick ? unsubscribeUrl(deps.tracker, mail, recipient) : null,
  }));
}

const hasWorkingLinks = (deps: MakingDeps, mail: StoredEmail): boolean =>
  deps.isPublic() || mail.head.sandbox === true;

/** Composed and signed. Of a large email nothing is left behind its last copy. */
export async function makeCopy(
  deps: MakingDeps,
  mail: StoredEmail,
  sender: Sender,
  copy: Copy & { isLast?: boolean },
): Promise<MadeCopy> {
  const order = orderOf(deps, mail, sender, copy);
  const assembled = isLarge(mail)
    ? await assembleElsewhere(deps, mail, { ...order, isLast: copy.isLast ?? false })
    : assemble(order);
  const signatures = await signEmail(assembled, sender.keys, acceptedAt(mail));
  return { chunks: emailChunks(assembled, signatures), smtputf8: assembled.smtputf8 };
}

/**
 * From here on a thread is worth the way there and back. Assembling takes up to 5 ms for 100 KB,
 * and many are assembled in one turn of the event loop.
 */
const LARGE_BYTES = 64 * 1024;

const isLarge = ({ html, text, attachments }: StoredEmail): boolean =>
  (html?.length ?? 0) + (text?.length ?? 0) + (attachments?.length ?? 0) > LARGE_BYTES;

/** Its own bytes are empty here while the thread has them. */
async function assembleElsewhere(
  deps: MakingDeps,
  mail: StoredEmail,
  order: CopyOrder,
): Promise<Assembled> {
  const made = await deps.assembleLarge({ ...order, own: ownBytes(mail) });
  for (const name of BODIES) if (made[name] !== undefined) mail[name] = asBuffer(made[name]);
  const { head, smtputf8, bodyHash, body } = made;
  return { head, smtputf8, bodyHash, body: body.map(asBuffer) };
}

const BODIES = ['html', 'text', 'attachments'] as const;

/** Those in a buffer that is theirs alone, as stored-email.ts reads large ones. */
function ownBytes(mail: StoredEmail): OwnBytes {
  const own: OwnBytes = {};
  for (const name of BODIES) {
    const bytes = mail[name];
    if (bytes !== null && isAlone(bytes)) own[name] = bytes;
  }
  return own;
}

const isAlone = ({ length, buffer }: Buffer): boolean =>
  length > LARGE_BYTES && length === buffer.byteLength;

/** What was made for a copy that is with the relay: all but the email's own bytes. */
export function freeCopy(mail: StoredEmail, { chunks }: MadeCopy): void {
  const own = new Set(BODIES.map((name) => mail[name]?.buffer));
  for (const chunk of chunks) if (!own.has(chunk.buffer)) freeBytes(chunk);
}

/**
 * An email as it goes over the wire, for people to look at: the copy of the first recipient. Only that
 * recipient can complain about it or unsubscribe by it: in what is shown, the token and the link for
 * that are signed with a key that nobody has.
 */
export async function sourceOf(deps: MakingDeps, mail: StoredEmail): Promise<Buffer[]> {
  const shown = { ...deps, returnPathKey: NOBODYS_KEY };
  const tracker = { ...deps.tracker, key: NOBODYS_KEY };
  const [copy] = copiesFor({ ...deps, tracker }, mail, mail.recipients);
  const sender = await deps.senders.of(mail.account, mail.head.from.domain);
  return (await makeCopy(shown, mail, sender, { ...copy!, isLast: true })).chunks;
}

const NOBODYS_KEY = randomBytes(32);

function orderOf(deps: MakingDeps, mail: StoredEmail, sender: Sender, copy: Copy): CopyOrder {
  const { head, html, text } = mail;
  const token = copyToken(deps.returnPathKey, mail, copy.place);
  const { mime: _, ...shown } = head;
  const id = showId('msg_', mail.messageId);
  return {
    accountId: mail.accountId,
    tracking: trackingOf(deps, mail, copy),
    mail: {
      ...shown,
      messageId: stableMessageId(id, head.from),
      date: acceptedAt(mail),
      subject: mail.subject,
      text,
      html,
      // Reports about the email are matched by the first two when the return path is lost on the
      // way.
      ownHeaders: [
        ['X-SM-Message-Id', id],
        ['X-SM-Token', token],
        ...headersForReceivers(mail, sender, token),
        ...unsubscribeHeaders(copy.unsubscribe),
      ],
      ...contentOf(head, mail.attachments),
    },
  };
}

function trackingOf(deps: MakingDeps, mail: StoredEmail, { place }: Copy): CopyOrder['tracking'] {
  const { trackOpens, trackClicks } = mail.account;
  const wanted = { opens: trackOpens, clicks: trackClicks && !mail.head.keepLinks };
  if (!hasWorkingLinks(deps, mail) || !(wanted.opens || wanted.clicks)) return null;
  const { accountId, messageId } = mail;
  const { key, url } = deps.tracker;
  return { key, url: url(), mail: { accountId, messageId, place }, wanted };
}

/** RFC 8058 3.1: both headers, and both signed. */
const unsubscribeHeaders = (url: string | null): [string, string][] =>
  url === null
    ? []
    : [
        ['List-Unsubscribe', `<${url}>`],
        ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ];

/** The same on every attempt, and so are the signatures made with it. */
const acceptedAt = (mail: StoredEmail): Date => new Date(idTimeMs(mail.messageId));

/** The same on every attempt, so that a repeat after a crash can be recognised. */
const stableMessageId = (id: string, from: Mailbox): string => `<${id}@${from.domain}>`;

/** What `attachments` holds: files one after the other, or a tree that came whole. */
function contentOf(
  head: StoredHead,
  bytes: Buffer | null,
): Pick<CopyOrder['mail'], 'attachments' | 'mime'> {
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
