// Attachments: strict base64 → bytes, with names and media types that every mail program
// understands.
import { Problem } from '../errors.ts';
import type { AttachmentRequest } from './request.ts';

export interface Attachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** It stands inside of the HTML, which shows it by this name. */
  contentId?: string;
  /** Shown below the text, where it could be a file to open. */
  inline?: true;
}

// RFC 2045 5.1: type/subtype as tokens, parameters behind them.
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?: *;[\x20-\x7e]*)?$/;
const LONGEST_TYPE = 500;
const FORBIDDEN_IN_NAME = /[/\\\p{Cc}]/u;

export function readAttachments(attachments: AttachmentRequest[] | undefined): Attachment[] {
  return (attachments ?? []).map((attachment, index) => ({
    filename: readFilename(index, attachment.filename),
    contentType: readMediaType(index, attachment.content_type),
    content: readBase64(index, attachment.content_base64),
    ...readPlace(index, attachment),
  }));
}

/**
 * What can stand between the angle brackets of a Content-ID and behind `cid:` without being
 * encoded.
 */
const CONTENT_ID = /^[\w.+@$!*-]{1,200}$/;

function readPlace(
  index: number,
  { content_id, disposition }: AttachmentRequest,
): Pick<Attachment, 'contentId' | 'inline'> {
  if (content_id === undefined) return disposition === 'inline' ? { inline: true } : {};
  if (!CONTENT_ID.test(content_id)) {
    throw new Problem(
      'invalid',
      `attachments[${index}].content_id: use 1 to 200 letters, digits and .-_+@ without angle brackets, such as logo.`,
    );
  }
  if (disposition === 'attachment') {
    throw new Problem(
      'invalid',
      `attachments[${index}].disposition: what has a content_id stands inside of the HTML. Leave disposition out, or leave content_id out.`,
    );
  }
  return { contentId: content_id };
}

function readFilename(index: number, name: string): string {
  if (name.trim() === '' || name.length > 255 || FORBIDDEN_IN_NAME.test(name)) {
    throw new Problem(
      'invalid',
      `attachments[${index}].filename: give a name of 1 to 255 characters without slashes and control characters, such as invoice.pdf.`,
    );
  }
  return name;
}

function readMediaType(index: number, type: string): string {
  if (type.length > LONGEST_TYPE || !MEDIA_TYPE.test(type)) {
    throw new Problem(
      'invalid',
      `attachments[${index}].content_type: "${type.slice(0, 100)}" is not a media type. Write one such as application/pdf.`,
    );
  }
  return type;
}

/**
 * Node decodes leniently; a length other than the text promises, or the URL alphabet, gives a fault
 * away without a second pass in JavaScript.
 */
function readBase64(index: number, text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const strict =
    text.length % 4 === 0 &&
    bytes.length === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_');
  if (!strict) {
    throw new Problem(
      'invalid',
      `attachments[${index}].content_base64: not strict base64. Use the standard alphabet with padding and no line breaks.`,
    );
  }
  return bytes;
}
