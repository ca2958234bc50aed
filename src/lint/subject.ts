// What makes a subject look like spam. Called by lint.ts. Few rules, and none that an honest order
// confirmation would match: a rule that cries wolf gets switched off.

/** RFC 5322 2.1.1; nobody reads more. */
const READ = 998;
const LONGEST = 150;

const PHRASES =
  /\b(act now|100% free|free money|click here|you(?:'ve| have) won|you are a winner|risk[- ]free|make money|earn \$|cash bonus|no obligation|once in a lifetime|limited time offer|order now|lowest price|viagra|crypto giveaway)\b/i;

export function spamMarks(subject: string): string[] {
  const text = subject.slice(0, READ);
  const marks: string[] = [];
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0;
  if (letters >= 12 && capitals > letters * 0.8) marks.push('it is in capitals');
  if (/[!?]{2,}/.test(text) || (text.match(/!/g)?.length ?? 0) > 2) {
    marks.push('runs of exclamation or question marks');
  }
  if (/[$€£]{2,}/.test(text)) marks.push('runs of currency signs');
  const phrase = PHRASES.exec(text)?.[0];
  if (phrase !== undefined) marks.push(`"${phrase}"`);
  if (subject.length > LONGEST) marks.push(`it has more than ${LONGEST} characters`);
  return marks;
}
