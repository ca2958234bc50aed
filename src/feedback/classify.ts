// Why a mail came back and whether it is for good. dsn.ts, bounce-text.ts and sns.ts ask; reasons.ts and text-rules.ts know.
// Order (RFC 3463 codes, then words, then RFC 5321 codes): strong words, a specific enhanced code, weak words,
// a generic enhanced code, the bare reply code.

import type { BounceType } from '../events/kinds.ts';
import type { Reason } from '../events/reasons.ts';
import { enhancedVerdict, replyReason } from './reasons.ts';
import { TEXT_RULES } from './text-rules.ts';

/** What a report can say; the other two types are our own doing. */
export type Finality = Extract<BounceType, 'permanent' | 'transient'>;

export interface Verdict {
  reason: Reason;
  bounceType: Finality;
}

/** Longer replies repeat themselves; the rules cost 0.1 ms on this many characters. */
const MAX_CHARS = 3000;

/**
 * `status`: from the Status field, which decides permanent or transient (RFC 3463 2, class 5 or 4).
 * Without one, codes in the text decide, then its words.
 */
export function classify(status: string | null, text: string): Verdict {
  const said = text.slice(0, MAX_CHARS);
  const code = mostTelling(status, enhancedCodes(said));
  const reply = replyCode(said);
  const words = normalise(said);
  const reason = decideReason(code, reply, words);
  const finalClass = (status ?? code ?? reply)?.[0];
  const bounceType = finalClass
    ? finalClass === '4'
      ? 'transient'
      : 'permanent'
    : byWords(reason, words);
  // RFC 3464: failed with 4.x means the queue's time ran out. When no cause is known better than "it did not work", that is it.
  const vague = reason === 'network' || reason === 'system' || reason === 'other';
  return { reason: vague && bounceType === 'transient' ? 'expired' : reason, bounceType };
}

/** The words' own verdict: used to tell which paragraph of a notice speaks about the failure. */
export function hasVerdict(text: string): boolean {
  const words = normalise(text.slice(0, MAX_CHARS));
  return TEXT_RULES.some((rule) => rule.pattern.test(words));
}

function decideReason(code: string | null, reply: string | null, words: string): Reason {
  const strongWords = TEXT_RULES.find((rule) => rule.strong && rule.pattern.test(words));
  if (strongWords) return strongWords.reason;
  const byCode = code === null ? null : enhancedVerdict(code);
  if (byCode?.specific) return byCode.reason;
  const weakWords = TEXT_RULES.find((rule) => !rule.strong && rule.pattern.test(words));
  if (weakWords) return weakWords.reason;
  if (byCode && byCode.reason !== 'other') return byCode.reason;
  return reply === null ? 'other' : replyReason(reply);
}

/** No code at all: what comes back in words alone. */
function byWords(reason: Reason, words: string): Finality {
  if (
    /permanent(?:ly)? (?:error|fail|fatal|reject)|fail(?:ed|ure)?:? permanent|fatal error/.test(
      words,
    )
  ) {
    if (reason !== 'expired' && reason !== 'network') return 'permanent';
  }
  const soft: readonly Reason[] = [
    'mailbox-full',
    'rate-limited',
    'greylisted',
    'expired',
    'network',
    'system',
  ];
  if (soft.includes(reason)) return 'transient';
  return reason !== 'user-unknown' && /temporar|try again|transient/.test(words)
    ? 'transient'
    : 'permanent';
}

/** All enhanced codes in the text; `5.7.1.100` is an address of a host, not a code. */
export function enhancedCodes(text: string): string[] {
  return [...text.matchAll(/(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d]|\.\d)/g)].map(
    (match) => match[0],
  );
}

// Not a count ("500 bytes"), not a part of an address or a date.
const REPLY =
  /(?:^|[\s:;<>'"([#=-])([45]\d\d)(?=[ -](?!(?:bytes|seconds|days|hours|minutes|messages|kb|mb)\b)|[:,'")\]]|$)/i;

/** The first SMTP reply code in the text. */
export function replyCode(text: string): string | null {
  return REPLY.exec(text)?.[1] ?? null;
}

/** Where the first reply begins; -1 when there is none. */
export function replyStart(text: string): number {
  const match = REPLY.exec(text);
  return match ? match.index + match[0].length - 3 : -1;
}

/** The status, unless it is generic (x.0.0) and the reply quotes a better one of the same class. */
function mostTelling(status: string | null, quoted: readonly string[]): string | null {
  const failing = quoted.filter((code) => code[0] !== '2');
  if (status === null)
    return failing.find((code) => enhancedVerdict(code).specific) ?? failing[0] ?? null;
  if (enhancedVerdict(status).specific) return status;
  const alike = failing.filter((code) => code[0] === status[0]);
  const telling = alike.find((code) => enhancedVerdict(code).specific);
  if (telling !== undefined || !status.endsWith('.0.0')) return telling ?? status;
  return alike.find((code) => !code.endsWith('.0.0')) ?? status;
}

/** Lower case, one space, no addresses (their names say anything), no codes (they cut sentences of long replies in pieces). */
export function normalise(text: string): string {
  return withoutAddresses(text.toLowerCase().replace(/[’‘`´]/g, "'"))
    .replace(/(?<![\d.])[245]\d\d[- ]#?[245]\.\d{1,3}\.\d{1,3}(?!\d|\.\d)/g, ' ')
    .replace(/(?<![\d.])[245]\d\d-(?=\D)/g, ' ')
    .replace(/[\s_]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/** Each address, with its brackets, becomes `<>`. From one @ to the next: a text without any costs nothing. */
function withoutAddresses(text: string): string {
  let rest = '';
  let from = 0;
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', Math.max(at + 1, from))) {
    let start = at;
    while (start > from && at - start < 80 && !AROUND_ADDRESS.includes(text[start - 1]!)) start--;
    let end = at + 1;
    while (end < text.length && end - at <= 255 && !AROUND_ADDRESS.includes(text[end]!)) end++;
    if (start === at || end === at + 1) continue;
    if (start > from && text[start - 1] === '<') start--;
    if (text[end] === '>') end++;
    rest += `${text.slice(from, start)}<>`;
    from = end;
  }
  return rest + text.slice(from);
}
const AROUND_ADDRESS = ' \t\n\r\f\v\u00a0<>()[]:;,"\'';
