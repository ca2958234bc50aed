// Tokens to the syntax tree of a template: all statements. After lexer.ts, before compile/.
import { TemplateAssertionError, TemplateSyntaxError } from '../errors.ts';
import { quote } from '../values/repr.ts';
import { isSpace } from '../values/text.ts';
import { ExpressionParser } from './expression-parser.ts';
import { describeExpectation, normalizeSource, type Syntax, tokenize } from './lexer.ts';
import type * as n from './nodes.ts';
import { matches, TokenStream } from './token-stream.ts';

const KEYWORDS = [
  'for',
  'if',
  'block',
  'extends',
  'print',
  'macro',
  'include',
  'from',
  'import',
  'set',
  'with',
  'autoescape',
];
const CONSTANTS = ['true', 'false', 'none', 'True', 'False', 'None'];

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

class Parser extends ExpressionParser {
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
    if (statement === null) {
      this.tags.pop();
      return this.failUnexpected(tag, this.endTokens, token.at);
    }
    this.tags.pop();
    return statement;
  }

  private parseTag(tag: string): n.Stmt | null {
    if (!KEYWORDS.includes(tag)) return this.parseOtherTag(tag);
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
      default: {
        const { at } = this.stream.next();
        return { type: 'Extends', template: this.parseExpression(), at };
      }
    }
  }

  private parseOtherTag(tag: string): n.Stmt | null {
    if (tag === 'call') return this.parseCallBlock();
    if (tag === 'filter') {
      const { at } = this.stream.next();
      const filter = this.parseFilter(null, true)!;
      return {
        type: 'FilterBlock',
        filter,
        body: this.parseStatements(['name:endfilter'], true),
        at,
      };
    }
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

  /** The body of a tag up to one of `end`, which stays current unless dropped. */
  private parseStatements(end: string[], drop = false): n.Stmt[] {
    this.stream.skipIf('colon');
    this.stream.expect('block_end');
    const body = this.subparse(end);
    if (this.stream.current.type === 'eof')
      this.failUnexpected(null, [...this.endTokens, end], this.stream.current.at);
    if (drop) this.stream.next();
    return body;
  }

  /** Complains about an unknown tag, or (with null) the end of the template, saying what was looked for. */
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

  private parseAssignTarget(withNamespace: boolean): n.Expr {
    const target = this.parseTuple({ simplified: true, withNamespace });
    this.setStore(target, 'store');
    const wrong = cannotAssign(target);
    if (wrong !== null) this.stream.fail(`can't assign to ${quote(wrong)}`, target.at);
    return target;
  }

  private setStore(target: n.Expr, ctx: 'store' | 'param'): void {
    if (target.type === 'Name') target.ctx = ctx;
    else if (target.type === 'Tuple' || target.type === 'List')
      for (const item of target.items) this.setStore(item, ctx);
  }

  private parseNameTarget(): n.Name {
    const token = this.stream.expect('name');
    const name = token.value as string;
    if (CONSTANTS.includes(name)) this.stream.fail("can't assign to 'name'", token.at);
    return { type: 'Name', name, ctx: 'store', at: token.at };
  }

  private parseSet(): n.Stmt {
    const { at } = this.stream.next();
    const target = this.parseAssignTarget(true);
    if (this.stream.skipIf('assign'))
      return { type: 'Assign', target, node: this.parseTuple(), at };
    const filter = this.parseFilter(null);
    return {
      type: 'AssignBlock',
      target,
      filter,
      body: this.parseStatements(['name:endset'], true),
      at,
    };
  }

  private parseFor(): n.Stmt {
    const { at } = this.stream.next();
    const target = this.parseAssignTarget(false);
    this.stream.expect('name:in');
    const iter = this.parseTuple({ withCondexpr: false });
    const test = this.stream.skipIf('name:if') ? this.parseExpression() : null;
    const recursive = this.stream.skipIf('name:recursive');
    const body = this.parseStatements(['name:endfor', 'name:else']);
    const else_ =
      this.stream.next().value === 'endfor' ? [] : this.parseStatements(['name:endfor'], true);
    return { type: 'For', target, iter, body, else_, test, recursive, at };
  }

  private parseIf(): n.Stmt {
    const first = this.parseBranch(this.stream.next().at);
    for (;;) {
      const token = this.stream.next();
      if (matches(token, 'name:elif')) first.elif.push(this.parseBranch(this.stream.current.at));
      else {
        if (matches(token, 'name:else')) first.else_ = this.parseStatements(['name:endif'], true);
        return first;
      }
    }
  }

  private parseBranch(at: number): n.If {
    const test = this.parseTuple({ withCondexpr: false });
    const body = this.parseStatements(['name:elif', 'name:else', 'name:endif']);
    return { type: 'If', test, body, elif: [], else_: [], at };
  }

  private parseWith(): n.Stmt {
    const { at } = this.stream.next();
    const targets: n.Expr[] = [];
    const values: n.Expr[] = [];
    while (this.stream.current.type !== 'block_end') {
      if (targets.length > 0) this.stream.expect('comma');
      const target = this.parseAssignTarget(false);
      this.setStore(target, 'param');
      targets.push(target);
      this.stream.expect('assign');
      values.push(this.parseExpression());
    }
    return {
      type: 'With',
      targets,
      values,
      body: this.parseStatements(['name:endwith'], true),
      at,
    };
  }

  private parseAutoescape(): n.Stmt {
    const { at } = this.stream.next();
    const value = this.parseExpression();
    return {
      type: 'Autoescape',
      value,
      body: this.parseStatements(['name:endautoescape'], true),
      at,
    };
  }

  private parseBlock(): n.Stmt {
    const { at } = this.stream.next();
    const name = this.stream.expect('name').value as string;
    const scoped = this.stream.skipIf('name:scoped');
    const required = this.stream.skipIf('name:required');
    if (this.stream.current.type === 'sub')
      this.stream.fail(
        'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
      );
    const body = this.parseStatements(['name:endblock'], true);
    const blank = (node: n.Stmt) =>
      node.type === 'Output' &&
      node.nodes.every((piece) => piece.type === 'TemplateData' && isSpace(piece.data));
    if (required && !body.every(blank))
      this.stream.fail('Required blocks can only contain comments or whitespace');
    this.stream.skipIf(`name:${name}`);
    return { type: 'Block', name, body, scoped, required, at };
  }

  private parsePrint(): n.Stmt {
    const { at } = this.stream.next();
    const nodes: n.Expr[] = [];
    while (this.stream.current.type !== 'block_end') {
      if (nodes.length > 0) this.stream.expect('comma');
      nodes.push(this.parseExpression());
    }
    return { type: 'Output', nodes, at };
  }

  private parseContext(fallback: boolean): boolean {
    if (!this.stream.isName('with', 'without') || !matches(this.stream.look(), 'name:context'))
      return fallback;
    const withContext = this.stream.next().value === 'with';
    this.stream.next();
    return withContext;
  }

  private parseInclude(): n.Stmt {
    const { at } = this.stream.next();
    const template = this.parseExpression();
    const ignoreMissing =
      this.stream.is('name:ignore') && matches(this.stream.look(), 'name:missing');
    if (ignoreMissing) {
      this.stream.next();
      this.stream.next();
    }
    return { type: 'Include', template, ignoreMissing, withContext: this.parseContext(true), at };
  }

  private parseImport(): n.Stmt {
    const { at } = this.stream.next();
    const template = this.parseExpression();
    this.stream.expect('name:as');
    const target = this.parseNameTarget().name;
    return { type: 'Import', template, target, withContext: this.parseContext(false), at };
  }

  private parseFrom(): n.Stmt {
    const { at } = this.stream.next();
    const template = this.parseExpression();
    this.stream.expect('name:import');
    const names: n.FromImport['names'] = [];
    const atContext = () =>
      this.stream.isName('with', 'without') && matches(this.stream.look(), 'name:context');
    for (;;) {
      if (names.length > 0) this.stream.expect('comma');
      if (this.stream.current.type !== 'name') this.stream.expect('name');
      if (atContext()) break;
      const target = this.parseNameTarget();
      if (target.name.startsWith('_')) {
        const message = 'names starting with an underline can not be imported';
        this.stream.fail(message, target.at, new TemplateAssertionError(message));
      }
      const alias = this.stream.skipIf('name:as') ? this.parseNameTarget().name : target.name;
      names.push({ name: target.name, alias });
      if (atContext() || this.stream.current.type !== 'comma') break;
    }
    return { type: 'FromImport', template, names, withContext: this.parseContext(false), at };
  }

  private parseSignature(): n.Signature {
    const out: n.Signature = { args: [], defaults: [] };
    this.stream.expect('lparen');
    while (this.stream.current.type !== 'rparen') {
      if (out.args.length > 0) this.stream.expect('comma');
      const arg = this.parseNameTarget();
      arg.ctx = 'param';
      if (this.stream.skipIf('assign')) out.defaults.push(this.parseExpression());
      else if (out.defaults.length > 0)
        this.stream.fail('non-default argument follows default argument');
      out.args.push(arg);
    }
    this.stream.expect('rparen');
    return out;
  }

  private parseMacro(): n.Stmt {
    const { at } = this.stream.next();
    const { name } = this.parseNameTarget();
    const signature = this.parseSignature();
    return {
      type: 'Macro',
      name,
      ...signature,
      body: this.parseStatements(['name:endmacro'], true),
      at,
    };
  }

  private parseCallBlock(): n.Stmt {
    const { at } = this.stream.next();
    const signature: n.Signature = this.stream.is('lparen')
      ? this.parseSignature()
      : { args: [], defaults: [] };
    const call = this.parseExpression();
    if (call.type !== 'Call')
      return this.stream.fail('expected call', at, new TemplateSyntaxError('expected call'));
    return {
      type: 'CallBlock',
      ...signature,
      call,
      body: this.parseStatements(['name:endcall'], true),
      at,
    };
  }
}

/** The node type that makes a target unassignable, or null. */
function cannotAssign(target: n.Expr): string | null {
  if (target.type === 'Name') return CONSTANTS.includes(target.name) ? 'name' : null;
  if (target.type === 'NSRef') return null;
  if (target.type === 'Tuple')
    return target.items.some((item) => cannotAssign(item) !== null) ? 'tuple' : null;
  return target.type.toLowerCase();
}
