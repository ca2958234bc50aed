// The content of a mail: inline, or rendered from a template. What comes out is exactly what will
// be sent.
import { Problem } from '../errors.ts';
import type { RenderTemplate } from '../templates/rendering.ts';
import type { SendRequest } from './request.ts';

export interface Content {
  subject: string;
  /** Bytes where a template was rendered or the text is long. */
  html: string | Buffer | null;
  text: string | Buffer | null;
  template: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
  /** Of the template. */
  category: string | null;
}

const LONGEST_SUBJECT = 998;

/** Which of the two kinds of body the request has: rules that need no look at templates. */
export function checkBody(request: SendRequest): void {
  if (request.template === undefined) {
    if (request.subject === undefined) {
      throw new Problem(
        'invalid',
        'subject is missing. Give a subject, or a template that brings one.',
      );
    }
    if (request.html === undefined && request.text === undefined) {
      throw new Problem('invalid', 'The mail has no body. Give html, text or both, or a template.');
    }
    if (request.variables !== undefined && Object.keys(request.variables).length > 0) {
      throw new Problem(
        'invalid',
        'variables are only used with a template. Name a template, or leave variables out.',
      );
    }
    checkSubject(request.subject);
  } else if (request.html !== undefined) {
    throw new Problem(
      'invalid',
      'Give either template or html, not both: the template brings the HTML.',
    );
  }
}

/** At once, unless a template has to be rendered or a text is long. */
export function makeContent(
  render: RenderTemplate,
  accountId: number,
  request: SendRequest,
): Content | Promise<Content> {
  if (request.template !== undefined) {
    return renderContent(render, accountId, { ...request, template: request.template });
  }
  const { subject = '', html = null, text = null } = request;
  return isLong(html) || isLong(text)
    ? encodeLong(subject, html, text)
    : inline(subject, html, text);
}

const inline = (subject: string, html: Content['html'], text: Content['text']): Content => ({
  subject,
  html,
  text,
  template: null,
  templateVersion: null,
  brandingVersion: null,
  category: null,
});

const isLong = (text: string | null): boolean => text !== null && text.length > PIECE;

async function encodeLong(
  subject: string,
  html: string | null,
  text: string | null,
): Promise<Content> {
  return inline(subject, html && (await encodeInTurns(html)), text && (await encodeInTurns(text)));
}

/**
 * Characters that become bytes between two turns of the event loop: 25 MB of Japanese in one go
 * took 110 ms.
 */
const PIECE = 1024 * 1024;

async function encodeInTurns(text: string): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let from = 0, to = from; from < text.length; from = to) {
    to = from + PIECE;
    // Not between the halves of a character.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    pieces.push(Buffer.from(text.slice(from, to)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return Buffer.concat(pieces);
}

async function renderContent(
  render: RenderTemplate,
  accountId: number,
  request: SendRequest & { template: string },
): Promise<Content> {
  const rendered = await render(accountId, {
    slug: request.template,
    variables: request.variables ?? {},
    subject: request.subject,
    text: request.text,
  });
  // Templates like to leave line breaks around a subject; a header has none.
  const subject = rendered.subject.replace(/\s+/g, ' ').trim();
  if (subject === '') {
    throw new Problem(
      'invalid',
      `The subject of template ${request.template} came out empty. Give its variables a value, or a subject of your own.`,
    );
  }
  checkSubject(subject);
  return { ...rendered, subject, template: request.template };
}

function checkSubject(subject: string): void {
  if (subject.length > LONGEST_SUBJECT) {
    throw new Problem(
      'invalid',
      `subject: it has ${subject.length} characters; at most ${LONGEST_SUBJECT} are allowed.`,
    );
  }
  if (/\p{Cc}/u.test(subject)) {
    throw new Problem('invalid', 'subject: a subject is one line without control characters.');
  }
}
