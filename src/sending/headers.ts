// Sender-controlled headers and tags: metadata only. What structures an email, routes it or vouches
// for it is ours to write.
import { Problem, readTogether } from '../errors.ts';
import { commandsRelay, isWrittenByUs } from './header-names.ts';

const MOST_HEADERS = 50;
const MOST_BYTES = 8 * 1024;
const MOST_TAGS = 20;
const LONGEST_TAG = 128;
const LONGEST_SHOWN = 100;

// RFC 5322 3.6.8: printable ASCII except the colon. Narrowed to the token characters every email
// program reads.
const NAME = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]{1,76}$/;
const LINE_BREAK = /[\r\n\0]/;

/** `allowed`: names in lower case that the operator lets through to the relay. */
export function readHeaders(
  entries: [string, string][],
  allowed: ReadonlySet<string>,
): [string, string][] {
  if (entries.length > MOST_HEADERS) {
    throw new Problem(
      'invalid',
      `headers: ${entries.length} headers are too many; at most ${MOST_HEADERS} are allowed.`,
      { at: 'headers' },
    );
  }
  let bytes = 0;
  readTogether((read) => {
    for (const [name, value] of entries) {
      read(checkName, name, allowed);
      read(checkValue, name, value);
      bytes += name.length + 4 + Buffer.byteLength(value);
    }
  });
  if (bytes > MOST_BYTES) {
    const detail = `headers: they take ${bytes} bytes; at most 8 KiB are allowed.`;
    throw new Problem('invalid', detail, { at: 'headers' });
  }
  return entries;
}

function checkName(name: string, allowed: ReadonlySet<string>): void {
  if (!NAME.test(name)) {
    throw new Problem(
      'invalid',
      `headers: "${name.slice(0, LONGEST_SHOWN)}" is not a header name. Use letters, digits and dashes, such as X-Order.`,
      { at: pathOf(name) },
    );
  }
  const lower = name.toLowerCase();
  if (isWrittenByUs(lower)) {
    throw new Problem(
      'invalid',
      `headers: ${name} is written by the service and cannot be set. Use the field of the request made for it, or a name of your own such as X-Order.`,
      { at: pathOf(name) },
    );
  }
  if (commandsRelay(lower) && !allowed.has(lower)) {
    throw new Problem(
      'invalid',
      `headers: ${name} controls the relay and cannot be set. Use a name of your own such as X-Order, or ask the operator of this service to allow it (ALLOWED_HEADERS).`,
      { at: pathOf(name) },
    );
  }
}

function checkValue(name: string, value: string): void {
  if (LINE_BREAK.test(value)) {
    const shown = name.slice(0, LONGEST_SHOWN);
    const detail = `headers: the value of ${shown} contains a line break or NUL.`;
    throw new Problem('invalid', detail, { at: pathOf(name) });
  }
}

const pathOf = (name: string): string => `headers.${name.slice(0, LONGEST_SHOWN)}`;

/** Counted in characters, of which some take two places. */
const isTooLong = (tag: string): boolean =>
  tag.length > LONGEST_TAG && (tag.length > 2 * LONGEST_TAG || [...tag].length > LONGEST_TAG);

export function readTags(tags: string[] | undefined): string[] | null {
  if (tags === undefined || tags.length === 0) return null;
  if (tags.length > MOST_TAGS) {
    throw new Problem(
      'invalid',
      `tags: ${tags.length} tags are too many; at most ${MOST_TAGS} are allowed.`,
      { at: 'tags' },
    );
  }
  readTogether((read) => {
    for (const [index, tag] of tags.entries()) read(checkTag, `tags[${index}]`, tag);
  });
  return tags;
}

function checkTag(at: string, tag: string): void {
  if (tag.length < 1 || isTooLong(tag)) {
    throw new Problem('invalid', `${at}: a tag has 1 to ${LONGEST_TAG} characters.`, { at });
  }
  if (/\p{Cc}/u.test(tag)) {
    throw new Problem('invalid', `${at}: a tag has no control characters.`, { at });
  }
}
