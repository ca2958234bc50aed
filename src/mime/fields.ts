// Header fields in their order, each with its original lines. Before: the bytes of an email or of
// one of its parts, read as Latin-1. After: tree.ts reads those that describe the content, and
// submission/ those that name people. Every step only moves forward: the time is linear in the
// text.
import { decodeText, headerText, parseParameters } from '../feedback/mime.ts';

export interface Field {
  /** As it was written. */
  name: string;
  /** In lower case. */
  key: string;
  /** All its lines as received, including line ends. */
  lines: string;
  /** Unfolded and trimmed; one character per byte. */
  value: string;
}

const NAME = /^[!-9;-~]{1,200}$/;

/**
 * Up to the empty line, or up to a line that is not a field: there the body begins (RFC 5322 2.1).
 */
export function readFields(text: string): { fields: Field[]; end: number } {
  const fields: Field[] = [];
  let at = 0;
  while (at < text.length) {
    const next = endOfLine(text, at);
    if (isEmptyLine(text, at, next)) return { fields, end: next };
    const colon = text.indexOf(':', at);
    const name = colon < 0 || colon > next ? '' : text.slice(at, colon).trimEnd();
    if (!NAME.test(name)) return { fields, end: at };
    let end = next;
    while (end < text.length && isBlank(text, end)) end = endOfLine(text, end);
    const written = text.slice(colon + 1, end);
    fields.push({
      name,
      key: name.toLowerCase(),
      lines: text.slice(at, end),
      // Most are one line.
      value: end === next ? written.trim() : unfold(written),
    });
    at = end;
  }
  return { fields, end: at };
}

const unfold = (value: string): string => value.replace(/\r?\n/g, '').trim();

/** The first field with this name. */
export const fieldOf = (fields: readonly Field[], key: string): Field | undefined =>
  fields.find((field) => field.key === key);

/** For people: encoded words (RFC 2047) and raw UTF-8 (RFC 6532) decoded. */
export const textOf = ({ value }: Pick<Field, 'value'>): string => headerText(value);

/**
 * A parameter for people, such as a file's name: RFC 2231's forms first, then what programs write
 * instead (RFC 2047 in quotes, raw UTF-8).
 */
export function parameterText(
  parameters: ReadonlyMap<string, string>,
  name: string,
): string | undefined {
  if (parameters.size === 0) return undefined;
  const extended = parameters.get(`${name}*`);
  if (extended !== undefined) return fromExtended(extended);
  const pieces = piecesOf(parameters, name);
  if (pieces !== undefined) return pieces;
  const plain = parameters.get(name);
  return plain === undefined ? undefined : headerText(plain);
}

const MOST_PIECES = 100;

/** `name*0*=utf-8''a%20; name*1=b` (RFC 2231 3 and 4.1). */
function piecesOf(parameters: ReadonlyMap<string, string>, name: string): string | undefined {
  let bytes = '';
  let charset: string | undefined;
  for (let n = 0; n < MOST_PIECES; n++) {
    const encoded = parameters.get(`${name}*${n}*`);
    const piece = encoded ?? parameters.get(`${name}*${n}`);
    if (piece === undefined) break;
    if (encoded === undefined) bytes += piece;
    else if (n === 0) {
      const whole = splitExtended(encoded);
      charset = whole.charset;
      bytes += percentDecoded(whole.text);
    } else bytes += percentDecoded(encoded);
  }
  return bytes === '' ? undefined : decodeText(Buffer.from(bytes, 'latin1'), charset);
}

function fromExtended(value: string): string {
  const { charset, text } = splitExtended(value);
  return decodeText(Buffer.from(percentDecoded(text), 'latin1'), charset);
}

function splitExtended(value: string): { charset: string | undefined; text: string } {
  const [, charset, text] = /^([^']*)'[^']*'(.*)$/s.exec(value) ?? [];
  return { charset: charset || undefined, text: text ?? value };
}

const percentDecoded = (text: string): string =>
  text.replace(/%([\dA-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));

/** `text/html; charset=utf-8`: the value in lower case, and what follows it. */
export function describedBy(field: Field | undefined): {
  value: string;
  parameters: ReadonlyMap<string, string>;
} {
  if (field === undefined) return UNDESCRIBED;
  const { value, parameters } = parseParameters(field.value);
  return { value: value.toLowerCase(), parameters };
}

const UNDESCRIBED = { value: '', parameters: new Map<string, string>() };

function endOfLine(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  return newline < 0 ? text.length : newline + 1;
}

const isEmptyLine = (text: string, at: number, next: number): boolean =>
  text[at] === '\n' || (text[at] === '\r' && next - at === 2);

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t';
