// What is said with the answer to a send, and is no reason to refuse it: that it cannot pass DMARC,
// and what receivers would object to. Before: accept.ts has packed it. After: answer.ts.
import type { Caller, KnownSender } from '../accounts/directory.ts';
import { isTooLongToLint, type LintedEmail, type LintFinding } from '../lint/lint.ts';
import type { StreamKind } from '../messages/stream.ts';
import type { PackedSend } from './packed-send.ts';

export interface WarningDeps {
  /** Recipients can reach us, so emails of streams that can be left say how. */
  linksWork: () => boolean;
  /** lint/lint.ts, within what the account may ask of the threads; undefined: it was stopped. */
  lint: (accountId: number, email: LintedEmail) => Promise<LintFinding[] | undefined>;
}

const UNCHECKED = 'not checked: checking this email takes too long.';

/** What receivers would object to: said with the answer, and no reason to refuse it. */
export async function warningsOn(
  deps: WarningDeps,
  { accountId }: Caller,
  { unaligned, lintSends }: KnownSender,
  { subject, html, text }: PackedSend,
  about: { stream: { kind: StreamKind }; headers: readonly (readonly [string, string])[] },
): Promise<string[]> {
  const warnings = unaligned === null ? [] : [`unaligned: ${unaligned}`];
  // The parts of an email that arrived whole are in its bytes.
  if (!lintSends || (html === null && text === null)) return warnings;
  if (isTooLongToLint({ html, text })) return [...warnings, UNCHECKED];
  const email = { subject, html: html?.toString() ?? null, text: text?.toString() ?? null };
  const broadcast = about.stream.kind === 'broadcast';
  const ownWay = about.headers.some(([name]) => name.toLowerCase() === 'list-unsubscribe');
  const unsubscribe = deps.linksWork() || ownWay;
  const found = await deps.lint(accountId, { ...email, broadcast, unsubscribe });
  if (found === undefined) return [...warnings, UNCHECKED];
  return [...warnings, ...found.map(({ rule, message }) => `${rule}: ${message}`)];
}
