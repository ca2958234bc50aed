// Operators to closures: arithmetic, comparison, logic, joining with ~, and the inline if. Called
// by expressions.ts.
import { locate } from '../errors.ts';
import type * as n from '../syntax/nodes.ts';
import { truthy } from '../values/iterate.ts';
import { isNumber, toFloat } from '../values/numbers.ts';
import { concatenate, negative } from '../values/operators.ts';
import { quote } from '../values/repr.ts';
import type { Float } from '../values/types.ts';
import { Undefined } from '../values/undefined.ts';
import {
  type Compilation,
  constantCode,
  type Evaluate,
  lineOf,
  located,
  placeOf,
} from './compilation.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import { binary, compare, unary } from './operator-functions.ts';

type Operation = n.Binary | n.Logic | n.Unary | n.Compare | n.Concat | n.CondExpr;

export function operation(c: Compilation, node: Operation, frame: Frame): Evaluate {
  switch (node.type) {
    case 'Binary':
      return node.op === '**' ? power(c, node, frame) : arithmetic(c, node, frame);
    case 'And':
    case 'Or':
      return logic(c, node, frame);
    case 'Not':
    case 'Neg':
    case 'Pos': {
      const inner = c.expression(node.node, frame);
      const run = unary(node.type);
      return located(c, node.at, (a) => run(inner(a)));
    }
    case 'Compare':
      return comparison(c, node, frame);
    case 'Concat':
      return joining(c, node, frame);
    case 'CondExpr':
      return inlineIf(c, node, frame);
  }
}

function arithmetic(c: Compilation, node: n.Binary, frame: Frame): Evaluate {
  const left = c.expression(node.left, frame);
  const right = c.expression(node.right, frame);
  const run = binary(node.op);
  const place = placeOf(c, node.at);
  return (a) => {
    try {
      return run(a.ctx.budget, left(a), right(a));
    } catch (error) {
      throw locate(error, place);
    }
  };
}

function logic(c: Compilation, node: n.Logic, frame: Frame): Evaluate {
  const left = c.expression(node.left, frame);
  const right = c.expression(node.right, frame);
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
  return located(c, node.at, evaluate);
}

function joining(c: Compilation, node: n.Concat, frame: Frame): Evaluate {
  const parts = node.nodes.map((part) => c.expression(part, frame));
  // In volatile code Jinja2 asks the context whether *it* is volatile, which it never is: so join
  // as plain text.
  const autoescape = c.evalCtx.autoescape && !c.evalCtx.volatile;
  return located(c, node.at, (a) =>
    concatenate(
      a.ctx.budget,
      parts.map((part) => part(a)),
      autoescape,
    ),
  );
}

/**
 * Jinja2 writes a negative constant into its Python code without parentheses, so that `-2 ** x`
 * means -(2 ** x) there, although its own grammar binds the minus first.
 */
function power(c: Compilation, node: n.Binary, frame: Frame): Evaluate {
  const run = binary('**');
  const constant = c.folder.foldSafe(node.left);
  const negated = constant !== NOT_CONSTANT && isNumber(constant) && isNegative(constant);
  const base = negated ? constantCode(negative(constant)) : c.expression(node.left, frame);
  const exponent = c.expression(node.right, frame);
  return located(c, node.at, (a) => {
    const result = run(a.ctx.budget, base(a), exponent(a));
    return negated ? negative(result) : result;
  });
}

function comparison(c: Compilation, node: n.Compare, frame: Frame): Evaluate {
  const first = c.expression(node.expr, frame);
  const ops = node.ops.map(({ op, expr }) => ({
    run: compare(op),
    right: c.expression(expr, frame),
  }));
  if (ops.length === 1) {
    const { run, right } = ops[0]!;
    const place = placeOf(c, node.at);
    return (a) => {
      try {
        return run(a.ctx.budget, first(a), right(a));
      } catch (error) {
        throw locate(error, place);
      }
    };
  }
  return located(c, node.at, (a) => {
    let left = first(a);
    for (const { run, right } of ops) {
      const next = right(a);
      if (!run(a.ctx.budget, left, next)) return false;
      left = next;
    }
    return true;
  });
}

function inlineIf(c: Compilation, node: n.CondExpr, frame: Frame): Evaluate {
  const soft = frame.soft();
  const test = c.expression(node.test, soft);
  const yes = c.expression(node.expr1, soft);
  if (node.expr2 !== null) {
    const no = c.expression(node.expr2, soft);
    return (a) => (truthy(test(a)) ? yes(a) : no(a));
  }
  const name = c.source.name === null ? '' : ` in ${quote(c.source.name)}`;
  const hint = `the inline if-expression on line ${lineOf(c, node.at)}${name} evaluated to false and no else section was defined.`;
  return (a) => (truthy(test(a)) ? yes(a) : new Undefined('default', { hint }));
}

const isNegative = (value: number | bigint | boolean | Float): boolean =>
  typeof value === 'bigint' ? value < 0n : toFloat(value) < 0 || Object.is(toFloat(value), -0);
