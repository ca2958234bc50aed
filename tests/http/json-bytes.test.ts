// JSON from strangers: the same as JSON.parse if that is harmless, refused if it is not, and never
// without turns for others for long.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../src/http/json-bytes.ts';
import { longestBlockedMs, slowness } from '../support/blocked.ts';
import { expectLinearFor } from '../support/growth.ts';
import { LONGER } from '../support/longer.ts';

const read = async (text: string | Buffer): Promise<unknown> =>
  await readJson(typeof text === 'string' ? Buffer.from(text) : text);
const blanks = ' '.repeat(70_000);
const MB = 1024 * 1024;

it('gives what JSON.parse gives, small and large, with long texts anywhere', async () => {
  const piece = fc.constantFrom(
    'a',
    '日本',
    '😀',
    '\\',
    '"',
    '\n',
    '\\u00e4',
    '\u{1f600}',
    '/',
    '',
  );
  const text = fc
    .tuple(fc.array(piece, { maxLength: 8 }), fc.constantFrom(1, 1, 300, 20_000))
    .map(([pieces, times]) => pieces.join('').repeat(times));
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), tie('value'), { maxKeys: 4 }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(value, fc.boolean(), fc.boolean(), async (value, large, ascii) => {
      let json = JSON.stringify(value);
      if (ascii) {
        json = json.replace(
          /[^\0-\x7f]/g,
          (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`,
        );
      }
      expect(await read(large ? blanks + json : json)).toEqual(JSON.parse(json));
    }),
    { numRuns: 50 * LONGER },
  );
});

describe.each([
  ['small', ''],
  ['large', blanks],
])('refused, %s', (_, before) => {
  it.each([
    ['brackets', '['.repeat(5000) + ']'.repeat(5000), 'levels deep'],
    ['objects', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'levels deep'],
    ['a NUL', '{"a":"\\u0000"}', 'NUL'],
    ['a NUL in a name', '{"a\\u0000":1}', 'NUL'],
    ['half a character', '{"a":"\\ud83d"}', 'surrogate'],
    ['half a character in a name', '{"\\uDE00":{}}', 'surrogate'],
    ['a control character', '{"a":"\n"}', 'not valid JSON'],
    ['a long text with one', `{"a":"${'x'.repeat(3000)}\n"}`, 'not valid JSON'],
    ['a text without end', `{"a":"${'x'.repeat(3000)}`, 'not valid JSON'],
    ['no JSON', '{"a":1,}', 'not valid JSON'],
  ])('%s', (_, json, why) => expect(read(before + json)).rejects.toThrow(why));

  it('what is not UTF-8', () =>
    expect(
      read(Buffer.concat([Buffer.from(before), Buffer.from('{"a":"\xff"}', 'latin1')])),
    ).rejects.toThrow('not UTF-8'));

  it('but not what only looks like it', async () => {
    for (const text of ['\\u0000', '\\\\u0000', '😀', '[[[{{{']) {
      expect(await read(before + JSON.stringify([text]))).toEqual([text]);
    }
    expect(await read(`${before}["\\ud83d\\ude00"]`)).toEqual(['😀']);
    expect(await read(before + '['.repeat(100) + ']'.repeat(100))).toBeDefined();
  });
});

it.each([
  ['brackets', () => Buffer.alloc(26_000_000, '[')],
  ['commas', () => Buffer.alloc(26_000_000, ',')],
  ['fields', () => Buffer.from(`{${Array.from({ length: 1_500_000 }, (_, n) => `"f${n}":1`)}}`)],
  ['short texts', () => Buffer.from(`[${Array(60_000).fill(`"${'日本'.repeat(60)}"`)}]`)],
])('26 MB of %s are refused at once', async (_, make) => {
  const bytes = make();
  const [before, cpu] = [process.memoryUsage().rss, process.cpuUsage()];
  await expect(read(bytes)).rejects.toThrow('The body');
  const { user } = process.cpuUsage(cpu);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * MB);
  expect(user / slowness()).toBeLessThan(1_000_000);
});

const inOneText = (piece: string, bytes = 25 * MB): string =>
  `{"html":"${piece.repeat(bytes / Buffer.byteLength(piece))}"}`;
const inList = (count: number, item: (n: number) => string): string =>
  `{"variables":{"list":[${Array.from({ length: count }, (_, n) => item(n)).join(',')}]}}`;

it.each([
  ['base64', () => inOneText('AAAA')],
  ['Japanese', () => inOneText('日本語')],
  ['escapes', () => inOneText('\\u0041')],
  ['quotes', () => inOneText('\\"')],
  ['backslashes', () => inOneText('\\\\')],
  ['pairs', () => inOneText('\\ud83d\\ude00')],
  // 19 seconds for 16 MB: every escape looked for the end of the text again.
  ['lines', () => inOneText(`${'x'.repeat(298)}\\n`)],
  ['long lines', () => inOneText(`${'x'.repeat(4998)}\\n`)],
  ['one pair', () => `{"html":"${'x'.repeat(25 * MB)}\\ud83d\\ude00"}`],
  // 5 seconds for 16 MB: every text looked for a backslash before it, as far as the beginning.
  ['long texts', () => inList(23_000, () => `"${'x'.repeat(1100)}"`)],
  ['short texts', () => inList(99_000, () => `"${'日'.repeat(25)}"`)],
  ['names', () => `{${Array.from({ length: 45_000 }, (_, n) => `"${'x'.repeat(150)}${n}":1`)}}`],
  ['whole floats', () => inList(99_000, (n) => `${n}.0`)],
  ['large integers', () => inList(99_000, () => '7'.repeat(70))],
])('up to 25 MB of %s: everybody else has turns', async (_, make) => {
  const bytes = Buffer.from(make());
  const [before, cpu] = [process.memoryUsage().rss, process.cpuUsage()];
  let longest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3 && longest > 100; run++) {
    longest = Math.min(longest, await longestBlockedMs(() => read(Buffer.from(bytes))));
  }
  expect(longest).toBeLessThan(100);
  expect(process.cpuUsage(cpu).user).toBeLessThan(6_000_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(6 * 25 * MB);
});

it.each(['\\', '\\u', '\\u1', '\\u12', '\\u123', '\\ud83d', '\\x', '\\ud83d\\u'])(
  'ends where a long text ends in %j: it went on for ever',
  async (broken) => {
    for (let more = 0; more < 8; more++) {
      const long = 'x'.repeat(MB + more);
      await expect(read(`{"html":"${long}${broken}"}`)).rejects.toThrow(/not valid JSON|surrogate/);
    }
  },
);

it('takes time that grows with the bytes', () =>
  expectLinearFor(
    ['"', '\\', '\\"', '\\u0041', '[', ']', '{', '}', ',', ':', ' ', '1', 'a', '日'],
    (text) => {
      try {
        void Promise.resolve(readJson(Buffer.from(text))).catch(() => undefined);
      } catch {
        // Refused: that too must be quick.
      }
    },
    { searchMs: 1500 },
  ));
