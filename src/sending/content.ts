// The content of an email: inline, or rendered from a template. What comes out is exactly what will
// be sent.
import { allocateBytes } from '../bytes/large-bytes.ts';
import { Problem } from '../errors.ts';
import { turn } from '../process/in-turns.ts';
import type { CarriedFile } from '../templates/carried-file.ts';
import { requireLocale } from '../templates/locales.ts';
import type { RenderTemplate } from '../templates/rendering.ts';
import { keptVariables } from './kept-variables.ts';
import type { SendRequest } from './request.ts';

export interface Content {
  subject: string;
  /** Bytes if a template was rendered or the text is long. */
  html: string | Buffer | null;
  text: string | Buffer | null;
  template: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
  /** Carried by the template: shown by the HTML. */
  files: CarriedFile[];
  /** Of the template. */
  category: string | null;
  stream: string | null;
  /** What the template was filled with, as JSON; null: nothing that is kept. */
  variables: string | null;
  /** The language that was asked for; null: none. */
  locale: string | null;
}

const NONE: CarriedFile[] = [];
const LONGEST_SUBJECT = 998;

/**
 * Which of the two kinds of body the request has: rules that do not depend on the template. An
 * email that arrived whole has a body, even if it is empty, and needs no subject.
 */
export function checkBody(request: SendRequest, cameWhole = false): void {
  if (request.template === undefined) {
    if (!cameWhole) requireSubjectAndBody(request);
    if (request.variables !== undefined && Object.keys(request.variables).length > 0) {
      throw new Problem(
        'invalid',
        'variables are only used with a template. Name a template, or leave variables out.',
        { at: 'variables' },
      );
    }
    if (request.locale !== undefined) {
      throw new Problem(
        'invalid',
        'locale is only used with a template. Name a template, or leave locale out.',
        { at: 'locale' },
      );
    }
    checkSubject(request.subject ?? '');
  } else if (request.html !== undefined) {
    throw new Problem(
      'invalid',
      'Give either template or html, not both: the template provides the HTML.',
      { at: 'html' },
    );
  } else if (request.locale !== undefined) {
    requireLocale(request.locale);
  }
}

function requireSubjectAndBody({ subject, html, text }: SendRequest): void {
  if (subject === undefined) {
    throw new Problem(
      'invalid',
      'subject is missing. Give a subject, or a template that has one.',
      { at: 'subject', kind: 'missing-field' },
    );
  }
  if (html === undefined && text === undefined) {
    throw new Problem('invalid', 'The email has no body. Give html, text or both, or a template.', {
      at: 'html',
    });
  }
}

/** Returned at once, unless a template has to be rendered or a text is long. */
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

export const inline = (subject: string, html: Content['html'], text: Content['text']): Content => ({
  subject,
  html,
  text,
  template: null,
  templateVersion: null,
  brandingVersion: null,
  files: NONE,
  category: null,
  stream: null,
  variables: null,
  locale: null,
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
  let length = 0;
  for (const piece of piecesOf(text)) {
    length += Buffer.byteLength(piece);
    await turn();
  }
  const bytes = allocateBytes(length);
  let at = 0;
  for (const piece of piecesOf(text)) {
    at += bytes.write(piece, at);
    await turn();
  }
  return bytes;
}

function* piecesOf(text: string): Generator<string> {
  for (let from = 0, to = from; from < text.length; from = to) {
    to = from + PIECE;
    // Not between the halves of a character.
    if ((text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to--;
    yield text.slice(from, to);
  }
}

async function renderContent(
  render: RenderTemplate,
  accountId: number,
  request: SendRequest & { template: string },
): Promise<Content> {
  const rendered = await render(accountId, {
    slug: request.template,
    variables: request.variables ?? {},
    locale: request.locale,
    subject: request.subject,
    text: request.text,
  });
  // Templates often leave line breaks around a subject; a header must not have any.
  const subject = rendered.subject.replace(/\s+/g, ' ').trim();
  if (subject === '') {
    throw new Problem(
      'invalid',
      `The subject of template ${request.template} came out empty. Give its variables values, or give a subject of your own.`,
      { at: 'subject' },
    );
  }
  checkSubject(subject);
  const variables = keptVariables(request.variables);
  const { template, locale = null } = request;
  return { template, variables, locale, ...rendered, subject };
}

function checkSubject(subject: string): void {
  if (subject.length > LONGEST_SUBJECT) {
    throw new Problem(
      'invalid',
      `subject: it has ${subject.length} characters; at most ${LONGEST_SUBJECT} are allowed.`,
      { at: 'subject' },
    );
  }
  if (/\p{Cc}/u.test(subject)) {
    const detail = 'subject: a subject is one line without control characters.';
    throw new Problem('invalid', detail, { at: 'subject' });
  }
}
