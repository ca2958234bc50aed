// Tokens as the parser reads them: the current one, one ahead, and expectations with Jinja2's
// messages.
import { LimitExceeded, locate, type TemplateError, TemplateSyntaxError } from '../errors.ts';
import { quote } from '../values/repr.ts';
import { describeExpectation, describeToken, type Token } from './lexer.ts';

/**
 * Compiling is not metered like rendering, so its input is limited: this many take about 50 ms and
 * 30 MB.
 */
const MOST_TOKENS = 15_000;

export class TokenStream {
  current: Token = { type: 'initial', value: '', at: 0 };
  readonly source: string;
  readonly name: string | null;
  private readonly tokens: Generator<Token>;
  private ahead: Token | null = null;
  private pulled = 0;

  constructor(tokens: Generator<Token>, source: string, name: string | null) {
    this.tokens = tokens;
    this.source = source;
    this.name = name;
    this.next();
  }

  /** Moves on and returns the token before. */
  next(): Token {
    const left = this.current;
    if (this.ahead !== null) {
      this.current = this.ahead;
      this.ahead = null;
    } else if (left.type !== 'eof') this.current = this.pull();
    return left;
  }

  private pull(): Token {
    if (++this.pulled > MOST_TOKENS)
      this.fail(
        '',
        this.current.at,
        new LimitExceeded('sourceLength', `template too large: more than ${MOST_TOKENS} tokens`),
      );
    const result = this.tokens.next();
    return result.done ? { type: 'eof', value: '', at: this.source.length } : result.value;
  }

  /** The token after the current one. */
  look(): Token {
    this.ahead ??= this.pull();
    return this.ahead;
  }

  is(expr: string): boolean {
    return matches(this.current, expr);
  }

  isName(...names: string[]): boolean {
    return this.current.type === 'name' && names.includes(this.current.value as string);
  }

  skipIf(expr: string): boolean {
    if (!this.is(expr)) return false;
    this.next();
    return true;
  }

  expect(expr: string): Token {
    if (this.is(expr)) return this.next();
    const wanted = quote(describeExpectation(expr));
    if (this.current.type === 'eof')
      return this.fail(`unexpected end of template, expected ${wanted}.`);
    return this.fail(`expected token ${wanted}, got ${quote(describeToken(this.current))}`);
  }

  fail(
    message: string,
    at = this.current.at,
    error: TemplateError = new TemplateSyntaxError(message),
  ): never {
    throw locate(error, { templateName: this.name, source: this.source, offset: at });
  }
}

export function matches(token: Token, expr: string): boolean {
  if (token.type === expr) return true;
  const colon = expr.indexOf(':');
  return (
    colon !== -1 && token.type === expr.slice(0, colon) && token.value === expr.slice(colon + 1)
  );
}
