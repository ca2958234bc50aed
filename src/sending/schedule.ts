// When an email goes out: RFC 3339 with its offset, at most 30 days after it was accepted. Before:
// request.ts and PATCH /v1/messages/{sm_mail_id} take the text. After: the due row waits until
// then.
import { Problem } from '../errors.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
export const MOST_DAYS_AHEAD = 30;
/** How much clocks may differ and how long a call may take. */
const LEEWAY_MS = MINUTE_MS;
const LONGEST_QUOTE = 64;

// RFC 3339 5.6, in which T and Z may be lower-case.
const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:([Zz])|([+-])(\d\d):(\d\d))?$/;

/** The instant in milliseconds; throws a Problem if it is not a time. */
export function readInstant(path: string, text: string): number {
  const parts = INSTANT.exec(text);
  if (parts === null) throw unreadable(path, text);
  const [, year, month, day, hour, minute, second, fraction = ''] = parts;
  const [zulu, sign, offsetHour, offsetMinute] = parts.slice(8);
  if (zulu === undefined && sign === undefined) throw withoutOffset(path, text);
  const ofDay = { hour: Number(hour), minute: Number(minute), second: Number(second) };
  const offset = { hour: Number(offsetHour ?? 0), minute: Number(offsetMinute ?? 0) };
  if (ofDay.hour > 23 || ofDay.minute > 59 || offset.hour > 23 || offset.minute > 59) {
    throw unreadable(path, text);
  }
  const dayMs = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  // Date.parse reads 30 February as 2 March.
  if (new Date(dayMs).getUTCDate() !== Number(day)) throw unreadable(path, text);
  const offsetMs = (offset.hour * 60 + offset.minute) * MINUTE_MS * (sign === '-' ? -1 : 1);
  const minuteMs = dayMs + (ofDay.hour * 60 + ofDay.minute) * MINUTE_MS - offsetMs;
  if (ofDay.second > 59 && !isLeapSecond(ofDay.second, minuteMs)) throw unreadable(path, text);
  return minuteMs + ofDay.second * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/**
 * RFC 3339 5.7: only at the end of a UTC day. No clock of ours has it, so it is the next second.
 */
const isLeapSecond = (second: number, minuteMs: number): boolean =>
  second === 60 && (minuteMs + MINUTE_MS) % DAY_MS === 0;

/** Not in the past, and no later than the email is kept. */
export function requireAhead(
  path: string,
  scheduledAtMs: number,
  { nowMs, acceptedAtMs = nowMs }: { nowMs: number; acceptedAtMs?: number },
): void {
  if (scheduledAtMs < nowMs - LEEWAY_MS) {
    throw fault(
      path,
      `${show(scheduledAtMs)} is in the past: it is ${show(nowMs)}. Give a time in the future`,
    );
  }
  const latestMs = acceptedAtMs + MOST_DAYS_AHEAD * DAY_MS;
  if (scheduledAtMs > latestMs + LEEWAY_MS) {
    throw fault(
      path,
      `${show(scheduledAtMs)} is too far ahead. An email can wait ${MOST_DAYS_AHEAD} days after it was accepted: until ${show(latestMs)}`,
    );
  }
}

const show = (timeMs: number): string => new Date(timeMs).toISOString();

const unreadable = (path: string, text: string): Problem =>
  fault(
    path,
    `"${text.slice(0, LONGEST_QUOTE)}" is not a time. Write date, time and offset from UTC as in RFC 3339, such as 2026-11-20T09:00:00+01:00`,
  );

const withoutOffset = (path: string, text: string): Problem =>
  fault(
    path,
    `"${text.slice(0, LONGEST_QUOTE)}" does not say its offset from UTC. Add Z or one such as +01:00`,
  );

const fault = (path: string, message: string): Problem =>
  new Problem('invalid', `${path}: ${message}.`, { at: path });
