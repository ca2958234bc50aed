// Tokens to the syntax tree of a template: text, output and tags in their order, and the error
// messages for misplaced tags. After tag-parser.ts, before compile/.
import { quote } from '../values/repr.ts';
import { describeExpectation, normalizeSource, type Syntax, tokenize } from './lexer.ts';
import type * as n from './nodes.ts';
import { TagParser } from './tag-parser.ts';
import { TokenStream } from './token-stream.ts';

/** Tags of jinja2.ext that an environment may switch on. */
export type Extension = 'do' | 'loopcontrols';

/** Parses a template. The source is the normalized text that offsets refer to. */
export function parseTemplate(
  text: string,
  name: string | null,
  syntax: Syntax,
  extensions: readonly Extension[],
): { source: string; body: n.Stmt[] } {
  const source = normalizeSource(text, syntax);
  const stream = new TokenStream(tokenize(source, syntax, name), source, name);
  return { source, body: new Parser(stream, extensions).parse() };
}

class Parser extends TagParser {
  private readonly extensions: readonly Extension[];
  private readonly tags: string[] = [];
  private readonly endTokens: string[][] = [];

  constructor(stream: TokenStream, extensions: readonly Extension[]) {
    super(stream);
    this.extensions = extensions;
  }

  parse(): n.Stmt[] {
    return this.subparse(null);
  }

  private subparse(end: string[] | null): n.Stmt[] {
    const body: n.Stmt[] = [];
    let pieces: n.Expr[] = [];
    if (end !== null) this.endTokens.push(end);
    const flush = () => {
      if (pieces.length > 0) body.push({ type: 'Output', nodes: pieces, at: pieces[0]!.at });
      pieces = [];
    };
    while (this.stream.current.type !== 'eof') {
      const token = this.stream.current;
      if (token.type === 'data') {
        pieces.push({ type: 'TemplateData', data: token.value as string, at: token.at });
        this.stream.next();
      } else if (token.type === 'variable_begin') {
        this.stream.next();
        pieces.push(this.parseTuple());
        this.stream.expect('variable_end');
      } else {
        flush();
        this.stream.next();
        if (end?.some((rule) => this.stream.is(rule))) {
          this.endTokens.pop();
          return body;
        }
        body.push(this.nested(() => this.parseStatement()));
        this.stream.expect('block_end');
      }
    }
    flush();
    if (end !== null) this.endTokens.pop();
    return body;
  }

  private parseStatement(): n.Stmt {
    const token = this.stream.current;
    if (token.type !== 'name') this.stream.fail('tag name expected', token.at);
    const tag = token.value as string;
    this.tags.push(tag);
    const statement = this.parseTag(tag);
    this.tags.pop();
    return statement ?? this.failUnexpected(tag, this.endTokens, token.at);
  }

  private parseTag(tag: string): n.Stmt | null {
    switch (tag) {
      case 'for':
        return this.parseFor();
      case 'if':
        return this.parseIf();
      case 'block':
        return this.parseBlock();
      case 'print':
        return this.parsePrint();
      case 'macro':
        return this.parseMacro();
      case 'include':
        return this.parseInclude();
      case 'from':
        return this.parseFrom();
      case 'import':
        return this.parseImport();
      case 'set':
        return this.parseSet();
      case 'with':
        return this.parseWith();
      case 'autoescape':
        return this.parseAutoescape();
      case 'extends':
        return this.parseExtends();
      case 'call':
        return this.parseCallBlock();
      case 'filter':
        return this.parseFilterBlock();
      default:
        return this.parseExtensionTag(tag);
    }
  }

  private parseExtensionTag(tag: string): n.Stmt | null {
    if (tag === 'do' && this.extensions.includes('do')) {
      const { at } = this.stream.next();
      return { type: 'ExprStmt', node: this.parseTuple(), at };
    }
    if ((tag === 'break' || tag === 'continue') && this.extensions.includes('loopcontrols')) {
      const { at } = this.stream.next();
      return { type: tag === 'break' ? 'Break' : 'Continue', at };
    }
    return null;
  }

  protected parseStatements(end: string[], drop = false): n.Stmt[] {
    this.stream.skipIf('colon');
    this.stream.expect('block_end');
    const body = this.subparse(end);
    if (this.stream.current.type === 'eof')
      this.failUnexpected(null, [...this.endTokens, end], this.stream.current.at);
    if (drop) this.stream.next();
    return body;
  }

  /**
   * Complains about an unknown tag, or (with null) the end of the template, saying what was
   * expected.
   */
  private failUnexpected(tag: string | null, stack: string[][], at: number): never {
    const describe = (exprs: string[]) => exprs.map(describeExpectation);
    const innermost = stack.at(-1);
    const looking = innermost === undefined ? null : describe(innermost).map(quote).join(' or ');
    const message = [
      tag === null ? 'Unexpected end of template.' : `Encountered unknown tag ${quote(tag)}.`,
    ];
    if (looking !== null) {
      const expected = stack.some((exprs) => tag !== null && describe(exprs).includes(tag));
      message.push(
        expected
          ? `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${looking}.`
          : `Jinja was looking for the following tags: ${looking}.`,
      );
    }
    const open = this.tags.at(-1);
    if (open !== undefined)
      message.push(`The innermost block that needs to be closed is ${quote(open)}.`);
    return this.stream.fail(message.join(' '), at);
  }
}
