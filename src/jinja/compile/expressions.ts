// Expression trees to closures: literals, names, attributes and items; operators and calls are those of the classes before.
// After calls.ts, before statements.ts.
import { locate, TemplateSyntaxError } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import { LoopContext } from '../runtime/loop.ts';
import type * as n from '../syntax/nodes.ts';
import { getAttribute, getItem, isDictMethod, slice } from '../values/access.ts';
import { Dict, payForKey } from '../values/dict.ts';
import { Markup, PyObject, Tuple, type Value } from '../values/types.ts';
import { CallCompiler } from './calls.ts';
import type { Evaluate } from './compiler.ts';
import { NOT_CONSTANT } from './constants.ts';
import type { Frame } from './frame.ts';
import type { Slot } from './symbols.ts';

type Literal = n.Const | n.TupleNode | n.ListNode | n.DictNode | n.TemplateData;
type Computed = Exclude<n.Expr, Literal | n.Name | n.NSRef | n.SliceNode>;

export abstract class ExpressionCompiler extends CallCompiler {
  /** How many computed expressions stand around the one that is compiled. */
  private computing = 0;

  expression(node: n.Expr, frame: Frame): Evaluate {
    this.parts++;
    switch (node.type) {
      case 'Const':
        return this.constant(node.value);
      case 'Name':
        return this.name(node, frame);
      case 'Tuple': {
        const items = node.items.map((item) => this.expression(item, frame));
        return (a) => {
          a.ctx.budget.list(items.length);
          return new Tuple(items.map((item) => item(a)));
        };
      }
      case 'List': {
        const items = node.items.map((item) => this.expression(item, frame));
        return (a) => {
          a.ctx.budget.list(items.length);
          return items.map((item) => item(a));
        };
      }
      case 'Dict':
        // Jinja2 folds within computed expressions, in branches that never run too: an unhashable constant key fails here.
        if (this.computing > 0) this.folder.foldSafe(node);
        return this.dict(node, frame);
      case 'TemplateData': {
        const { data } = node;
        return (a) => (a.ctx.evalCtx.autoescape ? new Markup(data) : data);
      }
      case 'NSRef':
      case 'Slice':
        // A slice among several subscripts: Jinja2's Python code does not compile.
        throw locate(new TemplateSyntaxError('invalid syntax', 'SyntaxError'), this.place(node.at));
    }
    const folded = this.folder.foldSafe(node);
    if (folded !== NOT_CONSTANT) return this.constant(folded);
    this.computing++;
    const computed = this.computed(node, frame);
    this.computing--;
    return computed;
  }

  private computed(node: Computed, frame: Frame): Evaluate {
    switch (node.type) {
      case 'Getattr':
        return this.getattr(node, frame);
      case 'Getitem':
        return this.getitem(node, frame);
      case 'Call':
        return this.call(node, frame, null);
      case 'Filter':
        return this.filter(node, frame, null);
      case 'Test':
        return this.test(node, frame);
      default:
        return this.operation(node, frame);
    }
  }

  private dict(node: n.DictNode, frame: Frame): Evaluate {
    const pairs = node.items.map(
      (pair) => [this.expression(pair.key, frame), this.expression(pair.value, frame)] as const,
    );
    return this.located(node.at, (a) => {
      a.ctx.budget.step(8 + pairs.length * 4);
      // Every key and value is evaluated before the first one is stored: a fault in a later pair comes before an unhashable key.
      const values = pairs.map(([key, value]) => [key(a), value(a)] as const);
      const dict = new Dict();
      for (const [key, value] of values) {
        payForKey(a.ctx.budget, key);
        dict.set(key, value);
      }
      return dict;
    });
  }

  private name(node: n.Name, frame: Frame): Evaluate {
    const { name } = node;
    const slot = frame.symbols.ref(name);
    if (slot.scope === frame.symbols.scope) {
      const { index } = slot;
      return (a) => {
        const value = a.vars[index];
        return value === undefined ? a.ctx.undefined(name) : value;
      };
    }
    const read = this.read(slot, frame);
    return (a) => {
      const value = read(a);
      return value === undefined ? a.ctx.undefined(name) : value;
    };
  }

  /** The closure that reads a variable; undefined while it has no value. */
  protected read(slot: Slot, frame: Frame): (a: Activation) => Value | undefined {
    const { index } = slot;
    let hops = 0;
    for (let scope = frame.symbols.scope; scope !== slot.scope; scope = scope.outer!) hops++;
    if (hops === 0) return (a) => a.vars[index];
    if (hops === 1) return (a) => a.outer!.vars[index];
    return (a) => {
      let home = a;
      for (let i = 0; i < hops; i++) home = home.outer!;
      return home.vars[index];
    };
  }

  private getattr(node: n.Getattr, frame: Frame): Evaluate {
    const inner = this.expression(node.node, frame);
    const { attr } = node;
    const place = this.place(node.at);
    // Attributes come before items in Python; for a dict only its methods are attributes, so most names skip the tables.
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

  private getitem(node: n.Getitem, frame: Frame): Evaluate {
    const inner = this.expression(node.node, frame);
    const { arg } = node;
    if (arg.type === 'Slice') {
      const [start, stop, step] = [arg.start, arg.stop, arg.step].map((part) =>
        part === null ? () => null : this.expression(part, frame),
      ) as [Evaluate, Evaluate, Evaluate];
      return this.located(node.at, (a) => slice(a.ctx, inner(a), start(a), stop(a), step(a)));
    }
    const key = this.expression(arg, frame);
    return this.located(node.at, (a) => getItem(a.ctx, inner(a), key(a)));
  }
}
