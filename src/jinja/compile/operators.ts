// Operators to closures: arithmetic, comparison, logic, joining with ~, and the inline if. After compiler.ts, before calls.ts.
import { locate } from '../errors.ts';
import type * as n from '../syntax/nodes.ts';
import { truthy } from '../values/iterate.ts';
import { isNumber, toFloat } from '../values/numbers.ts';
import { concatenate, negative } from '../values/operators.ts';
import { quote } from '../values/repr.ts';
import type { Float } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import { CompilerBase, type Evaluate } from './compiler.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import { binary, compare, unary } from './operator-functions.ts';

type Operation = n.Binary | n.Logic | n.Unary | n.Compare | n.Concat | n.CondExpr;

export abstract class OperatorCompiler extends CompilerBase {
  protected operation(node: Operation, frame: Frame): Evaluate {
    switch (node.type) {
      case 'Binary':
        return node.op === '**' ? this.power(node, frame) : this.arithmetic(node, frame);
      case 'And':
      case 'Or':
        return this.logic(node, frame);
      case 'Not':
      case 'Neg':
      case 'Pos': {
        const inner = this.expression(node.node, frame);
        const run = unary(node.type);
        return this.located(node.at, (a) => run(inner(a)));
      }
      case 'Compare':
        return this.compare(node, frame);
      case 'Concat':
        return this.concat(node, frame);
      case 'CondExpr':
        return this.conditional(node, frame);
    }
  }

  private arithmetic(node: n.Binary, frame: Frame): Evaluate {
    const left = this.expression(node.left, frame);
    const right = this.expression(node.right, frame);
    const run = binary(node.op);
    const place = this.place(node.at);
    return (a) => {
      try {
        return run(a.ctx.budget, left(a), right(a));
      } catch (error) {
        throw locate(error, place);
      }
    };
  }

  private logic(node: n.Logic, frame: Frame): Evaluate {
    const left = this.expression(node.left, frame);
    const right = this.expression(node.right, frame);
    const evaluate: Evaluate =
      node.type === 'And'
        ? (a) => {
            const value = left(a);
            return truthy(value) ? right(a) : value;
          }
        : (a) => {
            const value = left(a);
            return truthy(value) ? value : right(a);
          };
    return this.located(node.at, evaluate);
  }

  private concat(node: n.Concat, frame: Frame): Evaluate {
    const parts = node.nodes.map((part) => this.expression(part, frame));
    // In volatile code Jinja2 asks the context whether *it* is volatile, which it never is: plain joining.
    const autoescape = this.evalCtx.autoescape && !this.evalCtx.volatile;
    return this.located(node.at, (a) =>
      concatenate(
        a.ctx.budget,
        parts.map((part) => part(a)),
        autoescape,
      ),
    );
  }

  /**
   * Jinja2 writes a negative constant into its Python code without parentheses, so that `-2 ** x` means -(2 ** x) there,
   * although its own grammar binds the minus first.
   */
  private power(node: n.Binary, frame: Frame): Evaluate {
    const run = binary('**');
    const constant = this.folder.foldSafe(node.left);
    const negated = constant !== NOT_CONSTANT && isNumber(constant) && isNegative(constant);
    const base = negated ? this.constant(negative(constant)) : this.expression(node.left, frame);
    const exponent = this.expression(node.right, frame);
    return this.located(node.at, (a) => {
      const result = run(a.ctx.budget, base(a), exponent(a));
      return negated ? negative(result) : result;
    });
  }

  private compare(node: n.Compare, frame: Frame): Evaluate {
    const first = this.expression(node.expr, frame);
    const ops = node.ops.map(({ op, expr }) => ({
      run: compare(op),
      right: this.expression(expr, frame),
    }));
    if (ops.length === 1) {
      const { run, right } = ops[0]!;
      const place = this.place(node.at);
      return (a) => {
        try {
          return run(a.ctx.budget, first(a), right(a));
        } catch (error) {
          throw locate(error, place);
        }
      };
    }
    return this.located(node.at, (a) => {
      let left = first(a);
      for (const { run, right } of ops) {
        const next = right(a);
        if (!run(a.ctx.budget, left, next)) return false;
        left = next;
      }
      return true;
    });
  }

  private conditional(node: n.CondExpr, frame: Frame): Evaluate {
    const soft = frame.soft();
    const test = this.expression(node.test, soft);
    const yes = this.expression(node.expr1, soft);
    if (node.expr2 !== null) {
      const no = this.expression(node.expr2, soft);
      return (a) => (truthy(test(a)) ? yes(a) : no(a));
    }
    const name = this.source.name === null ? '' : ` in ${quote(this.source.name)}`;
    const hint = `the inline if-expression on line ${this.lineOf(node.at)}${name} evaluated to false and no else section was defined.`;
    return (a) => (truthy(test(a)) ? yes(a) : new Undefined('default', { hint }));
  }
}

const isNegative = (value: number | bigint | boolean | Float): boolean =>
  typeof value === 'bigint' ? value < 0n : toFloat(value) < 0 || Object.is(toFloat(value), -0);
