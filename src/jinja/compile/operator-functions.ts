// From operator symbols to the functions that carry them out; shared by folding (constants.ts) and
// compiled code (operators.ts).
import type { Budget } from '../budget.ts';
import type { BinaryOp, CompareOp } from '../syntax/nodes.ts';
import { equals, ordered } from '../values/compare.ts';
import { contains, truthy } from '../values/iterate.ts';
import * as operators from '../values/operators.ts';
import type { Value } from '../values/types.ts';

type BinaryFunction = (budget: Budget, a: Value, b: Value) => Value;

const BINARY: Record<BinaryOp, BinaryFunction> = {
  '+': operators.add,
  '-': operators.subtract,
  '*': operators.multiply,
  '/': operators.divide,
  '//': operators.floorDivide,
  '%': operators.modulo,
  '**': operators.power,
};
export const binary = (op: BinaryOp): BinaryFunction => BINARY[op];

const COMPARE: Record<CompareOp, (budget: Budget, a: Value, b: Value) => boolean> = {
  '==': (budget, a, b) => equals(budget, a, b),
  '!=': (budget, a, b) => !equals(budget, a, b),
  '<': (budget, a, b) => ordered(budget, '<', a, b),
  '<=': (budget, a, b) => ordered(budget, '<=', a, b),
  '>': (budget, a, b) => ordered(budget, '>', a, b),
  '>=': (budget, a, b) => ordered(budget, '>=', a, b),
  in: (budget, a, b) => contains(budget, b, a),
  'not in': (budget, a, b) => !contains(budget, b, a),
};
export const compare = (op: CompareOp) => COMPARE[op];

const UNARY = {
  Not: (value: Value): Value => !truthy(value),
  Neg: operators.negative,
  Pos: operators.positive,
};
export const unary = (type: 'Not' | 'Neg' | 'Pos'): ((value: Value) => Value) => UNARY[type];
