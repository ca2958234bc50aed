// Replies: what operations/refusal.ts says, as SMTP says it. A reply code, an enhanced status code
// (RFC 3463) and our sentence, in lines that every client accepts. What passes by itself is
// temporary: programs try again after a 4, and give up after a 5.
import type { ProblemCode } from '../errors.ts';
import type { RefusalBody } from '../operations/refusal.ts';

/** An error as smtp-server expects it. */
export interface SmtpReply extends Error {
  responseCode: number;
}

type Codes = readonly [reply: number, enhanced: string];

const CODES: Record<ProblemCode | 'internal', Codes> = {
  invalid: [554, '5.6.0'],
  unauthenticated: [535, '5.7.8'],
  'not-paying': [550, '5.7.1'],
  forbidden: [550, '5.7.1'],
  'not-found': [554, '5.6.0'],
  conflict: [554, '5.6.0'],
  stale: [554, '5.6.0'],
  'over-limit': [451, '4.7.28'],
  'relay-down': [451, '4.4.1'],
  unavailable: [451, '4.3.2'],
  'too-slow': [451, '4.4.2'],
  internal: [451, '4.3.0'],
};

export const replyOf = ({ code, detail }: RefusalBody): SmtpReply => reply(...CODES[code], detail);

/** During login: whatever is wrong with the key, the reply is that the login failed. */
export const loginReplyOf = ({ code, detail }: RefusalBody): SmtpReply =>
  CODES[code][0] < 500 ? reply(454, '4.7.0', detail) : reply(535, '5.7.8', detail);

export const reply = (responseCode: number, enhanced: string, detail: string): SmtpReply =>
  Object.assign(new Error(`${enhanced} ${detail}`), { responseCode });

const ENHANCED = /^[245]\.\d{1,3}\.\d{1,3}(?= )/;
/** RFC 5321 4.5.3.1.5: 512 octets with code and CRLF. */
const LONGEST_LINE = 480;

/**
 * A text that begins with an enhanced code, in lines that each begin with it (RFC 2034 4).
 * Undefined: it does not.
 */
export function replyLines(text: string): string[] | undefined {
  const enhanced = ENHANCED.exec(text)?.[0];
  if (enhanced === undefined) return undefined;
  const words = asciiOf(text.slice(enhanced.length + 1)).split(/\s+/);
  const lines: string[] = [];
  let line = enhanced;
  for (const word of words.map((it) => it.slice(0, LONGEST_LINE - 20))) {
    if (line.length + 1 + word.length > LONGEST_LINE) {
      lines.push(line);
      line = enhanced;
    }
    line += ` ${word}`;
  }
  return [...lines, line];
}

/** Replies are ASCII unless the client asked for more (RFC 6531 3.7.4). */
const asciiOf = (text: string): string => (PRINTABLE.test(text) ? text : spelledInAscii(text));

const PRINTABLE = /^[ -~]*$/;

const spelledInAscii = (text: string): string =>
  text
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replaceAll('…', '...')
    .replace(/[–—]/g, '-')
    .replace(/[^\x20-\x7e\s]/gu, '?');
