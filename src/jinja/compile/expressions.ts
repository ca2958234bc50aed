// Expression trees to closures: literals, names, attributes and items here; operators.ts and
// calls.ts do the rest. Everything that compiles a part of a template comes here through
// `c.expression`.
import { locate, TemplateSyntaxError } from '../errors.ts';
import { LoopContext } from '../runtime/loop.ts';
import type * as n from '../syntax/nodes.ts';
import { getAttribute, getItem, isDictMethod, slice } from '../values/access.ts';
import { Dict, payForKey } from '../values/dict.ts';
import { Markup, PyObject, Tuple, type Value } from '../values/types.ts';
import { callCode, filterCode, testCode } from './calls.ts';
import { type Compilation, constantCode, type Evaluate, located, placeOf } from './compilation.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import { reader } from './frame-code.ts';
import { operation } from './operators.ts';

type Literal = n.Const | n.TupleNode | n.ListNode | n.DictNode | n.TemplateData;
type Computed = Exclude<n.Expr, Literal | n.Name | n.NSRef | n.SliceNode>;

export function expression(c: Compilation, node: n.Expr, frame: Frame): Evaluate {
  c.parts++;
  switch (node.type) {
    case 'Const':
      return constantCode(node.value);
    case 'Name':
      return nameCode(node, frame);
    case 'Tuple': {
      const items = node.items.map((item) => c.expression(item, frame));
      return (a) => {
        a.ctx.budget.list(items.length);
        return new Tuple(items.map((item) => item(a)));
      };
    }
    case 'List': {
      const items = node.items.map((item) => c.expression(item, frame));
      return (a) => {
        a.ctx.budget.list(items.length);
        return items.map((item) => item(a));
      };
    }
    case 'Dict':
      // Jinja2 folds within computed expressions, in branches that never run too: an unhashable
      // constant key fails here.
      if (c.computing > 0) c.folder.foldSafe(node);
      return dictCode(c, node, frame);
    case 'TemplateData': {
      const { data } = node;
      return (a) => (a.ctx.evalCtx.autoescape ? new Markup(data) : data);
    }
    case 'NSRef':
    case 'Slice':
      // A slice among several subscripts: Jinja2's Python code does not compile.
      throw locate(new TemplateSyntaxError('invalid syntax', 'SyntaxError'), placeOf(c, node.at));
  }
  const folded = c.folder.foldSafe(node);
  if (folded !== NOT_CONSTANT) return constantCode(folded);
  c.computing++;
  const code = computed(c, node, frame);
  c.computing--;
  return code;
}

function computed(c: Compilation, node: Computed, frame: Frame): Evaluate {
  switch (node.type) {
    case 'Getattr':
      return attributeCode(c, node, frame);
    case 'Getitem':
      return itemCode(c, node, frame);
    case 'Call':
      return callCode(c, node, frame, null);
    case 'Filter':
      return filterCode(c, node, frame, null);
    case 'Test':
      return testCode(c, node, frame);
    default:
      return operation(c, node, frame);
  }
}

function dictCode(c: Compilation, node: n.DictNode, frame: Frame): Evaluate {
  const pairs = node.items.map(
    (pair) => [c.expression(pair.key, frame), c.expression(pair.value, frame)] as const,
  );
  return located(c, node.at, (a) => {
    a.ctx.budget.step(8 + pairs.length * 4);
    // Every key and value is evaluated before the first one is stored: a fault in a later pair
    // comes before an unhashable key.
    const values = pairs.map(([key, value]) => [key(a), value(a)] as const);
    const dict = new Dict();
    for (const [key, value] of values) {
      payForKey(a.ctx.budget, key);
      dict.set(key, value);
    }
    return dict;
  });
}

function nameCode(node: n.Name, frame: Frame): Evaluate {
  const { name } = node;
  const slot = frame.symbols.ref(name);
  if (slot.scope === frame.symbols.scope) {
    const { index } = slot;
    return (a) => {
      const value = a.vars[index];
      return value === undefined ? a.ctx.undefined(name) : value;
    };
  }
  const read = reader(slot, frame);
  return (a) => {
    const value = read(a);
    return value === undefined ? a.ctx.undefined(name) : value;
  };
}

function attributeCode(c: Compilation, node: n.Getattr, frame: Frame): Evaluate {
  const inner = c.expression(node.node, frame);
  const { attr } = node;
  const place = placeOf(c, node.at);
  // Attributes come before items in Python; for a dict only its methods are attributes, so most
  // names skip the tables.
  const direct = !isDictMethod(attr) && !attr.startsWith('__');
  return (a) => {
    const value = inner(a);
    if (direct && typeof value === 'object' && value !== null) {
      if (!(value instanceof PyObject)) {
        if (!Array.isArray(value) && Object.hasOwn(value, attr)) {
          const found = (value as Record<string, Value>)[attr];
          if (found !== undefined) return found;
        }
      } else if (value instanceof Dict) {
        const found = value.get(attr);
        if (found !== undefined) return found;
      } else if (value instanceof LoopContext) {
        const found = value.attribute(a.ctx, attr);
        if (found !== undefined) return found;
      }
    }
    try {
      return getAttribute(a.ctx, value, attr);
    } catch (error) {
      throw locate(error, place);
    }
  };
}

function itemCode(c: Compilation, node: n.Getitem, frame: Frame): Evaluate {
  const inner = c.expression(node.node, frame);
  const { arg } = node;
  if (arg.type === 'Slice') {
    const [start, stop, step] = [arg.start, arg.stop, arg.step].map((part) =>
      part === null ? () => null : c.expression(part, frame),
    ) as [Evaluate, Evaluate, Evaluate];
    return located(c, node.at, (a) => slice(a.ctx, inner(a), start(a), stop(a), step(a)));
  }
  const key = c.expression(arg, frame);
  return located(c, node.at, (a) => getItem(a.ctx, inner(a), key(a)));
}
