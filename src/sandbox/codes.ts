// One-time codes in the text of an email, for tests that sign in: `123456`, `123 456`, `7KQ2-M9XA`.
// Before it: captured-email.ts, which passes subject and text. A number counts only if the words
// around it mention a code: years, prices, phone and order numbers do not. Linear: every expression
// is bounded, and so is the cost of a text.

/** 64 KB of letters took 30 ms. Emails with codes contain little else. */
const LONGEST_TEXT = 16 * 1024;
const MOST_CODES = 10;
/** A list of a thousand numbers is not an email with a code. */
const MOST_LOOKED_AT = 300;
/** How far a code may be from the word for it. */
const BEFORE = 80;
const AFTER = 60;
/** For a code on its own line, which the words above or below it explain. */
const AROUND = 400;

/** The words for such a code, in the languages of most emails. */
const CODE_WORDS =
  /(?<!\p{L})(?:(?:pass|security|verification|confirmation|login|sign-in|access|auth|one-time|recovery|backup)?[ -]?codes?|passcodes?|pins?|otp|tokens?|(?:one|single)[ -](?:time|use)[ -](?:password|pin)|c[oó]digos?|codice|kode?n?|koodi|kodu?|code d[e’'][ \p{L}]{1,20}|(?:\p{L}{1,20})(?:code|kode|kod)|код|κωδικ[οό]ς|(?:ال)?رمز(?:ك|كم|ها)?|קוד)(?!\p{L})|验证码|驗證碼|認証コード|確認コード|コード|인증|รหัส/iu;

/** A code, but not one for signing in. */
const OTHER_CODES =
  /(?<!\p{L})(?:promo(?:tion(?:al)?)?|discount|coupon|voucher|gift(?: card)?|referral|invite|postal|post|zip|area|country|dial(?:l?ing)?|error|status|source|product|item|sort|swift|tax|booking|order|tracking|customer|dress|qr|bar)[ -]?(?:code|pin|token)s?(?!\p{L})/giu;

/** What comes right before a number that is not a code. */
const NUMBER_OF =
  /(?:#|№|\bno\.|\b(?:number|nr|num|order|invoice|receipt|ticket|case|ref|reference|booking|reservation|tracking|account|customer|card|ending|ends|digits|room|gate|flight|suite|apt|unit|box|version|v|page|since|year|in|until|by|©|copyright|tel|phone|call|fax|mobile|build|error|status|port|zip|id)\b[.:]?(?: (?:number|no\.?|nr\.?|id|in|is|with|#))?[.:]?)\s*#?$/iu;

/** What comes right after a quantity. */
const UNIT =
  /^\s?(?:%|°|[€$£¥₹]|(?:usd|eur|gbp|chf|jpy|seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|times|people|users|members|items?|points|credits|messages|emails|files|requests|words|characters|letters|digits|kb|mb|gb|tb|km|kg|px|am|pm|st|street|ave|avenue|road|rd|blvd)(?!\p{L}))/iu;

const TYPE_IT = /\b(?:enter|type|use|input|key in)(?: in)?:?\s*$/i;
const CURRENCY = /(?:[€$£¥₹]|\b(?:usd|eur|gbp|chf|jpy|inr))\s?$/iu;
const MONTH =
  /\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?,? (?:\d{1,2},? )?$/i;

/**
 * Digits, also in groups (`123 456`, `12-34-56`, `1 2 3 4 5 6`), or capitals and digits, also in
 * groups (`7KQ2-M9XA`), with the letter that some put in front (`G-123456`).
 */
const CANDIDATE =
  /(?<![\p{L}\p{N}_+./@:&=-])(?:\d{2,4}(?:[ \u00a0-]\d{2,4}){1,3}|\d(?:[ \u00a0]\d){3,7}|\d{4,8}|[A-Z]-\d{4,8}|[A-Z0-9]{3,6}(?:-[A-Z0-9]{3,6}){1,3}|[A-Z0-9]{4,10})(?![\p{L}\p{N}_/@+=-])(?![.,:]\d)/gu;

/** As a person would type it: groups of digits without separators. Best first. */
export function codesIn(subject: string, text: string): string[] {
  const whole = `${subject.slice(0, 1000)}\n\n${text.slice(0, LONGEST_TEXT)}`;
  const plain = withoutOthers(whole);
  const found: { code: string; weight: number; at: number }[] = [];
  let looked = 0;
  for (const match of plain.matchAll(CANDIDATE)) {
    if (looked++ >= MOST_LOOKED_AT) break;
    const weight = weigh(plain, match.index, match[0]);
    if (weight > 0) found.push({ code: typed(match[0]), weight, at: match.index });
  }
  found.sort((one, other) => other.weight - one.weight || one.at - other.at);
  return [...new Set(found.map(({ code }) => code))].slice(0, MOST_CODES);
}

/**
 * URLs contain digits that nobody types, and words for other kinds of codes would match their
 * numbers. In Arabic, numbers have text direction marks around them.
 */
const withoutOthers = (text: string): string =>
  text
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
    .replace(/\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s<>"]+/gi, blank)
    .replace(/[^\s<>@]{1,64}@[^\s<>@]{1,255}/g, blank)
    .replace(OTHER_CODES, blank);

const blank = (found: string): string => ' '.repeat(found.length);

const typed = (written: string): string =>
  /^[\d \u00a0-]+$/.test(written) ? written.replace(/\D/g, '') : written;

/** Zero: not a code. Otherwise how certain it is. */
function weigh(text: string, at: number, written: string): number {
  if (!looksLikeCode(written)) return 0;
  const end = at + written.length;
  const before = lineBefore(text, at);
  const after = lineAfter(text, end);
  if (isOtherNumber(written, before, after)) return 0;
  const alone = /^[\s>*_`|"'“”]*$/.test(before) && /^[\s*_`|"'“”.]*$/.test(after);
  if (alone) {
    const around = text.slice(Math.max(0, at - AROUND), end + AROUND);
    return CODE_WORDS.test(around) ? 4 : 0;
  }
  // Capitals and digits in a sentence are mostly product names: the word must come right before.
  const near = /\d/.test(written) && !/[A-Z]/.test(written) ? BEFORE : 25;
  const said = lastSentence(before).slice(-near);
  if (CODE_WORDS.test(said) && !isYear(written)) return 3;
  const follows = firstSentence(after).slice(0, AFTER);
  // "123456 is your code", "123456: your code for …"
  if (/^\s*(?:is|ist|est|es|è|är|er|on|—|–|-|:)\s/iu.test(follows) && CODE_WORDS.test(follows)) {
    return isYear(written) ? 0 : 2;
  }
  const around = text.slice(Math.max(0, at - AROUND), end + AROUND);
  return TYPE_IT.test(before) && CODE_WORDS.test(around) && !isYear(written) ? 1 : 0;
}

function looksLikeCode(written: string): boolean {
  const digits = written.replace(/\D/g, '').length;
  if (!/[A-Z]/.test(written)) return digits >= 4 && digits <= 8;
  // All capitals is a word, unless it is in groups like codes for devices.
  return digits > 0 || /^[A-Z]{4}-[A-Z]{4}$/.test(written);
}

function isOtherNumber(written: string, before: string, after: string): boolean {
  if (CURRENCY.test(before) || NUMBER_OF.test(before) || UNIT.test(after)) return true;
  if (/[+(]\s?[\d() -]{0,20}$/.test(before) || /\d[ \u00a0-]$/.test(before)) return true;
  if (/^[ \u00a0-]\d/.test(after)) return true;
  return isYear(written) && MONTH.test(before);
}

const isYear = (written: string): boolean => /^(?:19|20)\d\d$/.test(written);

const lineBefore = (text: string, at: number): string => {
  const line = text.slice(Math.max(0, at - 200), at);
  return line.slice(line.lastIndexOf('\n') + 1);
};

function lineAfter(text: string, end: number): string {
  const line = text.slice(end, end + 200);
  const stop = line.indexOf('\n');
  return stop < 0 ? line : line.slice(0, stop);
}

const lastSentence = (text: string): string => text.split(/[.!?]\s/).at(-1)!;
const firstSentence = (text: string): string => text.split(/[.!?](?:\s|$)/, 1)[0]!;
