// Why an email came back and whether it is permanent. Called by the readers of reports (dsn.ts,
// bounce-text.ts, ses.ts, providers/) and by delivery/attempt-events.ts; reasons.ts and
// text-rules.ts hold the rules. Order (RFC 3463 codes, then words, then RFC 5321 codes): strong
// words, a specific enhanced code, weak words, a generic enhanced code, the bare reply code.
import type { BounceType } from '../events/kinds.ts';
import type { Reason } from '../events/reasons.ts';
import { enhancedMeaning, replyReason } from './reasons.ts';
import { TEXT_RULES } from './text-rules.ts';

/** What a report can say; the other two types come from us. */
export type Finality = Extract<BounceType, 'permanent' | 'transient'>;

/** How far the email had got when it was refused; null: unknown. */
export type Phase = 'connect' | 'mail' | 'rcpt' | 'data';

/**
 * What it means for the address: it is dead and gets no more email, it is doubtful and gets a
 * strike (counted by suppressions/strikes.ts), or nothing, because the sender or the path was
 * refused and not the address.
 */
export type Consequence = 'suppress' | 'strike' | 'none';

export interface Diagnosis {
  reason: Reason;
  bounceType: Finality;
  consequence: Consequence;
}

/** Longer replies repeat themselves; the rules take 0.1 ms for this many characters. */
const MOST_CHARS = 3000;

/**
 * `status`: from the Status field, which decides permanent or transient (RFC 3463 2, class 5 or 4).
 * Without one, codes in the text decide, then its words.
 */
export function classify(status: string | null, text: string, phase = phaseIn(text)): Diagnosis {
  const said = text.slice(0, MOST_CHARS);
  const code = mostTelling(status, enhancedCodes(said));
  const reply = replyCode(said);
  const words = normalise(said);
  const { reason, evidence } = decideReason(code, reply, words);
  const finalClass = (status ?? code ?? reply)?.[0];
  const bounceType = finalClass
    ? finalClass === '4'
      ? 'transient'
      : 'permanent'
    : byWords(reason, words);
  // RFC 3464: failed with 4.x means the queue's time ran out. If no better cause is known than "it
  // did not work", that is the cause.
  const vague = reason === 'network' || reason === 'system' || reason === 'other';
  return {
    reason: vague && bounceType === 'transient' ? 'expired' : reason,
    bounceType,
    consequence: bounceType === 'transient' ? 'none' : consequenceOf(reason, evidence, code, phase),
  };
}

const DEAD: readonly Reason[] = ['user-unknown', 'host-unknown', 'moved'];
const DOUBTFUL: readonly Reason[] = ['mailbox-disabled', 'mailbox-full', 'suppressed', 'other'];

/**
 * Only a statement that the address itself is dead suppresses at once. "User unknown" to MAIL FROM
 * is about the sender; after the content it is often a filter's excuse, unless the code says so
 * too; a bare 550 says nothing.
 */
function consequenceOf(
  reason: Reason,
  evidence: Evidence,
  code: string | null,
  phase: Phase | null,
): Consequence {
  if (DOUBTFUL.includes(reason)) return 'strike';
  if (!DEAD.includes(reason) || phase === 'mail' || phase === 'connect') return 'none';
  if (evidence === 'reply') return 'strike';
  if (phase !== 'data') return 'suppress';
  const coded = code === null ? null : enhancedMeaning(code);
  return coded?.specific && DEAD.includes(coded.reason) ? 'suppress' : 'strike';
}

const PHASES: readonly [Phase, RegExp][] = [
  ['data', /in reply to (?:end of )?data|after end of data|after i sent the message|\[body\]/i],
  ['rcpt', /in reply to rcpt|after rcpt to|does not like recipient|\[rcpt_to\]|>>> rcpt/i],
  ['mail', /in reply to mail|after mail from|does not like sender|\[mail_from\]|>>> mail/i],
  [
    'connect',
    /after initial connection|after (?:he|eh)lo|in reply to (?:he|eh)lo|refused to talk/i,
  ],
];

/** At which command the server refused, as Postfix, Exim, qmail, sendmail and Courier report it. */
export function phaseIn(text: string): Phase | null {
  const told = text.slice(0, MOST_CHARS).replace(/\s+/g, ' ');
  const named = PHASES.find(([, pattern]) => pattern.test(told))?.[0];
  if (named !== undefined) return named;
  // sendmail sends DATA before it reads the answer to RCPT; then DATA is refused as well, for lack
  // of a recipient.
  if (!/>>> data\b/i.test(told)) return null;
  return /<<< 503/.test(told) ? 'rcpt' : 'data';
}

/**
 * Whether the words alone give a reason: shows which paragraph of a notice is about the failure.
 */
export function saysWhy(text: string): boolean {
  const words = normalise(text.slice(0, MOST_CHARS));
  return TEXT_RULES.some((rule) => rule.pattern.test(words));
}

/** What the decision rests on; a bare reply code is the weakest. */
type Evidence = 'words' | 'code' | 'reply';

function decideReason(
  code: string | null,
  reply: string | null,
  words: string,
): { reason: Reason; evidence: Evidence } {
  const strongWords = TEXT_RULES.find((rule) => rule.strong && rule.pattern.test(words));
  if (strongWords) return { reason: strongWords.reason, evidence: 'words' };
  const byCode = code === null ? null : enhancedMeaning(code);
  if (byCode?.specific) return { reason: byCode.reason, evidence: 'code' };
  const weakWords = TEXT_RULES.find((rule) => !rule.strong && rule.pattern.test(words));
  // "Recipient address rejected: …" with a policy code is about the policy, whatever follows.
  const byPolicy = byCode?.reason === 'policy' && weakWords?.reason === 'user-unknown';
  if (weakWords && !byPolicy) return { reason: weakWords.reason, evidence: 'words' };
  if (byCode && byCode.reason !== 'other') return { reason: byCode.reason, evidence: 'code' };
  return { reason: reply === null ? 'other' : replyReason(reply), evidence: 'reply' };
}

/** No code at all: only words came back. */
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

/** All enhanced codes in the text; `5.7.1.100` is an IP address, not a code. */
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

/** Where the first reply begins; -1 if there is none. */
export function replyStart(text: string): number {
  const match = REPLY.exec(text);
  return match ? match.index + match[0].length - 3 : -1;
}

/** The status, unless it is generic (x.0.0) and the reply quotes a better one of the same class. */
function mostTelling(status: string | null, quoted: readonly string[]): string | null {
  const failing = quoted.filter((code) => code[0] !== '2');
  if (status === null)
    return failing.find((code) => enhancedMeaning(code).specific) ?? failing[0] ?? null;
  if (enhancedMeaning(status).specific) return status;
  const alike = failing.filter((code) => code[0] === status[0]);
  const telling = alike.find((code) => enhancedMeaning(code).specific);
  if (telling !== undefined || !status.endsWith('.0.0')) return telling ?? status;
  return alike.find((code) => !code.endsWith('.0.0')) ?? status;
}

/**
 * Lower case, one space, no addresses (their names say anything), no codes (they split the
 * sentences of long replies).
 */
export function normalise(text: string): string {
  return withoutAddresses(text.toLowerCase().replace(/[’‘`´]/g, "'"))
    .replace(/(?<![\d.])[245]\d\d[- ]#?[245]\.\d{1,3}\.\d{1,3}(?!\d|\.\d)/g, ' ')
    .replace(/(?<![\d.])[245]\d\d-(?=\D)/g, ' ')
    .replace(/[\s_]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/**
 * Each address, with its brackets, becomes `<>`. From one @ to the next: a text without any costs
 * nothing.
 */
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
