// Replies that machines send for people: vacation notes, out-of-office, ticket receipts. RFC 3834
// and earlier conventions. report.ts checks it after delivery reports and bounces; such emails are
// kept for a week and never become events.
import { type Email, headerText } from './mime.ts';

const SUBJECT = new RegExp(
  [
    'out of (?:the )?office|\\booo\\b|away from (?:my|the) (?:office|mail|desk)|on (?:vacation|holiday|annual leave|parental leave|maternity leave)|vacation (?:reply|response|notice)',
    'auto(?:mat(?:ic|ed))?[- ]?(?:re(?:ply|sponse|sponder)|answer|acknowledg|notification)|automatically generated|autoreply|autoresponse',
    'abwesen|automatische antwort|nicht im (?:büro|haus)|urlaubs|eingangsbest',
    'réponse automatique|absence du bureau|absent\\(?e?\\)?|accusé de réception|message d.absence',
    'respuesta autom[aá]tica|fuera de (?:la )?oficina|ausente|risposta automatica|fuori (?:sede|ufficio)|assenza|resposta autom[aá]tica|fora do escrit|ausência',
    'automatisch antwoord|afwezig|automatiskt? svar|autosvar|frånvaro|fravær|automaattinen vastaus|poissa|automatyczna odpowied|odpowied[zź] automatyczna|nieobecn|automatick[áa] odpov|otomatik yan',
    'автоответ|автоматический ответ|отсутств|в отпуске|自动回复|自動回覆|自动答复|自動返信|不在|부재|자동 ?회신',
  ].join('|'),
  'iu',
);
const BODY =
  /\b(?:i am|i'm|i will be|i'll be|we are)[^.]{0,40}(?:out of (?:the )?office|away|on (?:vacation|holiday|leave)|travel+ing|unable to (?:read|respond))|will (?:respond|reply|return|get back)[^.]{0,60}(?:return|back|as soon as)|limited access to (?:my )?e-?mail|thank you for (?:your (?:e-?mail|message|enquiry|inquiry)|contacting)|ich bin[^.]{0,60}(?:nicht|außer|im urlaub)|je suis[^.]{0,40}absent/i;

/** Headers that vacation programs write. */
export function saysAutoReply(email: Email): boolean {
  const value = (name: string) => headerText(email.headers.get(name)?.[0]).toLowerCase();
  if (value('auto-submitted').startsWith('auto-replied')) return true;
  if (/auto[-_]?reply|auto-?respon/.test(value('precedence') + value('x-precedence'))) return true;
  return [
    'x-autoreply',
    'x-autorespond',
    'x-autoresponder',
    'x-auto-reply-from',
    'x-mail-autoreply',
    'autoreply',
  ].some((name) => email.headers.has(name));
}

/** Subjects that no mail server writes. */
export function hasAutoReplySubject(email: Email): boolean {
  return SUBJECT.test(headerText(email.headers.get('subject')?.[0]).slice(0, 500));
}

export function isAutoReply(email: Email, notice: string): boolean {
  if (saysAutoReply(email) || hasAutoReplySubject(email)) return true;
  const isReply = email.headers.has('in-reply-to') || email.headers.has('x-auto-response-suppress');
  return isReply && BODY.test(notice.slice(0, 4000));
}
