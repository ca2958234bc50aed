// Delivery status notifications: RFC 3464 and, for addresses that are not ASCII, RFC 6533. One
// result per recipient block. report.ts calls it; classify.ts judges what failed.

import type { Reason } from '../events/reasons.ts';
import {
  type Consequence,
  classify,
  type Finality,
  type Phase,
  phaseIn,
  replyCode,
  saysWhy,
} from './classify.ts';
import { type Email, type Headers, headerText, type Part, partText, readHeaders } from './mime.ts';
import { parseDate } from './original.ts';
import { decodeXtext, namedIn, typedAddress } from './report-address.ts';

export const ACTIONS = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'] as const;
export type Action = (typeof ACTIONS)[number];

/** What one report says about one recipient; unknown is null. */
export interface RecipientResult {
  address: string | null;
  action: Action | null;
  status: string | null;
  bounce_type: Finality | null;
  reason: Reason | null;
  /** What it means for the address; null unless it failed. */
  consequence: Consequence | null;
  smtp_response: string | null;
  /** Who wrote the report. */
  reporting_mta: string | null;
  /** The server that answered the reporter. */
  remote_mta: string | null;
}

/** What a report says about one recipient if it says less than a delivery status. */
export function recipientResult(
  address: string | null,
  known: Partial<RecipientResult>,
): RecipientResult {
  return {
    address,
    action: null,
    status: null,
    bounce_type: null,
    reason: null,
    consequence: null,
    smtp_response: null,
    reporting_mta: null,
    remote_mta: null,
    ...known,
  };
}

export interface DeliveryStatus {
  recipients: RecipientResult[];
  envelopeId: string | null;
  arrivedAt: Date | null;
}

/**
 * An email goes to at most 50 recipients, each with their own copy; a report that lists more is not
 * about our email.
 */
const MOST_RECIPIENTS = 50;
const STATUS_PART = /^message\/(?:global-)?delivery-status$/;

/** Null if there is no delivery-status part with at least one recipient. */
export function readDsn(email: Email, notice: string): DeliveryStatus | null {
  const declared = email.parts.filter((part) => STATUS_PART.test(part.type));
  const parts = declared.length > 0 ? declared : mislabelled(email);
  return parts.length === 0
    ? null
    : readStatus(parts.map((part) => partText(part)).join('\n\n'), notice);
}

/** Gateways rename unknown types: in a report, a part that begins like a status part is one. */
function mislabelled(email: Email): Part[] {
  if (email.type !== 'multipart/report') return [];
  return email.parts.filter((part) => /^\s*reporting-mta:/i.test(partText(part, 1000)));
}

/** The text of a delivery-status part, wherever it is. */
export function readStatus(text: string, notice: string): DeliveryStatus | null {
  const groups = fieldGroups(text);
  const recipients = groups.filter(isRecipient).slice(0, MOST_RECIPIENTS);
  if (recipients.length === 0) return null;
  const message = groups[0]!;
  const told = tellings(notice, recipients);
  const phases = phasesTold(notice, recipients);
  return {
    recipients: recipients.map((fields) => readRecipient(fields, message, told, phases)),
    envelopeId: field(message, 'original-envelope-id') || null,
    arrivedAt: parseDate(field(message, 'arrival-date')),
  };
}

/**
 * Groups of fields between empty lines, forgiving the usual faults: a group that continues after an
 * empty line, recipients without one between them.
 */
export function fieldGroups(text: string): Headers[] {
  const groups: Map<string, string[]>[] = [];
  let at = 0;
  while (at < text.length && groups.length < 2 * MOST_RECIPIENTS) {
    const { headers, end } = readHeaders(text, at);
    const next = end > at ? end : text.indexOf('\n', at) + 1 || text.length;
    const last = groups.at(-1);
    if (last !== undefined && isTorn(last, headers)) {
      for (const [name, values] of headers) last.set(name, [...values]);
    } else if (headers.size > 0) groups.push(...splitRecipients(headers));
    at = next;
  }
  return groups;
}

/** Fields that belong to the recipient before them: they name none and repeat nothing. */
function isTorn(last: Headers, headers: Headers): boolean {
  if (!isRecipient(last) || headers.has('final-recipient') || headers.has('original-recipient'))
    return false;
  return !(headers.has('action') && last.has('action'));
}

function splitRecipients(headers: Headers): Map<string, string[]>[] {
  const count = headers.get('final-recipient')?.length ?? 1;
  return Array.from({ length: Math.min(count, MOST_RECIPIENTS) }, (_, index) => {
    const group = new Map<string, string[]>();
    for (const [name, values] of headers) {
      const own = count === 1 ? [...values] : values.slice(index, index + 1);
      if (own.length > 0) group.set(name, own);
    }
    return group;
  });
}

function isRecipient(fields: Headers): boolean {
  return fields.has('final-recipient') || fields.has('original-recipient') || fields.has('action');
}

function readRecipient(
  fields: Headers,
  message: Headers,
  told: ReadonlyMap<string, string>,
  phases: ReadonlyMap<string, Phase>,
): RecipientResult {
  const address = recipientAddress(fields);
  const status =
    /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.])/.exec(field(fields, 'status'))?.[0] ?? null;
  const diagnostic = diagnosticText(field(fields, 'diagnostic-code'));
  const action = readAction(field(fields, 'action'), status, diagnostic);
  const said = diagnostic ?? told.get(address?.toLowerCase() ?? '') ?? null;
  const phase = phaseIn(said ?? '') ?? phases.get(address?.toLowerCase() ?? '') ?? null;
  const diagnosis = action === 'failed' ? classify(status, said ?? '', phase) : null;
  return {
    address,
    action,
    status,
    bounce_type: diagnosis?.bounceType ?? null,
    reason: diagnosis?.reason ?? null,
    consequence: diagnosis?.consequence ?? null,
    smtp_response: diagnostic ?? (said !== null && replyCode(said) !== null ? said : null),
    reporting_mta: hostOf(field(message, 'reporting-mta')) ?? hostOf(field(fields, 'remote-mta')),
    remote_mta: hostOf(field(fields, 'remote-mta')),
  };
}

/**
 * The address we sent to: Original-Recipient if the server kept it (RFC 3461 4.2), because
 * forwarding may have changed it; otherwise Final-Recipient.
 */
function recipientAddress(fields: Headers): string | null {
  const original = typedAddress(field(fields, 'original-recipient'));
  const final = typedAddress(field(fields, 'final-recipient'));
  if (original === null || final === null) return original ?? final;
  return decodeXtext(original).toLowerCase() === final.toLowerCase() ? final : original;
}

/**
 * `expired` is not an action of RFC 3464, but some servers write it. Without an action the status
 * decides.
 */
function readAction(
  written: string,
  status: string | null,
  diagnostic: string | null,
): Action | null {
  const word = /[a-z]+/.exec(written.toLowerCase())?.[0] ?? '';
  const action = ACTIONS.find((known) => known === word);
  if (action !== undefined) return action;
  if (word === 'expired' || word === 'fail' || word === 'failure') return 'failed';
  if (status?.startsWith('2')) return 'delivered';
  if (word === 'delay' || word === 'warning') return 'delayed';
  return status !== null || diagnostic !== null ? 'failed' : null;
}

/** `smtp; 550 5.1.1 …` without its type. */
function diagnosticText(value: string): string | null {
  const text = headerText(Buffer.from(value).toString('latin1'));
  return (
    text
      .replace(/^\s*[\w-]{1,40}\s*;\s*/, '')
      .trim()
      .slice(0, 4000) || null
  );
}

/**
 * Without a Diagnostic-Code the human part often quotes the server: by address, the paragraph that
 * names it. All addresses in one pass over the notice, because there may be many and it may be
 * long.
 */
function tellings(notice: string, recipients: readonly Headers[]): Map<string, string> {
  const told = new Map<string, string>();
  const silent = recipients.filter(
    (fields) => diagnosticText(field(fields, 'diagnostic-code')) === null,
  );
  const wanted = new Set(silent.flatMap((fields) => recipientAddress(fields)?.toLowerCase() ?? []));
  if (wanted.size === 0) return told;
  for (const paragraph of notice.split(/\n\s*\n/, MOST_PARAGRAPHS)) {
    const named = namedIn(paragraph, wanted);
    if (named.size === 0) continue;
    const said = paragraph.slice(0, 10_000).replace(/\s+/g, ' ').trim().slice(0, 2000);
    if (replyCode(said) === null && !saysWhy(said)) continue;
    for (const address of named) {
      wanted.delete(address);
      told.set(address, said);
    }
  }
  return told;
}
const MOST_PARAGRAPHS = 1000;

/**
 * At which command each was refused: the status part has no field for it, the human part often says
 * it.
 */
function phasesTold(notice: string, recipients: readonly Headers[]): Map<string, Phase> {
  const phases = new Map<string, Phase>();
  const wanted = new Set(
    recipients.flatMap((fields) => recipientAddress(fields)?.toLowerCase() ?? []),
  );
  for (const paragraph of notice.split(/\n\s*\n/, MOST_PARAGRAPHS)) {
    const phase = phaseIn(paragraph);
    if (phase === null) continue;
    const named = namedIn(paragraph, wanted);
    // A report that names nobody is about the only recipient there is.
    for (const address of named.size === 0 && wanted.size === 1 ? wanted : named) {
      if (!phases.has(address)) phases.set(address, phase);
    }
  }
  return phases;
}

/** `dns; mx.example.com (192.0.2.1)` → `mx.example.com` */
export function hostOf(value: string): string | null {
  const text = value.replace(/^\s*[\w-]{1,40}\s*;/, '').trim();
  return /^[<[]?([\p{L}\p{N}_.:-]{1,255})/u.exec(text)?.[1]?.replace(/[.:]$/, '') || null;
}

function field(fields: Headers, name: string): string {
  return fields.get(name)?.[0] ?? '';
}
