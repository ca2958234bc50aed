// Reading JSON the way Python does: 1 is an int and 1.0 a float, integers of any size, keys in
// their order.
import { tooDeep, valueError } from './errors.ts';
import { Dict } from './values/dict.ts';
import { int } from './values/numbers.ts';
import { float, type Value } from './values/types.ts';

const MOST_NESTING = 500;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const LITERALS: [string, Value][] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
];

/** json.loads(text): lists as arrays, objects as Dict. Throws a ValueError if it is not JSON. */
export function parseJson(text: string): Value {
  const reader = new Reader(text);
  const value = reader.value(0);
  reader.end();
  return value;
}

class Reader {
  private readonly text: string;
  private at = 0;
  constructor(text: string) {
    this.text = text;
  }

  private skip(): void {
    while (/^[ \t\n\r]$/.test(this.text[this.at] ?? '')) this.at++;
  }

  private fail(what: string): never {
    throw valueError(`${what}: char ${this.at}`);
  }

  end(): void {
    this.skip();
    if (this.at < this.text.length) this.fail('Extra data');
  }

  value(depth: number): Value {
    if (depth > MOST_NESTING) throw tooDeep('while decoding JSON');
    this.skip();
    const char = this.text[this.at];
    if (char === '"') return this.string();
    if (char === '{') return this.object(depth);
    if (char === '[') return this.array(depth);
    for (const [word, value] of LITERALS)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    return this.number();
  }

  private number(): Value {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (match === null) return this.fail('Expecting value');
    this.at += match[0].length;
    if (match[1] !== undefined || match[2] !== undefined) return float(Number(match[0]));
    const quick = Number(match[0]);
    // -0 is the int 0; a float would have a point.
    return Number.isSafeInteger(quick) ? quick + 0 : int(BigInt(match[0]));
  }

  private string(): string {
    let end = this.at + 1;
    for (; ; end++) {
      end = this.text.indexOf('"', end);
      if (end === -1) return this.fail('Unterminated string');
      let slashes = 0;
      while (this.text[end - 1 - slashes] === '\\') slashes++;
      if (slashes % 2 === 0) break;
    }
    const raw = this.text.slice(this.at, end + 1);
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch {
      return this.fail('Invalid string');
    }
    this.at = end + 1;
    return value as string;
  }

  private object(depth: number): Dict {
    const dict = new Dict();
    this.at++;
    this.skip();
    if (this.text[this.at] === '}') {
      this.at++;
      return dict;
    }
    for (;;) {
      this.skip();
      if (this.text[this.at] !== '"')
        this.fail('Expecting property name enclosed in double quotes');
      const key = this.string();
      this.skip();
      if (this.text[this.at] !== ':') this.fail("Expecting ':' delimiter");
      this.at++;
      dict.set(key, this.value(depth + 1));
      if (this.closes('}')) return dict;
    }
  }

  private array(depth: number): Value[] {
    const items: Value[] = [];
    this.at++;
    this.skip();
    if (this.text[this.at] === ']') {
      this.at++;
      return items;
    }
    for (;;) {
      items.push(this.value(depth + 1));
      if (this.closes(']')) return items;
    }
  }

  /** After an element: true at the closing bracket, false at a comma. */
  private closes(bracket: string): boolean {
    this.skip();
    const char = this.text[this.at];
    if (char !== bracket && char !== ',') this.fail("Expecting ',' delimiter");
    this.at++;
    return char === bracket;
  }
}
