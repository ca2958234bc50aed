// The calendar file of a booking: attached to the email that arrives, with the time and the words
// of the booking, whatever those are.
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { brandingContext } from '../../src/templates/branding.ts';
import { defaultBranding } from '../../src/templates/branding-fields.ts';
import { carryCalendarFile } from '../../src/templates/calendar-file.ts';
import { makeHere } from '../../src/templates/making.ts';
import { catalog } from '../support/catalog.ts';

const asked = (entry: Record<string, string>): string =>
  `<p>a</p><!--calendar:${new URLSearchParams(entry)}--><p>b</p>`;

const fileOf = (entry: Record<string, string>): string => {
  const { files } = carryCalendarFile(asked(entry), Date.parse('2026-05-01T10:00:00Z'));
  return Buffer.from(files[0]!.content).toString();
};

/** Lines as a calendar reads them: unfolded. */
const linesOf = (entry: Record<string, string>): string[] =>
  fileOf(entry).replaceAll('\r\n ', '').split('\r\n');

describe('a calendar file', () => {
  it('says when, what and where, and leaves no mark in the email', () => {
    const entry = {
      title: 'Window table',
      start: '2026-06-20T19:30:00+01:00',
      end: '2026-06-20T21:30:00+01:00',
      location: 'Restaurante Maré, Lisboa',
      url: 'https://alderfinch.example/b/KQ7',
      uid: 'KQ7',
    };
    expect(carryCalendarFile(asked(entry)).html).toBe('<p>a</p><p>b</p>');
    expect(linesOf(entry)).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Sandmartin//Transactional email//EN',
      'METHOD:PUBLISH',
      'BEGIN:VEVENT',
      expect.stringMatching(/^UID:[0-9a-f]{32}@sandmartin$/),
      'DTSTAMP:20260501T100000Z',
      'DTSTART:20260620T183000Z',
      'DTEND:20260620T203000Z',
      'SUMMARY:Window table',
      'LOCATION:Restaurante Maré\\, Lisboa',
      'URL:https://alderfinch.example/b/KQ7',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
  });

  it('knows a whole day, and a time of day wherever the reader is', () => {
    expect(linesOf({ title: 'a', start: '2026-06-20' })).toContain('DTSTART;VALUE=DATE:20260620');
    expect(linesOf({ title: 'a', start: '2026-06-20T19:30' })).toContain('DTSTART:20260620T193000');
  });

  it('cannot be made to say more than it should', () => {
    const hostile =
      'x\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nATTENDEE:mailto:a@b.example; , \\ --> ü'.repeat(5);
    const lines = linesOf({ title: hostile, start: '2026-06-20', url: hostile, uid: hostile });
    expect(lines.filter((line) => /^(?:BEGIN|END):VEVENT$|^ATTENDEE/.test(line))).toHaveLength(2);
    const file = fileOf({ title: hostile, start: '2026-06-20' });
    for (const line of file.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  });

  it.each(['', 'tomorrow', '2026-13-45', '2026-06-20T25:00:00Z', '20 June'])(
    'refuses %j as its start, with an example',
    (start) => {
      expect(() => fileOf({ title: 'a', start })).toThrow(Problem);
      expect(() => fileOf({ title: 'a', start })).toThrow('2026-06-20T19:30:00+01:00');
    },
  );

  it('is one of an email', () => {
    const twice = asked({ title: 'a', start: '2026-06-20' }).repeat(2);
    expect(() => carryCalendarFile(twice)).toThrow('one calendar file');
    expect(carryCalendarFile('<p><!--calendar:').files).toEqual([]);
  });
});

describe('the emails that carry something', () => {
  const make = async (slug: string, variables: Record<string, unknown>) =>
    await makeHere(catalog).make(
      {
        ...{ slug, template: null, variables },
        branding: { key: null, value: brandingContext(defaultBranding) },
      },
      { share: 'test', ratePerSecond: 100 },
    );
  const sample = (slug: string) => structuredClone(catalog.templates.get(slug)!.sample);

  it('a booking has its calendar file, and none where no time is given', async () => {
    const { files, html } = await make('booking-confirmation', sample('booking-confirmation'));
    expect(files.map(({ filename, contentId }) => [filename, contentId])).toEqual([
      ['calendar.ics', undefined],
    ]);
    expect(Buffer.from(files[0]!.content).toString()).toContain('DTSTART:20260620T183000Z');
    expect(Buffer.from(html).toString()).not.toContain('calendar:');
    const { start: _, end: __, ...rest } = sample('booking-confirmation');
    expect((await make('booking-confirmation', rest)).files).toEqual([]);
  });

  it('a sample carries its pictures, and the picture of a sender stays where it is', async () => {
    const order = sample('order-confirmation');
    const { files, html } = await make('order-confirmation', order);
    expect(files.map(({ filename }) => filename)).toEqual(['lamp.png', 'throw.png', 'candle.png']);
    expect(Buffer.from(html).toString()).toContain('src="cid:sample-lamp.png"');
    const own = 'https://shop.example/pictures/lamp.png';
    const [first, ...others] = order.items as Record<string, unknown>[];
    const items = [{ ...first, image_url: own }, ...others.map(({ image_url: _, ...it }) => it)];
    const theirs = await make('order-confirmation', { ...order, items });
    expect(theirs.files).toEqual([]);
    expect(Buffer.from(theirs.html).toString()).toContain(`src="${own}"`);
  });

  it('only pictures that are there, whatever the address says', async () => {
    const order = sample('order-confirmation');
    const items = ['../layout.html', 'none.png', '..%2fx.png'].map((name) => ({
      name,
      image_url: `https://alderfinch.example/pictures/${name}`,
    }));
    expect((await make('order-confirmation', { ...order, items })).files).toEqual([]);
  });
});
