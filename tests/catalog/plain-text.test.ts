// Plain text from HTML: what people would have written, from our own templates and from whatever
// accounts bring.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { htmlToPlainText } from '../../src/html/plain-text.ts';

const text = (html: string) => htmlToPlainText(html).trimEnd();

describe('htmlToPlainText', () => {
  it('underlines headings and separates paragraphs', () => {
    expect(
      text('<h1>Hi &amp; welcome</h1><p>One\n  two</p><p>three<br>four</p><h2>日本</h2>'),
    ).toBe('Hi & welcome\n============\n\nOne two\n\nthree\nfour\n\n日本\n----');
  });

  it('writes addresses behind their links, once', () => {
    expect(text('<p>See <a href="https://x.example/a?b=1&amp;c=2">the page</a>.</p>')).toBe(
      'See the page (https://x.example/a?b=1&c=2).',
    );
    expect(text('<a href="https://x.example/">x.example</a>')).toBe('x.example');
    expect(text('<a href="mailto:a@x.example">a@x.example</a>')).toBe('a@x.example');
    expect(text('<a href="mailto:a@x.example">Write to us</a>')).toBe('Write to us (a@x.example)');
    expect(text('<a href="#top">Up</a> <a>no</a>')).toBe('Up no');
    expect(text('<p>Go <a href="https://x.example"><img src="i.png" alt="home"></a></p>')).toBe(
      'Go home (https://x.example)',
    );
    expect(text('<a data-text="button" href="https://x.example">Go</a>')).toBe(
      'Go: https://x.example',
    );
  });

  it('loses no address in a table or a heading', () => {
    const go = '<a href="https://x.example/go">Go</a>';
    expect(text(`<table><tr><td>${go}</td></tr></table>`)).toBe('Go (https://x.example/go)');
    expect(text(`<table><tr><td>Lost it? <b>${go}</b> now.</td><td>b</td></tr></table>`)).toBe(
      'Lost it? Go (https://x.example/go) now. | b',
    );
    expect(text(`<table data-text="pairs"><tr><td>Page</td><td>${go}</td></tr></table>`)).toBe(
      'Page: Go (https://x.example/go)',
    );
    expect(text(`<h2>${go}</h2>`)).toBe('Go (https://x.example/go)\n-------------------------');
    expect(text('<td><a href="https://x.example"><img alt=""></a></td>')).toBe('https://x.example');
  });

  it('reads tables as rows', () => {
    const table =
      '<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>£3</td></tr><tr><td>Cake<td>£4</table>';
    expect(text(table)).toBe('Item | Price\nTea | £3\nCake | £4');
    expect(text('<table><tr><td><p>One</p></td><td><p>Two</p></td></tr></table>')).toBe(
      'One\n\nTwo',
    );
  });

  it('writes lists with marks and hanging lines', () => {
    const long = 'word '.repeat(20).trim();
    expect(text(`<ul><li>${long}</li><li>b<ol><li>c<li>d</ol></li></ul>`)).toBe(
      `- ${'word '.repeat(15).trim()}\n  ${'word '.repeat(5).trim()}\n- b\n\n  1. c\n  2. d`,
    );
  });

  it('gives every block a line of its own, as browsers do', () => {
    expect(text('<h5>Five</h5><h6>Six</h6>a')).toBe('Five\n\nSix\n\na');
    expect(text('a<section>b<article>c</article></section>d<address>e</address>f')).toBe(
      'a\nb\nc\nd\ne\nf',
    );
    expect(text('<header>a</header><main>b</main><footer>c</footer>')).toBe('a\nb\nc');
    expect(text('a<figure><img alt="b"><figcaption>c</figcaption></figure>d')).toBe(
      'a\n\nb\nc\n\nd',
    );
    expect(text('<dl><dt>a<dd>b<dt>c<dd>d</dl>e')).toBe('a\n  b\nc\n  d\n\ne');
    expect(text('<menu><li>a<li>b</menu>')).toBe('- a\n- b');
    expect(text('<table><caption>a</caption><tr><td>b<td>c</table>')).toBe('a\nb | c');
    expect(text('<tr><td><section>a</section></td><td>b</td></tr>')).toBe('a\nb');
  });

  it('marks quotations on every line', () => {
    expect(text('<p>He said:</p><blockquote>One<br><br>Two</blockquote><p>So.</p>')).toBe(
      'He said:\n\n> One\n>\n> Two\n\nSo.',
    );
  });

  it('drops what people do not see', () => {
    expect(
      text(
        '<head><title>T</title><style>a>b{}</style></head><body><!-- <p>no</p> --><script>if (a<b) {}</script>' +
          '<div style="max-height:0; DISPLAY : none">hidden</div><p data-text="skip">skip</p>' +
          '<!--[if mso]><p>word</p><![endif]-->\u200b\u00adseen</body>',
      ),
    ).toBe('seen');
  });

  it('wraps at 76 columns and never inside an address', () => {
    const address = `https://x.example/${'a'.repeat(90)}`;
    const lines = text(`<p>${'abc '.repeat(40)}<a href="${address}">link</a></p>`).split('\n');
    expect(lines.filter((line) => line.length > 76)).toEqual([`(${address})`]);
    expect(
      Math.max(
        ...text(`<p>${'日本語 '.repeat(40)}</p>`)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(44);
  });

  it('wraps Japanese between its characters, and where its rules allow a line to end', () => {
    const sentence = 'お問い合わせ、ありがとうございます。「春のカタログ」は 15 分で届きます。';
    const lines = text(`<p>${sentence.repeat(8)}</p>`).split('\n');
    expect(lines.join('')).toBe(sentence.repeat(8));
    for (const line of lines) {
      expect(line).not.toMatch(/^[、。」]|「$/);
      expect([...line].length).toBeLessThan(48);
    }
    expect(lines.slice(0, -1).every((line) => [...line].length > 34)).toBe(true);
    const address = `https://x.example/${'春'.repeat(50)}`;
    const linked = text(
      `<p>こちらの<a href="${address}">ページ</a>をご覧ください。${sentence}</p>`,
    );
    expect(linked).toContain(`\n(${address})\nを`);
    expect(linked.split('\n').at(-1)!.length).toBeLessThan(48);
  });

  it('has the marks of the language that the page is in', () => {
    const parts =
      '<table data-text="pairs"><tr><td>A</td><td>b</td></tr></table>' +
      '<a data-text="button" href="https://x.example">Go</a>' +
      '<table data-text="stats"><tr><td>3<br>sent<br>5 more</td></tr></table>';
    const written = (lang: string) => text(`<!DOCTYPE html>\n<html ${lang}><body>${parts}`);
    expect(written('dir="ltr" lang="fr-CA"')).toBe(
      'A : b\n\nGo : https://x.example\n\n3 sent, 5 more',
    );
    expect(written('lang=ja')).toBe('A：b\n\nGo：https://x.example\n\nsent 3、5 more');
    expect(written('lang="ar" dir="rtl"')).toContain('3 sent، 5 more');
    for (const other of ['', 'lang=""', 'lang="constructor"', 'lang="sv"'])
      expect(written(other)).toBe('A: b\n\nGo: https://x.example\n\n3 sent, 5 more');
  });

  it('resolves every way to write a character', () => {
    expect(text('&lt;b&gt; &#233;&#xE9;&eacute; &hellip; a&nbsp;b &copy 2026 &unknown; AT&T')).toBe(
      '<b> ééé … a b © 2026 &unknown; AT&T',
    );
  });

  it('aligns what stands between marks of direction', () => {
    const row = (name: string, amount: string) => `<tr><td>${name}</td><td>${amount}</td></tr>`;
    const sums = row('Tea', '£3') + row('الشحن', '\u2068−£1\u2069');
    expect(text(`<table data-text="items">${sums}</table>`)).toBe(
      'Tea       £3\nالشحن    \u2068−£1\u2069',
    );
    expect(text('<h1>\u2068Tea\u2069</h1>')).toBe('\u2068Tea\u2069\n===');
  });

  it('makes sense of broken HTML', () => {
    expect(text('a < b <p>c<p>d</div></p><b>e')).toBe('a < b\n\nc\n\nd\n\ne');
    expect(text('<a title="a > b" href=\'https://x.example\'>x</a> <p')).toBe(
      'x (https://x.example)',
    );
    expect(text('<P>A</P><BR/>B<Table><TR><TD>C')).toBe('A\n\nB\n\nC');
    expect(text('<A HREF="https://x.example/y">C</A>')).toBe('C (https://x.example/y)');
    expect(text('')).toBe('');
  });

  it('never fails, and never takes long', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '</',
      '<!--',
      '-->',
      '"',
      "'",
      '=',
      '&',
      '&amp',
      ';',
      '/',
      'p',
      '<p>',
      '<table>',
      '<tr>',
      '<td',
      '<li>',
      '<a href="',
      "<div style='display:none'>",
      '</div>',
      'text ',
      '\u00e9',
      '\ud800',
      '<style>',
      '<ul>',
      'data-text="items"',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        expect(typeof htmlToPlainText(pieces.join(''))).toBe('string');
      }),
      { numRuns: 500 },
    );
    for (const unit of [
      '<',
      '<a ',
      '<a "',
      "<a '>",
      '<!--',
      '<div>',
      '<table><tr><td>',
      '<ul><li>',
      '&',
      '</p',
      '<style>',
    ]) {
      const started = process.cpuUsage();
      htmlToPlainText(unit.repeat(200_000 / unit.length));
      const { user } = process.cpuUsage(started);
      expect(user / 1000, unit).toBeLessThan(2000);
    }
  });
});

describe('what strangers write', () => {
  it('reads parameters of an address as a browser does', () => {
    const shown = (href: string) => text(`<a href="${href}">x</a>`);
    expect(shown('https://a.example/?a=1&copy=2')).toBe('x (https://a.example/?a=1&copy=2)');
    expect(shown('https://a.example/?a=1&copy2=2')).toBe('x (https://a.example/?a=1&copy2=2)');
    expect(shown('https://a.example/?a=1&copyright;')).toBe(
      'x (https://a.example/?a=1&copyright;)',
    );
    expect(shown('https://a.example/?a=1&amp;copy=2')).toBe('x (https://a.example/?a=1&copy=2)');
    expect(shown('https://a.example/?a=1&copy;=2')).toBe('x (https://a.example/?a=1©=2)');
    expect(shown('https://a.example/?a=1&copy')).toBe('x (https://a.example/?a=1©)');
    expect(shown('https://a.example/&#65;&#x42;')).toBe('x (https://a.example/AB)');
    expect(text('<p>1 &copy=2</p>')).toBe('1 ©=2');
  });

  it('knows no meanings and elements but its own', () => {
    for (const word of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expect(text(`<p data-text="${word}">a</p><${word}>b</${word}>`)).toContain('a');
    expect(text('<constructor>a</constructor>')).toBe('a');
  });

  it('takes a vertical tab for white space', () => {
    expect(text('<p>a\vb</p>')).toBe('a b');
    expect(text(`<p>${'\v'.repeat(90_000)}x</p>`)).toBe('x');
  });

  it('keeps the text of deep quotes in proportion', () => {
    const quoted = `${'<blockquote>'.repeat(150)}${'<p>word</p>'.repeat(3_500)}`;
    const found = text(quoted);
    expect(found).toContain('> > > > word');
    expect(found.length).toBeLessThan(2 * quoted.length + 8_192);
  });

  it('gives a name longer than a line no column of its own', () => {
    const row = (name: string) => `<tr><td>${name}</td><td>1</td></tr>`;
    const table = `<table data-text="items">${row('x'.repeat(300))}${row('a')}</table>`;
    expect(
      Math.max(
        ...text(table)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBe(305);
    expect(text(table).split('\n')[1]!.length).toBeLessThan(90);
  });
});
