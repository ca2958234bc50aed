// The operands of operators: literals, names, brackets, and what follows them (.name, [item],
// calls, filters, tests). After token-stream.ts, base of expression-parser.ts.
import { tooDeep } from '../errors.ts';
import { quote } from '../values/repr.ts';
import { describeToken } from './lexer.ts';
import type * as n from './nodes.ts';
import type { TokenStream } from './token-stream.ts';

/** Nesting and chains beyond this are refused; CPython fails at about a hundred levels. */
const MOST_NESTING = 200;
const LONGEST_CHAIN = 400;

export abstract class OperandParser {
  protected readonly stream: TokenStream;
  private nesting = 0;

  constructor(stream: TokenStream) {
    this.stream = stream;
  }

  /** Runs `parse` one level deeper. */
  protected nested<T>(parse: () => T): T {
    if (++this.nesting > MOST_NESTING)
      this.stream.fail('', this.stream.current.at, tooDeep('the template is nested too deeply'));
    const result = parse();
    this.nesting--;
    return result;
  }

  protected chain(length: number): void {
    if (length > LONGEST_CHAIN)
      this.stream.fail('', this.stream.current.at, tooDeep('an expression is too long'));
  }

  abstract parseExpression(withCondexpr?: boolean): n.Expr;

  protected parsePrimary(withNamespace = false): n.Expr {
    const token = this.stream.current;
    const { at } = token;
    switch (token.type) {
      case 'name':
        this.stream.next();
        return this.parseName(token.value as string, at, withNamespace);
      case 'string': {
        let value = '';
        while (this.stream.current.type === 'string') value += this.stream.next().value;
        return { type: 'Const', value, at };
      }
      case 'integer':
      case 'float':
        this.stream.next();
        return { type: 'Const', value: token.value, at };
      case 'lparen': {
        this.stream.next();
        const inner = this.nested(() => this.parseTuple({ explicitParentheses: true }));
        this.stream.expect('rparen');
        return inner;
      }
      case 'lbracket':
        return this.parseList();
      case 'lbrace':
        return this.parseDict();
    }
    return this.stream.fail(`unexpected ${quote(describeToken(token))}`, at);
  }

  private parseName(name: string, at: number, withNamespace: boolean): n.Expr {
    if (name === 'true' || name === 'True') return { type: 'Const', value: true, at };
    if (name === 'false' || name === 'False') return { type: 'Const', value: false, at };
    if (name === 'none' || name === 'None') return { type: 'Const', value: null, at };
    if (withNamespace && this.stream.skipIf('dot'))
      return { type: 'NSRef', name, attr: this.stream.expect('name').value as string, at };
    return { type: 'Name', name, ctx: 'load', at };
  }

  parseTuple(
    options: {
      simplified?: boolean;
      withCondexpr?: boolean;
      explicitParentheses?: boolean;
      withNamespace?: boolean;
    } = {},
  ): n.Expr {
    const { at } = this.stream.current;
    const items: n.Expr[] = [];
    let isTuple = false;
    for (;;) {
      if (items.length > 0) this.stream.expect('comma');
      if (this.isTupleEnd()) break;
      items.push(
        options.simplified
          ? this.parsePrimary(options.withNamespace)
          : this.parseExpression(options.withCondexpr ?? true),
      );
      if (this.stream.current.type !== 'comma') break;
      isTuple = true;
    }
    if (!isTuple) {
      if (items.length > 0) return items[0]!;
      if (!options.explicitParentheses)
        this.stream.fail(
          `Expected an expression, got ${quote(describeToken(this.stream.current))}`,
        );
    }
    return { type: 'Tuple', items, at };
  }

  private isTupleEnd(): boolean {
    const { type } = this.stream.current;
    return type === 'variable_end' || type === 'block_end' || type === 'rparen';
  }

  private parseList(): n.Expr {
    const { at } = this.stream.expect('lbracket');
    const items: n.Expr[] = [];
    while (this.stream.current.type !== 'rbracket') {
      if (items.length > 0) this.stream.expect('comma');
      if (this.stream.current.type === 'rbracket') break;
      items.push(this.parseExpression());
    }
    this.stream.expect('rbracket');
    return { type: 'List', items, at };
  }

  private parseDict(): n.Expr {
    const { at } = this.stream.expect('lbrace');
    const items: n.DictNode['items'] = [];
    while (this.stream.current.type !== 'rbrace') {
      if (items.length > 0) this.stream.expect('comma');
      if (this.stream.current.type === 'rbrace') break;
      const key = this.parseExpression();
      this.stream.expect('colon');
      items.push({ key, value: this.parseExpression() });
    }
    this.stream.expect('rbrace');
    return { type: 'Dict', items, at };
  }

  protected parsePostfix(start: n.Expr): n.Expr {
    let node = start;
    for (let i = 0; ; i++) {
      const { type } = this.stream.current;
      if (type === 'dot' || type === 'lbracket') node = this.parseSubscript(node);
      else if (type === 'lparen') node = this.parseCall(node);
      else return node;
      this.chain(i);
    }
  }

  protected parseFilterExpr(start: n.Expr): n.Expr {
    let node = start;
    for (let i = 0; ; i++) {
      const { type } = this.stream.current;
      if (type === 'pipe') node = this.parseFilter(node)!;
      else if (type === 'name' && this.stream.current.value === 'is') node = this.parseTest(node);
      else if (type === 'lparen') node = this.parseCall(node);
      else return node;
      this.chain(i);
    }
  }

  private parseSubscript(node: n.Expr): n.Expr {
    const token = this.stream.next();
    if (token.type === 'dot') {
      const attr = this.stream.next();
      if (attr.type === 'name')
        return { type: 'Getattr', node, attr: attr.value as string, at: attr.at };
      if (attr.type !== 'integer') this.stream.fail('expected name or number', attr.at);
      return {
        type: 'Getitem',
        node,
        arg: { type: 'Const', value: attr.value, at: attr.at },
        at: attr.at,
      };
    }
    const args: n.Expr[] = [];
    while (this.stream.current.type !== 'rbracket') {
      if (args.length > 0) this.stream.expect('comma');
      args.push(this.parseSubscribed());
    }
    this.stream.expect('rbracket');
    const arg: n.Expr = args.length === 1 ? args[0]! : { type: 'Tuple', items: args, at: token.at };
    return { type: 'Getitem', node, arg, at: token.at };
  }

  private parseSubscribed(): n.Expr {
    const { at } = this.stream.current;
    let start: n.Expr | null = null;
    if (!this.stream.skipIf('colon')) {
      start = this.parseExpression();
      if (!this.stream.skipIf('colon')) return start;
    }
    const open = () => !this.stream.is('rbracket') && !this.stream.is('comma');
    const stop = !this.stream.is('colon') && open() ? this.parseExpression() : null;
    const step = this.stream.skipIf('colon') && open() ? this.parseExpression() : null;
    return { type: 'Slice', start, stop, step, at };
  }

  private parseCallArgs(): n.Args {
    const token = this.stream.expect('lparen');
    const out: n.Args = { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
    const ensure = (valid: boolean) => {
      if (!valid) this.stream.fail('invalid syntax for function call expression', token.at);
    };
    let first = true;
    while (this.stream.current.type !== 'rparen') {
      if (!first) {
        this.stream.expect('comma');
        if (this.stream.is('rparen')) break;
      }
      first = false;
      if (this.stream.current.type === 'mul') {
        ensure(out.dynArgs === null && out.dynKwargs === null);
        this.stream.next();
        out.dynArgs = this.parseExpression();
      } else if (this.stream.current.type === 'pow') {
        ensure(out.dynKwargs === null);
        this.stream.next();
        out.dynKwargs = this.parseExpression();
      } else if (this.stream.current.type === 'name' && this.stream.look().type === 'assign') {
        ensure(out.dynKwargs === null);
        const key = this.stream.next().value as string;
        this.stream.next();
        out.kwargs.push({ key, value: this.parseExpression() });
      } else {
        ensure(out.dynArgs === null && out.dynKwargs === null && out.kwargs.length === 0);
        out.args.push(this.parseExpression());
      }
    }
    this.stream.expect('rparen');
    return out;
  }

  private parseCall(node: n.Expr): n.Call {
    const { at } = node;
    return { type: 'Call', node, ...this.parseCallArgs(), at };
  }

  /** A chain of filters; with `startInline` the first has no pipe before it. */
  protected parseFilter(start: n.Expr | null, startInline = false): n.Filter | null {
    let node = start as n.Filter | null;
    for (let i = 0; this.stream.current.type === 'pipe' || (startInline && i === 0); i++) {
      this.chain(i);
      if (!startInline || i > 0) this.stream.next();
      const { name, at } = this.dottedName();
      node = { type: 'Filter', node, name, ...this.optionalArgs(), at };
    }
    return node;
  }

  private dottedName(): { name: string; at: number } {
    const token = this.stream.expect('name');
    let name = token.value as string;
    while (this.stream.skipIf('dot')) name += `.${this.stream.expect('name').value}`;
    return { name, at: token.at };
  }

  private optionalArgs(): n.Args {
    return this.stream.is('lparen')
      ? this.parseCallArgs()
      : { args: [], kwargs: [], dynArgs: null, dynKwargs: null };
  }

  private parseTest(node: n.Expr): n.Expr {
    const { at } = this.stream.next();
    const negated = this.stream.skipIf('name:not');
    const { name, at: nameAt } = this.dottedName();
    let args = this.optionalArgs.bind(this);
    if (!this.stream.is('lparen') && this.startsTestArgument()) {
      if (this.stream.is('name:is')) this.stream.fail('You cannot chain multiple tests with is');
      const argument = this.parsePostfix(this.parsePrimary());
      args = () => ({ args: [argument], kwargs: [], dynArgs: null, dynKwargs: null });
    }
    const test: n.Expr = { type: 'Test', node, name, ...args(), at: nameAt };
    return negated ? { type: 'Not', node: test, at } : test;
  }

  private startsTestArgument(): boolean {
    return (
      ['name', 'string', 'integer', 'float', 'lbracket', 'lbrace'].includes(
        this.stream.current.type,
      ) && !this.stream.isName('else', 'or', 'and')
    );
  }
}
