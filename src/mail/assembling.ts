// A copy assembled from plain data: tracking put in, MIME around it, the body hashed for its
// signatures. Before: making.ts says what belongs into it. After: making.ts signs it. Needs nothing
// but its order, so that large ones are assembled in a thread: 25 MB take a second.
import { type TrackedMail, type Tracker, trackHtml } from '../tracking/apply.ts';
import { type ComposedMail, composeMail, type OutgoingMail } from './compose.ts';
import { hashBody } from './dkim.ts';

export interface CopyOrder {
  /** Whose it is: the accounts take turns. */
  accountId: number;
  /** With its HTML as its sender wrote it. */
  mail: Omit<OutgoingMail, 'html' | 'text'> & { html: Buffer | null; text: Buffer | null };
  /** Null: its HTML stays as it is. */
  tracking: {
    key: Buffer;
    url: string;
    mail: TrackedMail;
    wanted: { opens: boolean; clicks: boolean };
  } | null;
}

export interface Assembled extends ComposedMail {
  /** Where it is known already; see dkim.ts. */
  bodyHash?: string;
}

export function assemble({ mail: { html, text, ...mail }, tracking }: CopyOrder): Assembled {
  const shown = html !== null && tracking !== null ? track(html, tracking) : html;
  return composeMail({
    ...mail,
    ...(text ? { text } : {}),
    ...(shown ? { html: shown } : {}),
  });
}

function track(html: Buffer, { key, url, mail, wanted }: NonNullable<CopyOrder['tracking']>) {
  const tracker: Tracker = { key, url: () => url };
  return trackHtml(tracker, mail, html.toString(), wanted);
}

/** What comes back from a thread: one piece of bytes changes hands without being copied. */
export interface AssembledLarge {
  head: string;
  body: Uint8Array;
  smtputf8: boolean;
  bodyHash: string;
}

/** In the thread. */
export function assembleLarge(order: CopyOrder): AssembledLarge {
  const { head, body, smtputf8 } = assemble(withBuffers(order));
  return { head, smtputf8, body: Buffer.concat(body), bodyHash: hashBody(body) };
}

/** Bytes come out of a thread, and into it, as arrays that know less than a Buffer. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function withBuffers({ accountId, mail, tracking }: CopyOrder): CopyOrder {
  return {
    accountId,
    mail: {
      ...mail,
      html: mail.html && asBuffer(mail.html),
      text: mail.text && asBuffer(mail.text),
      attachments: mail.attachments.map((it) => ({ ...it, content: asBuffer(it.content) })),
    },
    tracking: tracking && {
      ...tracking,
      key: asBuffer(tracking.key),
      mail: { ...tracking.mail, messageId: asBuffer(tracking.mail.messageId) },
    },
  };
}
