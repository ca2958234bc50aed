// The calendar file of an email (RFC 5545), which ui.calendar_file requests: one tap puts the
// booking into the reader's calendar. Before: carried-file.ts. After: an attachment, and the mark
// is removed.
import { createHash } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { CarriedFile } from './carried-file.ts';

const MARK = '<!--calendar:';
const END = '-->';
const LONGEST_LINE_BYTES = 75;
const LONGEST_TEXT = 1000;

export function carryCalendarFile(
  html: string,
  nowMs = Date.now(),
): { html: string; files: CarriedFile[] } {
  const from = html.indexOf(MARK);
  if (from === -1) return { html, files: [] };
  const to = html.indexOf(END, from);
  if (to === -1) return { html, files: [] };
  const entry = new URLSearchParams(html.slice(from + MARK.length, to));
  // An email is about one appointment; a second mark would be a mistake in the template.
  const rest = html.slice(to + END.length);
  if (rest.includes(MARK)) throw fault('An email can carry one calendar file. Remove the others.');
  return {
    html: html.slice(0, from) + rest,
    files: [
      {
        filename: 'calendar.ics',
        contentType: 'text/calendar; charset=utf-8',
        content: Buffer.from(calendarOf(entry, nowMs)),
      },
    ],
  };
}

function calendarOf(entry: URLSearchParams, nowMs: number): string {
  const text = (name: string): string => (entry.get(name) ?? '').slice(0, LONGEST_TEXT);
  const uid = createHash('sha256')
    .update(`${text('uid')} ${text('url')}`)
    .digest('hex');
  const end = text('end');
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Sandmartin//Transactional email//EN',
    'METHOD:PUBLISH',
    'BEGIN:VEVENT',
    // If the same booking is sent again, it replaces the entry.
    `UID:${uid.slice(0, 32)}@sandmartin`,
    `DTSTAMP:${utc(new Date(nowMs))}`,
    `DTSTART${time(text('start'), 'start')}`,
    ...(end === '' ? [] : [`DTEND${time(end, 'end')}`]),
    `SUMMARY:${escaped(text('title'))}`,
    ...['location', 'url'].flatMap((name) =>
      text(name) === ''
        ? []
        : [`${name.toUpperCase()}:${name === 'url' ? plain(text(name)) : escaped(text(name))}`],
    ),
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
    .map(folded)
    .join('\r\n');
}

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** A day; a time of day wherever the reader is; or, with an offset, an instant. */
function time(value: string, name: string): string {
  const [, year, month, day, hour, minute, second = '00', offset] = TIME.exec(value) ?? [];
  if (year === undefined || Number.isNaN(Date.parse(value.replace(' ', 'T')))) {
    throw fault(
      `The ${name} of the calendar file is "${value.slice(0, 40)}", which is not a time. Write it like 2026-06-20T19:30:00+01:00, or 2026-06-20 for a whole day.`,
    );
  }
  if (hour === undefined) return `;VALUE=DATE:${year}${month}${day}`;
  if (offset !== undefined) return `:${utc(new Date(value.replace(' ', 'T')))}`;
  return `:${year}${month}${day}T${hour}${minute}${second}`;
}

const utc = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '');

/** RFC 5545 3.3.11. */
const escaped = (text: string): string =>
  plain(text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n'));

const plain = (text: string): string => text.replace(/[\u0000-\u001f\u007f]/g, '');

/** RFC 5545 3.1: lines of at most 75 bytes, cut between characters. */
function folded(line: string): string {
  let [out, bytes] = ['', 0];
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (bytes + size > LONGEST_LINE_BYTES) {
      out += '\r\n ';
      bytes = 1;
    }
    out += character;
    bytes += size;
  }
  return out;
}

const fault = (message: string): Problem => new Problem('invalid', message, { at: 'template' });
