// The email a report is about: what is needed to find our message. Used by report.ts and then the
// recorder.
import {
  type Email,
  firstField,
  type Headers,
  headerText,
  type Part,
  partText,
  readHeaders,
} from './mime.ts';
import { listedAddresses } from './report-address.ts';

/**
 * The headers that compose writes into every email; they come back in returned headers, even in
 * redacted reports.
 */
export const OUR_HEADER = 'x-sm-message-id';
export const TOKEN_HEADER = 'x-sm-token';

export interface Original {
  /** Message-ID without its brackets. */
  messageId: string | null;
  /** `msg_…` from our own header. */
  ourId: string | null;
  /**
   * Account, message and recipient, signed (return-path.ts); anyone who quotes it has seen that
   * copy.
   */
  token: string | null;
  /** ENVID of RFC 3461, which is our message id too. */
  envelopeId: string | null;
  /** To and Cc of the email, as far as they were returned. */
  recipients: string[];
  /** From and Return-Path: never the address that failed. */
  senders: string[];
  /** When the reporting server got the email. */
  arrivedAt: Date | null;
}

const RETURNED = new Set([
  'message/rfc822',
  // Not a registered type, but the examples of RFC 9477 use it.
  'text/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
]);
const MOST_RETURNED_CHARS = 131_072;
const MOST_LISTS = 20;

export function isReturned(part: Part): boolean {
  return RETURNED.has(part.type);
}

/**
 * `unsent`: the text of a notice from where it quotes the email, if the email is not a separate
 * part.
 */
export function findOriginal(email: Email, unsent = ''): Original {
  const returned = email.parts.find(isReturned);
  const text = returned ? partText(returned, MOST_RETURNED_CHARS) : unsent;
  const { headers } = readHeaders(text, firstField(text));
  return {
    messageId: messageId(headers.get('message-id')?.[0]),
    ourId: ownHeader(headers, email, text, OUR_HEADER, 'msg_\\w{1,64}'),
    token:
      ownHeader(headers, email, text, TOKEN_HEADER, '[a-zA-Z2-7]{40,64}') ??
      tokenIn(headers.get('return-path')?.[0]),
    envelopeId: null,
    recipients: addressesIn(headers, ['to', 'cc', 'x-original-to']),
    senders: addressesIn(headers, ['from', 'sender', 'return-path', 'reply-to']),
    arrivedAt: null,
  };
}

/**
 * Receivers write the return path on top of the email; gateways that strip our headers leave it.
 */
export function tokenIn(address: string | undefined): string | null {
  return /\bbounce\+([a-z2-7]{40,64})@/i.exec(address?.slice(0, 1000) ?? '')?.[1] ?? null;
}

export function messageId(value: string | undefined): string | null {
  const bracketed = /<([^<>\s]{1,500})>/.exec(value ?? '')?.[1];
  return bracketed ?? (/^[^\s<>]{3,500}$/.exec(value?.trim() ?? '')?.[0] || null);
}

/** RFC 5322 3.3, whose comments (time zone names) Date.parse must not see. */
export function parseDate(value: string | undefined): Date | null {
  const time = Date.parse((value ?? '').slice(0, 100).replace(/\(.*/, ''));
  return Number.isNaN(time) ? null : new Date(time);
}

/** Some servers quote, indent or attach the headers as plain text; ours is still legible in it. */
function ownHeader(
  headers: Headers,
  email: Email,
  text: string,
  name: string,
  shape: string,
): string | null {
  const returned = new RegExp(`^${shape}$`).exec(headers.get(name)?.[0]?.trim() ?? '');
  if (returned) return returned[0];
  const quoted = new RegExp(`^[> \\t]{0,20}${name}:[ \\t]{0,20}(${shape})`, 'im');
  const found = quoted.exec(text);
  if (found) return found[1]!;
  for (const part of email.parts) {
    if (!part.type.startsWith('text/') && !isReturned(part)) continue;
    const match = quoted.exec(partText(part));
    if (match) return match[1]!;
  }
  return null;
}

function addressesIn(headers: Headers, names: readonly string[]): string[] {
  const values = names.flatMap((name) => headers.get(name) ?? []).slice(0, MOST_LISTS);
  return listedAddresses(values.map(headerText).join(', '));
}
