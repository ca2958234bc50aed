// The syntax tree. Made by parser.ts, read by compile/. `at` is the offset in the source that
// errors point to.
import type { Value } from '../values/types.ts';

interface Base {
  at: number;
}

export interface Name extends Base {
  type: 'Name';
  name: string;
  ctx: 'load' | 'store' | 'param';
}
/** `ns.attr` as the target of a set. */
export interface NSRef extends Base {
  type: 'NSRef';
  name: string;
  attr: string;
}
export interface Const extends Base {
  type: 'Const';
  value: Value;
}
export interface TemplateData extends Base {
  type: 'TemplateData';
  data: string;
}
export interface TupleNode extends Base {
  type: 'Tuple';
  items: Expr[];
}
export interface ListNode extends Base {
  type: 'List';
  items: Expr[];
}
export interface DictNode extends Base {
  type: 'Dict';
  items: { key: Expr; value: Expr }[];
}
export type BinaryOp = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export interface Binary extends Base {
  type: 'Binary';
  op: BinaryOp;
  left: Expr;
  right: Expr;
}
export interface Logic extends Base {
  type: 'And' | 'Or';
  left: Expr;
  right: Expr;
}
export interface Unary extends Base {
  type: 'Not' | 'Neg' | 'Pos';
  node: Expr;
}
export type CompareOp = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';
export interface Compare extends Base {
  type: 'Compare';
  expr: Expr;
  ops: { op: CompareOp; expr: Expr; at: number }[];
}
export interface Concat extends Base {
  type: 'Concat';
  nodes: Expr[];
}
export interface CondExpr extends Base {
  type: 'CondExpr';
  test: Expr;
  expr1: Expr;
  expr2: Expr | null;
}
export interface Getattr extends Base {
  type: 'Getattr';
  node: Expr;
  attr: string;
}
export interface Getitem extends Base {
  type: 'Getitem';
  node: Expr;
  arg: Expr;
}
export interface SliceNode extends Base {
  type: 'Slice';
  start: Expr | null;
  stop: Expr | null;
  step: Expr | null;
}
export interface Args {
  args: Expr[];
  kwargs: { key: string; value: Expr }[];
  dynArgs: Expr | null;
  dynKwargs: Expr | null;
}
export interface Call extends Base, Args {
  type: 'Call';
  node: Expr;
}
/** node is null if the filter takes the text of a {% filter %} or {% set %} block. */
export interface Filter extends Base, Args {
  type: 'Filter';
  node: Expr | null;
  name: string;
}
export interface Test extends Base, Args {
  type: 'Test';
  node: Expr;
  name: string;
}

export type Expr =
  | Name
  | NSRef
  | Const
  | TemplateData
  | TupleNode
  | ListNode
  | DictNode
  | Binary
  | Logic
  | Unary
  | Compare
  | Concat
  | CondExpr
  | Getattr
  | Getitem
  | SliceNode
  | Call
  | Filter
  | Test;

export interface Output extends Base {
  type: 'Output';
  nodes: Expr[];
}
export interface For extends Base {
  type: 'For';
  target: Expr;
  iter: Expr;
  body: Stmt[];
  else_: Stmt[];
  test: Expr | null;
  recursive: boolean;
}
export interface If extends Base {
  type: 'If';
  test: Expr;
  body: Stmt[];
  elif: If[];
  else_: Stmt[];
}
export interface Signature {
  args: Name[];
  defaults: Expr[];
}
export interface Macro extends Base, Signature {
  type: 'Macro';
  name: string;
  body: Stmt[];
}
export interface CallBlock extends Base, Signature {
  type: 'CallBlock';
  call: Call;
  body: Stmt[];
}
export interface FilterBlock extends Base {
  type: 'FilterBlock';
  filter: Filter;
  body: Stmt[];
}
export interface With extends Base {
  type: 'With';
  targets: Expr[];
  values: Expr[];
  body: Stmt[];
}
export interface Block extends Base {
  type: 'Block';
  name: string;
  body: Stmt[];
  scoped: boolean;
  required: boolean;
}
export interface Extends extends Base {
  type: 'Extends';
  template: Expr;
}
export interface Include extends Base {
  type: 'Include';
  template: Expr;
  withContext: boolean;
  ignoreMissing: boolean;
}
export interface Import extends Base {
  type: 'Import';
  template: Expr;
  target: string;
  withContext: boolean;
}
export interface FromImport extends Base {
  type: 'FromImport';
  template: Expr;
  names: { name: string; alias: string }[];
  withContext: boolean;
}
export interface Assign extends Base {
  type: 'Assign';
  target: Expr;
  node: Expr;
}
export interface AssignBlock extends Base {
  type: 'AssignBlock';
  target: Expr;
  filter: Filter | null;
  body: Stmt[];
}
export interface ExprStmt extends Base {
  type: 'ExprStmt';
  node: Expr;
}
export interface LoopControl extends Base {
  type: 'Break' | 'Continue';
}
/** {% autoescape %}: a scope of its own whose body escapes or not. */
export interface Autoescape extends Base {
  type: 'Autoescape';
  value: Expr;
  body: Stmt[];
}

export type Stmt =
  | Output
  | For
  | If
  | Macro
  | CallBlock
  | FilterBlock
  | With
  | Block
  | Extends
  | Include
  | Import
  | FromImport
  | Assign
  | AssignBlock
  | ExprStmt
  | LoopControl
  | Autoescape;

export interface TemplateNode {
  body: Stmt[];
}

export type Node = Expr | Stmt;

/** The direct children of a node, in the order Jinja2 visits them. */
export function children(node: Node): Node[] {
  switch (node.type) {
    case 'Tuple':
    case 'List':
      return node.items;
    case 'Dict':
      return node.items.flatMap((pair) => [pair.key, pair.value]);
    case 'Binary':
    case 'And':
    case 'Or':
      return [node.left, node.right];
    case 'Not':
    case 'Neg':
    case 'Pos':
    case 'ExprStmt':
    case 'Getattr':
      return [node.node];
    case 'Compare':
      return [node.expr, ...node.ops.map((op) => op.expr)];
    case 'Concat':
    case 'Output':
      return node.nodes;
    case 'CondExpr':
      return present([node.test, node.expr1, node.expr2]);
    case 'Getitem':
      return [node.node, node.arg];
    case 'Slice':
      return present([node.start, node.stop, node.step]);
    case 'Call':
    case 'Filter':
    case 'Test':
      return present([
        node.node,
        ...node.args,
        ...node.kwargs.map((kw) => kw.value),
        node.dynArgs,
        node.dynKwargs,
      ]);
    case 'For':
      return present([node.target, node.iter, ...node.body, ...node.else_, node.test]);
    case 'If':
      return [node.test, ...node.body, ...node.elif, ...node.else_];
    case 'Macro':
      return [...node.args, ...node.defaults, ...node.body];
    case 'CallBlock':
      return [node.call, ...node.args, ...node.defaults, ...node.body];
    case 'FilterBlock':
      return [...node.body, node.filter];
    case 'With':
      return [...node.targets, ...node.values, ...node.body];
    case 'Block':
      return node.body;
    case 'Extends':
    case 'Include':
    case 'Import':
    case 'FromImport':
      return [node.template];
    case 'Assign':
      return [node.target, node.node];
    case 'AssignBlock':
      return present([node.target, node.filter, ...node.body]);
    case 'Autoescape':
      return [node.value, ...node.body];
    default:
      return [];
  }
}
const present = (nodes: (Node | null)[]): Node[] =>
  nodes.filter((node): node is Node => node !== null);

/** Every node below the given ones, parents first, in document order. */
export function* descendants(nodes: Node[]): Generator<Node> {
  const pending = nodes.slice().reverse();
  while (pending.length > 0) {
    const node = pending.pop()!;
    yield node;
    const below = children(node);
    for (let i = below.length - 1; i >= 0; i--) pending.push(below[i]!);
  }
}
