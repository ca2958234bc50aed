// Bounces without a delivery-status part: Exchange, qmail, Exim, old Gmail and sendmail, gateways
// with their own wording. There is no format, so it decides: is it a bounce at all, which addresses
// failed, what is said about each. report.ts calls it after dsn.ts found nothing; classify.ts
// judges the text.
import { hasAutoReplySubject } from './auto-reply.ts';
import { classify, enhancedCodes, phaseIn, replyStart, saysWhy } from './classify.ts';
import { hostOf, type RecipientResult, readStatus } from './dsn.ts';
import { type Email, headerText } from './mime.ts';
import { isReturned, type Original } from './original.ts';
import { findAddresses, listedAddresses, namedIn } from './report-address.ts';

const MOST_RECIPIENTS = 50;
const MOST_LINES = 1000;
/** What is said about one address. The rules read 3000 characters, a reply is kept to 1000. */
const MOST_TELLING_CHARS = 8000;

/** Null if the email is not a bounce. */
export function readBounce(
  email: Email,
  notice: string,
  original: Original,
): RecipientResult[] | null {
  if (!looksLikeBounce(email, notice)) return null;
  // Broken multiparts leave the status fields in the text.
  const fields = notice.search(/^(?:reporting-mta|final-recipient):/im);
  if (fields >= 0) {
    const status = readStatus(notice.slice(fields), notice.slice(0, fields));
    if (status !== null) return status.recipients;
  }
  const delayed = isDelay(email, notice);
  const addresses = failedAddresses(email, notice, original);
  const told = tellings(notice, addresses);
  const whole = readTelling(notice);
  const from = generatingServer(notice) ?? senderHost(email);
  const results = addresses.map((address) => {
    const telling = readTelling(told.get(address.toLowerCase()) ?? '');
    // Some gateways give the reason first and the address after it.
    const source = telling.isTelling ? telling : whole;
    return readResult(address, source, { from, answered: source.host ?? whole.host }, delayed);
  });
  if (results.length > 0) return results;
  return [readResult(null, whole, { from, answered: whole.host }, delayed)];
}

// Words in subjects, in the languages that servers use.
const SUBJECT = new RegExp(
  [
    'undeliver|returned (?:mail|to sender|message)|return(?:ing|ed)? message|mail delivery|delivery (?:status|failure|failed|error|problem|report|has failed|incomplete|delayed|notification|unsuccessful)|delivery of|failure (?:notice|notification|delivery)|failed (?:mail|delivery|to deliver)|message (?:delivery|status|not delivered|undeliverable|delayed)|mail (?:failure|system error|status report|could not)|non[- ]?delivery|not delivered|could not (?:be delivered|send)|unable to deliver|undelivered|bounced?\\b|warning: (?:message|could not)|user unknown|rejected (?:mail|message)|nondeliverable|notification d.état|e-?mail error',
    'unzustellbar|nicht zugestellt|zustellung|zustellfehler|zurückgesendet|fehlgeschlagen|mail konnte nicht',
    'non (?:remis|distribu)|échec de (?:la )?(?:remise|livraison|distribution)|message non|avis de non-|retour de mail',
    'no se (?:ha )?(?:pudo|podido) entregar|error de entrega|correo no entregado|devuelto|non (?:recapitat|consegnat)|mancato recapito|não entregue|falha na entrega|devolvid[ao]|niet (?:afgeleverd|bezorgd)|onbestelbaar|niedostarcz|nie dostarczono|kunde inte levereras|ikke leveret',
    'недоставлен|не доставлен|не может быть доставлен|退信|退件|投递失败|无法投递|傳送失敗|送信できません|配信不能|メールエラー|エラー通知|반송',
  ].join('|'),
  'iu',
);
const ANSWER = /^\s*(?:re|aw|sv|antw|odp|回复|答复|fwd?|wg|tr)\s*(?:\[\d+\])?[:：]/i;
const BODY =
  /could not be delivered|(?:was|were) (?:undeliverable|not delivered|unable to deliver|rejected)|wasn't (?:able to deliver|delivered)|(?:wasn't|not) able to (?:be delivered|deliver)|delivery (?:to the following|has failed|failed|attempt)|did not reach the following|undeliverable|unable to deliver|permanent (?:fatal )?errors?|returned to (?:the )?sender|delivery (?:errors?|problems?)|following (?:address|recipient)|failed permanently|not delivered to|couldn't be delivered|failure reasons|cannot be delivered|has been delayed|not yet been delivered|delivery status|mail delivery|failed to deliver|user unknown|invalid (?:user|final)|server message|error message below|не может быть доставлен|konnte nicht zugestellt|n'a pas pu être|no (?:se )?pudo|送信できません|送信に失敗|投递/i;

/**
 * Several small signs make a bounce; one alone (a postmaster writes, someone mentions "550") does
 * not.
 */
function looksLikeBounce(email: Email, notice: string): boolean {
  if (email.headers.has('x-failed-recipients')) return true;
  if (hasAutoReplySubject(email) || (email.type === 'multipart/report' && isReceipt(email)))
    return false;
  const from = headerText(email.headers.get('from')?.[0]);
  const returnPath = email.headers.get('return-path')?.[0];
  const subject = headerText(email.headers.get('subject')?.[0]);
  const opening = notice.slice(0, 4000);
  let signs = 0;
  if (
    /mailer-?daemon|post_?master|mail delivery (?:sub)?system|mail ?daemon|mail administrator|system administrator/i.test(
      from,
    )
  )
    signs += 2;
  if (returnPath !== undefined && /^<\s*>|^$|mailer-daemon/i.test(returnPath)) signs += 1;
  // "Re: Undeliverable: …" is what a person writes about a bounce.
  if (SUBJECT.test(subject.slice(0, 500)) && !ANSWER.test(subject)) signs += 2;
  if (BODY.test(opening)) signs += 1;
  if (replyStart(opening) >= 0 || /[(#][45]\.\d\.\d{1,3}\)/.test(opening)) signs += 1;
  if (email.parts.some(isReturned)) signs += 1;
  if (email.type === 'multipart/report') signs += 1;
  return signs >= 3;
}

/** Read receipts (RFC 8098) are reports too, but nothing failed. */
function isReceipt(email: Email): boolean {
  return email.parameters.get('report-type')?.toLowerCase() === 'disposition-notification';
}

function isDelay(email: Email, notice: string): boolean {
  const text = `${headerText(email.headers.get('subject')?.[0]).slice(0, 300)}\n${notice.slice(0, 2500)}`;
  if (
    /permanent|given up|giving up|will be deleted|has failed|not going to try|could not be delivered for/i.test(
      text,
    )
  )
    return false;
  return /\bdelay|warning: (?:message|could not)|not yet been delivered|will (?:be retried|retry|continue to (?:try|be)|keep trying)|still (?:being tried|trying)|(?:no action is required|do not need to resend)|retry for another|temporary failure|verzögert|retardé/i.test(
    text,
  );
}

/**
 * The header of Exim and Gmail, otherwise the addresses in the notice that the email went to,
 * otherwise those positioned like recipients.
 */
function failedAddresses(email: Email, notice: string, original: Original): string[] {
  const declared = listedAddresses((email.headers.get('x-failed-recipients') ?? []).join(', '));
  if (declared.length > 0) return declared.slice(0, MOST_RECIPIENTS);
  const keys = (addresses: readonly string[]) =>
    new Set(addresses.map((address) => address.toLowerCase()));
  const headerAddresses = ['to', 'from', 'reply-to', 'sender'].flatMap((name) =>
    listedAddresses((email.headers.get(name) ?? []).slice(0, 10).map(headerText).join(', ')),
  );
  const sentTo = keys(original.recipients);
  const own = keys([...headerAddresses, ...original.senders]);
  const named = findAddresses(notice).map((found) => ({
    ...found,
    key: found.address.toLowerCase(),
  }));
  const known = named.filter((found) => sentTo.has(found.key));
  if (known.length > 0) return known.map((found) => found.address).slice(0, MOST_RECIPIENTS);
  const foreign = named.filter((found) => !own.has(found.key) && !OFFICE.test(found.key));
  const placed = foreign.filter((found) =>
    standsLikeRecipient(notice, found.at, found.address.length),
  );
  const chosen = placed.length > 0 ? placed : foreign.slice(0, 1);
  if (chosen.length > 0) return chosen.map((found) => found.address).slice(0, MOST_RECIPIENTS);
  return original.recipients.length === 1 ? [...original.recipients] : [];
}

// An address to ask for help is not the one that failed.
const OFFICE =
  /^(?:mailer-?daemon|post_?master|abuse|help(?:desk)?|support|hostmaster|webmaster|no-?reply|info-?mail|delist|tosa)@/;

/**
 * At the beginning of a line (after brackets, quotes, bullets) or after a word that announces a
 * recipient.
 */
function standsLikeRecipient(notice: string, at: number, length: number): boolean {
  const near = notice.slice(Math.max(0, at - 80), at);
  const before = near.slice(near.lastIndexOf('\n') + 1);
  if (/^[\s<"'([*>•-]*$/.test(before)) return true;
  if (
    /(?:from|sender|reply-to|contact)(?:'?s)?(?: e-?mail)?(?: address)?[\s:=]*[<"'([]*$/i.test(
      before,
    )
  )
    return false;
  if (
    /(?:rcpt to|recipients?(?: address(?:es)?)?|to|for|userid|user|address|delivered to|mailbox|an|à|destinatario|収信者)[\s:=]*[<"'([]*$/i.test(
      before,
    )
  )
    return true;
  return /^[>"')\]]*\s*(?:\[|:|\.\.\.|$)/m.test(
    notice.slice(at + length, at + length + 40).split('\n')[0]!,
  );
}

/** By address in lower case: from a line that names it to the next line that names another. */
function tellings(notice: string, addresses: readonly string[]): Map<string, string> {
  const wanted = new Set(addresses.map((address) => address.toLowerCase()));
  const told = new Map<string, string>();
  let about: ReadonlySet<string> = new Set();
  for (const line of notice.split('\n', MOST_LINES)) {
    const named = namedIn(line, wanted);
    if (named.size > 0) about = named;
    for (const address of about) {
      const before = told.get(address) ?? '';
      const room = MOST_TELLING_CHARS - before.length;
      if (room > 0) told.set(address, `${before}${line.slice(0, room)}\n`);
    }
  }
  return told;
}

/** What a passage of the notice says, whoever it is about. */
interface Telling {
  text: string;
  isTelling: boolean;
  /** From a reply code to the end of its paragraph; null if there is no code. */
  reply: string | null;
  /** Without a code: the first paragraph that says something, and the second. */
  words: readonly [string, string];
  host: string | null;
}

function readTelling(text: string): Telling {
  const start = replyStart(text);
  const isTelling = start >= 0 || enhancedCodes(text).length > 0 || saysWhy(text);
  return {
    text,
    isTelling,
    reply: start < 0 ? null : paragraphs(text.slice(start), 1)[0]!,
    words: start < 0 ? tellingParagraph(text) : ['', ''],
    host: remoteHost(text),
  };
}

function tellingParagraph(text: string): [string, string] {
  const parts = paragraphs(text, 50);
  const telling =
    parts.find((part) => enhancedCodes(part).length > 0) ?? parts.find((part) => saysWhy(part));
  return [telling ?? parts[0] ?? '', parts[1] ?? ''];
}

const paragraphs = (text: string, most: number): string[] =>
  text.split(/\n\s*\n/, most).map((part) => part.slice(0, MOST_TELLING_CHARS));

function readResult(
  address: string | null,
  source: Telling,
  { from, answered }: { from: string | null; answered: string | null },
  delayed: boolean,
): RecipientResult {
  const said = serverReply(source, address);
  const codes = enhancedCodes(said ?? '');
  const diagnosis = delayed ? null : classify(null, said ?? source.text, phaseIn(source.text));
  return {
    address,
    action: delayed ? 'delayed' : 'failed',
    status: codes.find((code) => code[0] !== '2') ?? null,
    bounce_type: diagnosis?.bounceType ?? null,
    reason: diagnosis?.reason ?? null,
    consequence: diagnosis?.consequence ?? null,
    smtp_response: said,
    reporting_mta: from ?? answered,
    remote_mta: answered,
  };
}

/** The reply as the server gave it; without a code, the words about the address. */
function serverReply({ reply, words }: Telling, address: string | null): string | null {
  const from = reply ?? withoutAddress(words, address);
  const told = from
    .replace(/\s+/g, ' ')
    .replace(/\s?\(in reply to [\w ]{1,30}\)?/i, '')
    .trim();
  return told.slice(0, 1000) || null;
}

/** Removes the address at the start of what is said about it. */
function withoutAddress([telling, second]: Telling['words'], address: string | null): string {
  if (address === null || telling.trim() === '') return telling.trim() === '' ? second : telling;
  const at = telling.toLowerCase().indexOf(address.toLowerCase());
  if (at < 0) return telling;
  const before = telling.slice(0, at).replace(/[<"']$/, '');
  const after = telling.slice(at + address.length).replace(/^[>"']?:?/, '');
  return `${before}${after}`.trim() === '' ? second : before + after;
}

/** Exchange's own name. */
const generatingServer = (text: string): string | null =>
  hostOf(/generating server:\s{0,8}((?:[\w-]{1,63}\.){1,8}[\w-]{1,63})/i.exec(text)?.[1] ?? '');

/** `host mx.example.com [192.0.2.1]`, `while talking to mx.example.com.:`, `Remote-MTA: <…>` */
function remoteHost(text: string): string | null {
  const match =
    /(?:remote[- ]mta:\s{0,8}(?:dns;\s{0,4})?|\bhost:? |while talking to |\bby |remote (?:server|host|system):?\s{0,4}(?:dns;\s{0,4})?)[<[]?((?:[\w-]{1,63}\.){1,8}[\w-]{1,63})\.?[\]>]?(?=[\s:,;)[\]>]|$)/i.exec(
      text,
    );
  return match ? hostOf(match[1]!) : null;
}

function senderHost(email: Email): string | null {
  const from = listedAddresses(headerText(email.headers.get('from')?.[0]))[0];
  return from === undefined ? null : from.slice(from.lastIndexOf('@') + 1);
}
