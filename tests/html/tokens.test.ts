// The HTML reader compared with a browser's: parse5's tokenizer reads the same tokens at the same
// places in any text; then single cases, with their expected results.
import fc from 'fast-check';
import { type Token, Tokenizer, TokenizerMode } from 'parse5';
import { describe, expect, it } from 'vitest';
import { Tokens } from '../../src/html/tokens.ts';
import { LONGER } from '../support/longer.ts';

const ATTRIBUTES = ['href', 'alt', 'style', 'data-text'];

/** `<name href=value>@place`, `</name>@place`, and the text between. */
function ours(html: string): string[] {
  const tokens = new Tokens(html, ATTRIBUTES);
  const seen: string[] = [];
  while (tokens.next()) {
    const { kind, element, start, end, selfClosing } = tokens;
    if (kind === 'text') addText(seen, tokens.words());
    else if (kind === 'close') seen.push(`</${element.name}>@${start}-${end}`);
    else {
      const attributes = ATTRIBUTES.map((name) => [name, tokens.attribute(name)] as const);
      seen.push(tagOf(element.name, attributes, selfClosing, start, end));
    }
  }
  return seen;
}

function browsers(html: string): string[] {
  const seen: string[] = [];
  const text = ({ chars }: Token.CharacterToken) => addText(seen, chars);
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: true },
    {
      onCharacter: text,
      onWhitespaceCharacter: text,
      onNullCharacter: () => {},
      onComment: () => {},
      onDoctype: () => {},
      onEof: () => {},
      onEndTag: ({ tagName, location }) => {
        seen.push(`</${nameOf(tagName)}>@${location!.startOffset}-${location!.endOffset}`);
      },
      onStartTag: ({ tagName, attrs, selfClosing, location }) => {
        const attributes = ATTRIBUTES.map(
          (name) => [name, attrs.find((attribute) => attribute.name === name)?.value] as const,
        );
        const { startOffset, endOffset } = location!;
        seen.push(tagOf(nameOf(tagName), attributes, selfClosing, startOffset, endOffset));
        tokenizer.state = modes[tagName] ?? TokenizerMode.DATA;
      },
    },
  );
  tokenizer.write(html, true);
  return seen;
}

/** What a tree builder sets after a start tag, where scripts do not run. */
const modes: Record<string, Tokenizer['state']> = Object.assign(Object.create(null), {
  title: TokenizerMode.RCDATA,
  textarea: TokenizerMode.RCDATA,
  style: TokenizerMode.RAWTEXT,
  xmp: TokenizerMode.RAWTEXT,
  iframe: TokenizerMode.RAWTEXT,
  noembed: TokenizerMode.RAWTEXT,
  noframes: TokenizerMode.RAWTEXT,
  script: TokenizerMode.SCRIPT_DATA,
  plaintext: TokenizerMode.PLAINTEXT,
});

function tagOf(
  name: string,
  attributes: (readonly [string, string | undefined])[],
  selfClosing: boolean,
  start: number,
  end: number,
): string {
  const written = attributes
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${JSON.stringify(oneBreak(value!))}`);
  return `<${name}${written.join('')}${selfClosing ? '/' : ''}>@${start}-${end}`;
}

/** Text for people: what nobody sees is not there. */
function addText(seen: string[], text: string): void {
  const shown = oneBreak(text.replace(/[\0-\x08\v\x0e-\x1f\x7f\ufffd]/g, ''));
  const last = seen.at(-1);
  if (last?.startsWith('“')) seen[seen.length - 1] = oneBreak(last + shown);
  else if (shown !== '') seen.push(`“${shown}`);
}

/**
 * A browser takes `\r\n` and `\r` for a line feed before it reads; we leave them, for they are
 * white space anyway.
 */
const oneBreak = (text: string) => text.replace(/[\r\n]+/g, '\n');

/**
 * A NUL in a name is another character for a browser; for us it only makes the name an unknown one.
 */
const nameOf = (name: string) => name.replaceAll('\ufffd', '\0');

const scraps = [
  ...'< > " \' = / ! ? - -- & ; # x a A p 1 <a </a <a> </a> <p> <b <B> <area <br/> <!-- --> --!> <!--> <!---> <!- <!doctype <![CDATA[ ]]> <? </ </> <!'.split(
    ' ',
  ),
  ...'<script> </script </script> <SCRIPT <style> </style> </style/ <title> </title> <textarea> </TEXTAREA> <xmp> </xmp> <iframe> </iframe> <plaintext>'.split(
    ' ',
  ),
  ...'href HREF= href=" href=\' alt= style=" data-text= =" &amp; &amp &copy &copy= &copy; &copyx &notit; &notin; &not &lt &#65; &#x41 &#0; &#128; &#x110000; &#xD800; &#11; &#x &# &AMP &Aacute &bogus; &ngE;'.split(
    ' ',
  ),
  ' ',
  '\n',
  '\t',
  '\f',
  '\r\n',
  '\r',
  '\v',
  '\0',
  '\ufeff',
  'é',
  '語',
  '\u212a',
  'https://x.example/?a=1&b=2',
];

describe('any text', () => {
  it('is read as a browser reads it, with every token where it stands', () => {
    const scrap = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...scraps) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme-ascii', maxLength: 4 }) },
    );
    fc.assert(
      fc.property(fc.array(scrap, { maxLength: 25 }), (pieces) => {
        const html = pieces.join('');
        expect(ours(html)).toEqual(browsers(html));
      }),
      { numRuns: 30_000 * LONGER, interruptAfterTimeLimit: 3_000 * LONGER },
    );
  });
});

describe('where a page ends', () => {
  it.each([
    ['<p>a</p>', ''],
    ['a <a href="x', '<a href="x'],
    ['a <a href=x', '<a href=x'],
    ['a <!-- b > c', '<!-- b > c'],
    ['a <!b', '<!b'],
    ['a <style>b', '<style>b'],
    ['a <style>b</style', '<style>b</style'],
    ['a <style>b</style ', '<style>b</style '],
    ['a <style>', '<style>'],
    ['<style>a</style> b', ''],
    ['<style>a</style>', ''],
    ['a <', ''],
  ])('%s: what stays open is %j', (html, open) => {
    const tokens = new Tokens(html);
    while (tokens.next());
    expect(html.slice(tokens.end)).toBe(open);
  });
});

it('reads no more than it was asked for, however many attributes there are', () => {
  const html = `<a ${'b=c '.repeat(100_000)}href=first href=second>`;
  const tokens = new Tokens(html, ['href']);
  expect(tokens.next()).toBe(true);
  expect(tokens.attribute('href')).toBe('first');
  expect(tokens.valuePlace('href')).toMatchObject({ quoted: false });
});
