// Attachments: strict base64 → bytes, with names and media types that every email program
// understands.
import { readStrictBase64 } from '../bytes/base64.ts';
import { Problem, readTogether } from '../errors.ts';
import type { AttachmentRequest } from './request.ts';

export interface Attachment {
  filename: string;
  contentType: string;
  content: Buffer;
  /** It is inside the HTML, which shows it by this name. */
  contentId?: string;
  /** Shown below the text instead of as a file to open. */
  inline?: true;
}

// RFC 2045 5.1: type/subtype as tokens, followed by parameters.
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?: *;[\x20-\x7e]*)?$/;
const LONGEST_TYPE = 500;
const FORBIDDEN_IN_NAME = /[/\\\p{Cc}]/u;

export function readAttachments(attachments: AttachmentRequest[] | undefined): Attachment[] {
  if (attachments === undefined) return [];
  return readTogether((read) =>
    attachments.map((attachment, index) => ({
      filename: read(readFilename, index, attachment.filename),
      contentType: read(readMediaType, index, attachment.content_type),
      content: read(readBase64, index, attachment.content_base64),
      ...read(readPlace, index, attachment),
    })),
  );
}

const wrong = (index: number, field: keyof AttachmentRequest, message: string): Problem => {
  const at = `attachments[${index}].${field}`;
  return new Problem('invalid', `${at}: ${message}`, { at });
};

/**
 * What can be between the angle brackets of a Content-ID and after `cid:` without being encoded.
 */
const CONTENT_ID = /^[\w.+@$!*-]{1,200}$/;

function readPlace(
  index: number,
  { content_id, disposition }: AttachmentRequest,
): Pick<Attachment, 'contentId' | 'inline'> {
  if (content_id === undefined) return disposition === 'inline' ? { inline: true } : {};
  if (!CONTENT_ID.test(content_id)) {
    throw wrong(
      index,
      'content_id',
      'use 1 to 200 letters, digits and .-_+@ without angle brackets, such as logo.',
    );
  }
  if (disposition === 'attachment') {
    throw wrong(
      index,
      'disposition',
      'a file with a content_id is shown inside the HTML. Leave disposition out, or leave content_id out.',
    );
  }
  return { contentId: content_id };
}

function readFilename(index: number, name: string): string {
  if (name.trim() === '' || name.length > 255 || FORBIDDEN_IN_NAME.test(name)) {
    throw wrong(
      index,
      'filename',
      'give a name of 1 to 255 characters without slashes and control characters, such as invoice.pdf.',
    );
  }
  return name;
}

function readMediaType(index: number, type: string): string {
  if (type.length > LONGEST_TYPE || !MEDIA_TYPE.test(type)) {
    throw wrong(
      index,
      'content_type',
      `"${type.slice(0, 100)}" is not a media type. Write one such as application/pdf.`,
    );
  }
  return type;
}

function readBase64(index: number, text: string): Buffer {
  const bytes = readStrictBase64(text);
  if (bytes !== undefined) return bytes;
  throw wrong(
    index,
    'content_base64',
    'not strict base64. Use the standard alphabet with padding and no line breaks.',
  );
}
