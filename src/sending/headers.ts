// Sender-controlled headers and tags: metadata only. What structures a mail, routes it or vouches
// for it is ours to write.
import { Problem } from '../errors.ts';
import { commandsRelay, isWrittenByUs } from './header-names.ts';

const MOST_HEADERS = 50;
const MOST_BYTES = 8 * 1024;
const MOST_TAGS = 20;
const LONGEST_TAG = 128;

// RFC 5322 3.6.8: printable ASCII except the colon. Narrowed to the token characters every mail
// program reads.
const NAME = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]{1,76}$/;
const LINE_BREAK = /[\r\n\0]/;

/** `allowed`: names in lower case that the operator lets through to the relay. */
export function readHeaders(
  headers: Record<string, string> | undefined,
  allowed: ReadonlySet<string>,
): [string, string][] {
  if (headers === undefined) return [];
  const entries = Object.entries(headers);
  if (entries.length > MOST_HEADERS) {
    throw new Problem(
      'invalid',
      `headers: ${entries.length} headers are too many; at most ${MOST_HEADERS} are allowed.`,
    );
  }
  let bytes = 0;
  for (const [name, value] of entries) {
    checkName(name, allowed);
    checkValue(name, value);
    bytes += name.length + 4 + Buffer.byteLength(value);
  }
  if (bytes > MOST_BYTES) {
    throw new Problem('invalid', `headers: they take ${bytes} bytes; at most 8 KiB are allowed.`);
  }
  return entries;
}

function checkName(name: string, allowed: ReadonlySet<string>): void {
  if (!NAME.test(name)) {
    throw new Problem(
      'invalid',
      `headers: "${name.slice(0, 100)}" is not a header name. Use letters, digits and dashes, such as X-Order.`,
    );
  }
  const lower = name.toLowerCase();
  if (isWrittenByUs(lower)) {
    throw new Problem(
      'invalid',
      `headers: ${name} is written by the service and cannot be set. Use the field of the request made for it, or a name of your own such as X-Order.`,
    );
  }
  if (commandsRelay(lower) && !allowed.has(lower)) {
    throw new Problem(
      'invalid',
      `headers: ${name} gives orders to the relay and cannot be set. Use a name of your own such as X-Order, or have the operator of this service allow it (ALLOWED_HEADERS).`,
    );
  }
}

function checkValue(name: string, value: string): void {
  if (LINE_BREAK.test(value)) {
    throw new Problem('invalid', `headers: the value of ${name} contains a line break or NUL.`);
  }
}

export function readTags(tags: string[] | undefined): string[] | null {
  if (tags === undefined || tags.length === 0) return null;
  if (tags.length > MOST_TAGS) {
    throw new Problem(
      'invalid',
      `tags: ${tags.length} tags are too many; at most ${MOST_TAGS} are allowed.`,
    );
  }
  for (const [index, tag] of tags.entries()) {
    if (tag.length < 1 || tag.length > 2 * LONGEST_TAG || [...tag].length > LONGEST_TAG) {
      throw new Problem('invalid', `tags[${index}]: a tag has 1 to ${LONGEST_TAG} characters.`);
    }
    if (/\p{Cc}/u.test(tag)) {
      throw new Problem('invalid', `tags[${index}]: a tag has no control characters.`);
    }
  }
  return tags;
}
