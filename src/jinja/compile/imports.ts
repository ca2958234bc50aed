// Statements that use other templates: include, import, from … import. Called by statements.ts.
import { locate } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type { TemplateModule } from '../runtime/module.ts';
import type * as n from '../syntax/nodes.ts';
import { quote } from '../values/repr.ts';
import type { Value } from '../values/types.ts';
import { type Compilation, type Execute, lineOf, NEXT, placeOf } from './compilation.ts';
import type { Frame } from './frame.ts';
import { localsOf, publishNames, readsOf } from './variables.ts';

export function include(c: Compilation, node: n.Include, frame: Frame): Execute {
  const name = c.expression(node.template, frame);
  const list = node.template.type === 'List' || node.template.type === 'Tuple';
  const single = node.template.type === 'Const' && typeof node.template.value === 'string';
  const locals = localsOf(c, frame);
  const place = placeOf(c, node.at);
  const { ignoreMissing, withContext } = node;
  return (a) => {
    try {
      const wanted = name(a);
      const template = c.env.includeFor(
        a.ctx,
        wanted,
        list ? 'list' : single ? 'name' : 'either',
        ignoreMissing,
      );
      if (template === null) return NEXT;
      if (withContext) template.renderInto(a.ctx, a.ctx.seenWith(locals(a)));
      else {
        // Jinja2 forgets that it may be inside a {% filter %} or {% set %} block here and writes
        // past it.
        const { body } = template.moduleFor(a.ctx) as TemplateModule;
        if (a.outer === null) a.ctx.budget.writeAround(body, a.captures);
        else a.ctx.budget.write(body);
      }
      return NEXT;
    } catch (error) {
      throw locate(error, place);
    }
  };
}

function imported(
  c: Compilation,
  node: n.Import | n.FromImport,
  frame: Frame,
): (a: Activation) => TemplateModule {
  const name = c.expression(node.template, frame);
  const reads = readsOf(c, frame);
  const locals = (a: Activation): Map<string, Value> => {
    a.ctx.budget.step(reads.size * 4);
    const out = new Map<string, Value>();
    for (const [name, read] of reads) out.set(name, read(a));
    return out;
  };
  const { withContext } = node;
  const place = placeOf(c, node.at);
  return (a) => {
    try {
      const template = c.env.templateFor(a.ctx, name(a));
      return (
        withContext
          ? template.makeModule(a.ctx, a.ctx.snapshotWith(locals(a)))
          : template.moduleFor(a.ctx)
      ) as TemplateModule;
    } catch (error) {
      throw locate(error, place);
    }
  };
}

export function importStatement(c: Compilation, node: n.Import, frame: Frame): Execute {
  const module = imported(c, node, frame);
  const { index } = frame.symbols.ref(node.target);
  const publish = frame.toplevel ? publishNames([node.target], frame, false) : null;
  return (a) => {
    a.vars[index] = module(a);
    publish?.(a);
    return NEXT;
  };
}

export function fromImport(c: Compilation, node: n.FromImport, frame: Frame): Execute {
  const module = imported(c, node, frame);
  const names = node.names.map(({ name, alias }) => ({
    name,
    index: frame.symbols.ref(alias).index,
  }));
  const publish = frame.toplevel
    ? publishNames(
        node.names.map(({ alias }) => alias),
        frame,
        false,
      )
    : null;
  const position = `line ${lineOf(c, node.at)}${c.source.name === null ? '' : ` in ${quote(c.source.name)}`}`;
  return (a) => {
    const from = module(a);
    for (const { name, index } of names) {
      const found = from.attribute(a.ctx, name);
      const hint = `the template ${from.name === null ? 'None' : quote(from.name)} (imported on ${position}) does not export the requested name ${quote(name)}`;
      a.vars[index] = found === undefined ? a.ctx.undefinedBecause(hint, name) : found;
    }
    publish?.(a);
    return NEXT;
  };
}
