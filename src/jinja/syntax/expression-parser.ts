// Tokens to expression trees, with Jinja2's precedence (unary binds before filters, ~ between + and
// *), loosest first. After operand-parser.ts, base of parser.ts.
import type * as n from './nodes.ts';
import { OperandParser } from './operand-parser.ts';
import { matches } from './token-stream.ts';

const COMPARE: Record<string, n.CompareOp> = {
  eq: '==',
  ne: '!=',
  lt: '<',
  lteq: '<=',
  gt: '>',
  gteq: '>=',
};
const TERM: Record<string, n.BinaryOp> = { mul: '*', div: '/', floordiv: '//', mod: '%' };

export abstract class ExpressionParser extends OperandParser {
  parseExpression(withCondexpr = true): n.Expr {
    return this.nested(() => (withCondexpr ? this.parseCondexpr() : this.parseOr()));
  }

  private parseCondexpr(): n.Expr {
    let { at } = this.stream.current;
    let expr1 = this.parseOr();
    for (let i = 0; this.stream.skipIf('name:if'); i++) {
      this.chain(i);
      const test = this.parseOr();
      const expr2 = this.stream.skipIf('name:else')
        ? this.nested(() => this.parseCondexpr())
        : null;
      expr1 = { type: 'CondExpr', test, expr1, expr2, at };
      at = this.stream.current.at;
    }
    return expr1;
  }

  private parseOr(): n.Expr {
    let left = this.parseAnd();
    for (let i = 0; this.stream.is('name:or'); i++) {
      this.chain(i);
      const { at } = this.stream.next();
      left = { type: 'Or', left, right: this.parseAnd(), at };
    }
    return left;
  }

  private parseAnd(): n.Expr {
    let left = this.parseNot();
    for (let i = 0; this.stream.is('name:and'); i++) {
      this.chain(i);
      const { at } = this.stream.next();
      left = { type: 'And', left, right: this.parseNot(), at };
    }
    return left;
  }

  private parseNot(): n.Expr {
    if (!this.stream.is('name:not')) return this.parseCompare();
    const { at } = this.stream.next();
    return { type: 'Not', node: this.nested(() => this.parseNot()), at };
  }

  private parseCompare(): n.Expr {
    const expr = this.parseMath1();
    const ops: n.Compare['ops'] = [];
    for (;;) {
      this.chain(ops.length);
      const { at, type } = this.stream.current;
      const op = COMPARE[type];
      if (op !== undefined) {
        this.stream.next();
        ops.push({ op, expr: this.parseMath1(), at });
      } else if (this.stream.skipIf('name:in')) ops.push({ op: 'in', expr: this.parseMath1(), at });
      else if (this.stream.is('name:not') && matches(this.stream.look(), 'name:in')) {
        this.stream.next();
        this.stream.next();
        ops.push({ op: 'not in', expr: this.parseMath1(), at });
      } else break;
    }
    return ops.length === 0 ? expr : { type: 'Compare', expr, ops, at: ops[0]!.at };
  }

  private parseMath1(): n.Expr {
    let left = this.parseConcat();
    for (let i = 0; this.stream.current.type === 'add' || this.stream.current.type === 'sub'; i++) {
      this.chain(i);
      const { at, type } = this.stream.next();
      left = {
        type: 'Binary',
        op: type === 'add' ? '+' : '-',
        left,
        right: this.parseConcat(),
        at,
      };
    }
    return left;
  }

  private parseConcat(): n.Expr {
    const { at } = this.stream.current;
    const nodes = [this.parseMath2()];
    while (this.stream.skipIf('tilde')) nodes.push(this.parseMath2());
    return nodes.length === 1 ? nodes[0]! : { type: 'Concat', nodes, at };
  }

  private parseMath2(): n.Expr {
    let left = this.parsePow();
    for (let i = 0; ; i++) {
      const op = TERM[this.stream.current.type];
      if (op === undefined) return left;
      this.chain(i);
      const { at } = this.stream.next();
      left = { type: 'Binary', op, left, right: this.parsePow(), at };
    }
  }

  private parsePow(): n.Expr {
    let left = this.parseUnary();
    for (let i = 0; this.stream.current.type === 'pow'; i++) {
      this.chain(i);
      const { at } = this.stream.next();
      left = { type: 'Binary', op: '**', left, right: this.parseUnary(), at };
    }
    return left;
  }

  private parseUnary(withFilter = true): n.Expr {
    const { type, at } = this.stream.current;
    let node: n.Expr;
    if (type === 'sub' || type === 'add') {
      this.stream.next();
      node = {
        type: type === 'sub' ? 'Neg' : 'Pos',
        node: this.nested(() => this.parseUnary(false)),
        at,
      };
    } else node = this.parsePrimary();
    node = this.parsePostfix(node);
    return withFilter ? this.parseFilterExpr(node) : node;
  }
}
