// An email as bytes: header lines and MIME body. Before: attempt.ts with the stored content and
// vetted headers. After: dkim.ts signs what this returns, relay.ts hands it over. The same email
// always gives the same bytes.
import type { Mailbox } from '../addresses.ts';
import type { Chunk } from '../bytes/chunks.ts';
import { asItCame, type MimeAsItCame } from './as-it-came.ts';
import { endedByLine, isEncoded, type PartChunk } from './encoded-part.ts';
import { asBase64, asSevenBit, encodeText } from './mime-body.ts';
import { addressHeader, legacyParameter, parameter, textHeader } from './mime-headers.ts';

export interface OutgoingAttachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** It is part of the HTML, which shows it as `cid:…`. */
  contentId?: string;
  /** Shown below the text. */
  inline?: true;
}

/** UTF-8, in pieces that follow one another, or a text. */
type Text = readonly Buffer[] | string;

export interface OutgoingEmail {
  /** With its angle brackets; the same on every attempt, so that a repeat can be recognised. */
  messageId: string;
  date: Date;
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo?: Mailbox | null;
  subject: string;
  text?: Text;
  html?: Text;
  /** Ours: X-SM-*, List-Unsubscribe … */
  ownHeaders: readonly (readonly [name: string, value: string])[];
  /** The sender's, already vetted. */
  headers: readonly (readonly [name: string, value: string])[];
  attachments: readonly OutgoingAttachment[];
  /** A tree that arrived whole, instead of text, html and attachments. */
  mime?: MimeAsItCame;
}

export interface ComposedEmail<Body extends Chunk = Buffer> {
  /** All header lines, each with its CRLF; without the empty line. ASCII unless `smtputf8`. */
  head: string;
  /** What follows the empty line, ending with CRLF; always 7-bit. */
  body: Body[];
  /** An address in the header is not ASCII (RFC 6532). */
  smtputf8: boolean;
}

/** Header lines of a part and what it contains. */
interface Entity {
  head: string;
  body: PartChunk[];
  /** Text sent as it is, but for its line ends: only there could a boundary occur. */
  verbatim: readonly Buffer[];
  /** It ends with a line break already. */
  isMultipart?: true;
}

// One printable line that leaves room for its header's name.
const MEDIA_TYPE = /^[\x20-\x7e]{3,255}$/;

/** Composes the email. Bcc is not part of it: those recipients exist in the envelope only. */
export function composeEmail(email: OutgoingEmail): ComposedEmail {
  const { head, body, smtputf8 } = composeLarge(email);
  return { head, smtputf8, body: body.map((chunk) => (isEncoded(chunk) ? chunk.bytes() : chunk)) };
}

/** The same; its parts are encoded when they are taken. */
export function composeLarge(email: OutgoingEmail): ComposedEmail<PartChunk> {
  const content = email.mime ? asItCame(email.mime) : contentOf(email);
  let head = addressHeader('From', [email.from]);
  if (email.to.length > 0) head += addressHeader('To', email.to);
  if (email.cc.length > 0) head += addressHeader('Cc', email.cc);
  if (email.replyTo) head += addressHeader('Reply-To', [email.replyTo]);
  head += textHeader('Subject', email.subject);
  head += `Message-ID: ${email.messageId}\r\nDate: ${emailDate(email.date)}\r\n`;
  for (const [name, value] of email.ownHeaders) head += textHeader(name, value);
  // Surrounding spaces mean nothing in a header other than the subject, and References and the like
  // must not become encoded words.
  for (const [name, value] of email.headers)
    head += textHeader(name, value.trim().replace(/[ \t]+/g, ' '));
  head += `MIME-Version: 1.0\r\n${content.head}`;
  const shown = [email.from, ...email.to, ...email.cc];
  if (email.replyTo) shown.push(email.replyTo);
  return { head, body: content.body, smtputf8: shown.some((mailbox) => mailbox.smtputf8) };
}

/** The whole email in order, ready for relay.ts; `signatures` are header lines that go on top. */
export function emailChunks<Body extends Chunk>(
  email: ComposedEmail<Body>,
  signatures = '',
): (Body | Buffer)[] {
  return [Buffer.from(`${signatures}${email.head}\r\n`), ...email.body];
}

/**
 * mixed(alternative(text, related(html, images), invitation), files), with only the levels that are
 * needed.
 */
function contentOf(email: OutgoingEmail): Entity {
  const [bodies, images, files]: [Entity[], Entity[], Entity[]] = [[], [], []];
  const invitations: Entity[] = [];
  for (const attachment of email.attachments) {
    if (attachment.contentId !== undefined) images.push(attachmentPart(attachment));
    else if (isInvitation(attachment)) invitations.push(invitationPart(attachment));
    else files.push(attachmentPart(attachment));
  }
  if (email.text !== undefined) bodies.push(textPart('plain', email.text));
  if (email.html !== undefined) {
    bodies.push(around('related', email, [textPart('html', email.html), ...images]));
  }
  if (bodies.length === 0 && email.attachments.length === 0) bodies.push(textPart('plain', ''));
  bodies.push(...invitations);
  // An email with only a file is still an email, not the file.
  if (bodies.length === 0) return multipart('mixed', email.messageId, files);
  const content = around('mixed', email, [around('alternative', email, bodies), ...files]);
  // Outside multipart nothing follows the text, and SMTP's final dot needs a line of its own.
  return content.isMultipart ? content : { ...content, body: endedByLine(content.body) };
}

const around = (kind: MultipartKind, { messageId }: OutgoingEmail, parts: Entity[]): Entity =>
  parts.length === 1 ? parts[0]! : multipart(kind, messageId, parts);

/**
 * RFC 6047: an invitation is another form of the same email. Gmail and Outlook show its buttons
 * only there.
 */
const isInvitation = ({ contentType }: OutgoingAttachment): boolean =>
  /^\s*text\/calendar\s*;.*\bmethod\s*=/i.test(contentType);

function invitationPart({ contentType, content }: OutgoingAttachment): Entity {
  const charset = /;\s*charset\s*=/i.test(contentType) ? '' : '; charset=utf-8';
  return {
    head: `Content-Type: ${contentType}${charset}\r\nContent-Transfer-Encoding: base64\r\n`,
    body: [asBase64(content)],
    verbatim: [],
  };
}

function textPart(subtype: 'plain' | 'html', content: Text): Entity {
  const pieces = typeof content === 'string' ? [Buffer.from(content)] : content;
  const { encoding, chunks } = encodeText(pieces);
  return {
    head: `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`,
    body: chunks,
    verbatim: encoding === '7bit' ? pieces : [],
  };
}

function attachmentPart(attachment: OutgoingAttachment): Entity {
  const { filename, contentType, content, contentId, inline } = attachment;
  const composite = /^\s*(?:message|multipart)\//i.test(contentType);
  // RFC 2046 5.2.1: a message may not be base64. One that is plain text is sent as it is, all
  // others as a file.
  const sevenBit = /^\s*message\//i.test(contentType) ? asSevenBit(content) : undefined;
  const usable = MEDIA_TYPE.test(contentType) && (!composite || sevenBit !== undefined);
  const type = usable ? contentType : 'application/octet-stream';
  const named = /;\s*name\*?\d?\*?\s*=/i.test(type) ? '' : legacyParameter('name', filename);
  const encoding = sevenBit === undefined ? 'base64' : '7bit';
  return {
    head:
      `Content-Type: ${type}${named}\r\n` +
      `Content-Disposition: ${contentId !== undefined || inline ? 'inline' : 'attachment'}${parameter('filename', filename)}\r\n` +
      (contentId === undefined ? '' : `Content-ID: <${contentId}>\r\n`) +
      `Content-Transfer-Encoding: ${encoding}\r\n`,
    body: sevenBit ?? [asBase64(content)],
    verbatim: sevenBit === undefined ? [] : [content],
  };
}

type MultipartKind = 'alternative' | 'mixed' | 'related';

function multipart(kind: MultipartKind, messageId: string, parts: Entity[]): Entity {
  const verbatim = parts.flatMap((part) => part.verbatim);
  const boundary = freeBoundary(kind, messageId, verbatim);
  const body: PartChunk[] = [];
  let between = '';
  for (const part of parts) {
    body.push(Buffer.from(`${between}--${boundary}\r\n${part.head}\r\n`, 'latin1'), ...part.body);
    between = '\r\n';
  }
  body.push(Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1'));
  // RFC 2387: the type of the first of the related parts.
  const root = kind === 'related' ? '; type="text/html"' : '';
  const head = `Content-Type: multipart/${kind}${root}; boundary="${boundary}"\r\n`;
  return { head, body, verbatim, isMultipart: true };
}

/**
 * "=_" cannot occur in quoted-printable or base64 (RFC 2045 6.7), so only verbatim text needs
 * checking.
 */
function freeBoundary(kind: string, messageId: string, verbatim: readonly Buffer[]): string {
  const name = messageId.replace(/[^\w.-]/g, '').slice(0, 48);
  for (let turn = 0; ; turn++) {
    const boundary = `=_${kind.charAt(0)}${turn}_${name}`;
    if (!verbatim.some((bytes) => bytes.includes(`--${boundary}`))) return boundary;
  }
}

function emailDate(date: Date): string {
  return `${date.toUTCString().slice(0, -'GMT'.length)}+0000`;
}
