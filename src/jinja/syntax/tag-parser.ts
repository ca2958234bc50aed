// The contents of each tag: {% for %}, {% set %}, {% import %} and the others. After
// expression-parser.ts, base of parser.ts.
import { TemplateAssertionError, TemplateSyntaxError } from '../errors.ts';
import { quote } from '../values/repr.ts';
import { isSpace } from '../values/text.ts';
import { ExpressionParser } from './expression-parser.ts';
import type * as n from './nodes.ts';
import { matches } from './token-stream.ts';

const CONSTANTS = ['true', 'false', 'none', 'True', 'False', 'None'];

export abstract class TagParser extends ExpressionParser {
  /** The body of a tag up to one of `end`, which stays current unless dropped. */
  protected abstract parseStatements(end: string[], drop?: boolean): n.Stmt[];

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

  protected parseSet(): n.Stmt {
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

  protected parseFor(): n.Stmt {
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

  protected parseIf(): n.Stmt {
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

  protected parseWith(): n.Stmt {
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

  protected parseAutoescape(): n.Stmt {
    const { at } = this.stream.next();
    const value = this.parseExpression();
    return {
      type: 'Autoescape',
      value,
      body: this.parseStatements(['name:endautoescape'], true),
      at,
    };
  }

  protected parseFilterBlock(): n.Stmt {
    const { at } = this.stream.next();
    const filter = this.parseFilter(null, true)!;
    return {
      type: 'FilterBlock',
      filter,
      body: this.parseStatements(['name:endfilter'], true),
      at,
    };
  }

  protected parseExtends(): n.Stmt {
    const { at } = this.stream.next();
    return { type: 'Extends', template: this.parseExpression(), at };
  }

  protected parseBlock(): n.Stmt {
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

  protected parsePrint(): n.Stmt {
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

  protected parseInclude(): n.Stmt {
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

  protected parseImport(): n.Stmt {
    const { at } = this.stream.next();
    const template = this.parseExpression();
    this.stream.expect('name:as');
    const target = this.parseNameTarget().name;
    return { type: 'Import', template, target, withContext: this.parseContext(false), at };
  }

  protected parseFrom(): n.Stmt {
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

  protected parseMacro(): n.Stmt {
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

  protected parseCallBlock(): n.Stmt {
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
