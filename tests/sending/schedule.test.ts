// When an email goes out: what is read as a time, and which times are accepted.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/errors.ts';
import { readInstant, requireAhead } from '../../src/sending/schedule.ts';

const shown = (text: string): string => new Date(readInstant('scheduled_at', text)).toISOString();

function refusal(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    return error as Problem;
  }
  throw new Error('it was taken');
}

describe('an instant', () => {
  it.each([
    ['2026-11-20T09:00:00Z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00+01:00', '2026-11-20T08:00:00.000Z'],
    ['2026-11-20T09:00:00-03:30', '2026-11-20T12:30:00.000Z'],
    // Where it is already tomorrow, and where it is still yesterday.
    ['2026-11-20T00:30:00+14:00', '2026-11-19T10:30:00.000Z'],
    ['2026-11-20T23:30:00-12:00', '2026-11-21T11:30:00.000Z'],
    // RFC 3339 5.6: applications may write them small.
    ['2026-11-20t09:00:00z', '2026-11-20T09:00:00.000Z'],
    // RFC 3339 4.3: the offset to local time is not known.
    ['2026-11-20T09:00:00-00:00', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00.5Z', '2026-11-20T09:00:00.500Z'],
    ['2026-11-20T09:00:00.123456789012Z', '2026-11-20T09:00:00.123Z'],
    ['2028-02-29T09:00:00Z', '2028-02-29T09:00:00.000Z'],
    // RFC 3339 5.8: leap seconds, in UTC and elsewhere.
    ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
    ['2026-12-31T15:59:60-08:00', '2027-01-01T00:00:00.000Z'],
    // The same hour twice, when summer time ends in Berlin.
    ['2026-10-25T02:30:00+02:00', '2026-10-25T00:30:00.000Z'],
    ['2026-10-25T02:30:00+01:00', '2026-10-25T01:30:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
  ])('%s', (text, utc) => {
    expect(shown(text)).toBe(utc);
  });

  it.each([
    'tomorrow',
    'in 5 minutes',
    '1795000000',
    '2026-11-20',
    '2026-11-20T09:00Z',
    '2026-11-20 09:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T23:60:00Z',
    '2026-11-20T12:00:60Z',
    '2026-11-20T23:59:61Z',
    '2026-12-31T23:59:60+01:00',
    '2026-02-30T09:00:00Z',
    '2027-02-29T09:00:00Z',
    '2026-13-01T09:00:00Z',
    '2026-00-10T09:00:00Z',
    '2026-11-00T09:00:00Z',
    '2026-11-20T09:00:00+24:00',
    '2026-11-20T09:00:00+01:60',
    '2026-11-20T09:00:00+0100',
    '2026-11-20T09:00:00.Z',
    '2026-11-20T09:00:00Z ',
    '+02026-11-20T09:00:00Z',
    '٢٠٢٦-11-20T09:00:00Z',
    `2026-11-20T09:00:00.${'1'.repeat(100_000)}Z`,
  ])('not %s', (text) => {
    const problem = refusal(() => readInstant('scheduled_at', text));
    expect(problem.code).toBe('invalid');
    expect(problem.detail).toContain('is not a time');
    expect(problem.detail.length).toBeLessThan(300);
    expect(problem.faults).toEqual([{ path: 'scheduled_at', message: problem.detail }]);
  });

  it('without its offset is somewhere else for everyone', () => {
    const problem = refusal(() => readInstant('scheduled_at', '2026-11-20T09:00:00'));
    expect(problem.detail).toContain('offset from UTC');
    expect(problem.faults[0]?.path).toBe('scheduled_at');
  });

  it('is what JavaScript reads, in every year and at every offset', () => {
    const instant = fc.record({
      at: fc.date({
        min: new Date('0001-01-02T00:00:00Z'),
        max: new Date('9998-12-30T00:00:00Z'),
        noInvalidDate: true,
      }),
      offsetMinutes: fc.integer({ min: -14 * 60, max: 14 * 60 }),
    });
    fc.assert(
      fc.property(instant, ({ at, offsetMinutes }) => {
        const local = new Date(at.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
        const size = Math.abs(offsetMinutes);
        const two = (number: number) => String(number).padStart(2, '0');
        const offset = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        expect(readInstant('at', local + offset)).toBe(at.getTime());
      }),
    );
  });
});

describe('the times that are taken', () => {
  const nowMs = Date.parse('2026-11-16T12:00:00Z');
  const inMs = (ms: number) => () => requireAhead('scheduled_at', nowMs + ms, { nowMs });
  const MINUTE = 60_000;
  const DAY = 86_400_000;

  it.each([0, 1, -MINUTE, 30 * DAY, 30 * DAY + MINUTE])('%i ms from now', (ms) => {
    expect(inMs(ms)).not.toThrow();
  });

  it('not what is past by more than a minute', () => {
    const problem = refusal(inMs(-MINUTE - 1));
    expect(problem.detail).toContain('is in the past: it is 2026-11-16T12:00:00.000Z');
    expect(problem.faults[0]?.path).toBe('scheduled_at');
  });

  it('not what is more than 30 days after the email was accepted', () => {
    expect(refusal(inMs(30 * DAY + MINUTE + 1)).detail).toContain('2026-12-16T12:00:00.000Z');
    const acceptedAtMs = nowMs - 10 * DAY;
    const moved = (days: number) => () =>
      requireAhead('scheduled_at', nowMs + days * DAY, { nowMs, acceptedAtMs });
    expect(moved(20)).not.toThrow();
    expect(refusal(moved(21)).detail).toContain('2026-12-06T12:00:00.000Z');
  });
});
