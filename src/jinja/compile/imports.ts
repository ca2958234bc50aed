// Statements that bring in other templates: include, import, from … import. After inheritance.ts, before functions.ts.
import { locate } from '../errors.ts';
import type { Activation } from '../runtime/activation.ts';
import type { TemplateModule } from '../runtime/module.ts';
import type * as n from '../syntax/nodes.ts';
import { quote } from '../values/repr.ts';
import type { Value } from '../values/types.ts';
import type { Frame } from './frame.ts';
import { InheritanceCompiler } from './inheritance.ts';
import { type Execute, NEXT } from './statements.ts';

export abstract class ImportCompiler extends InheritanceCompiler {
  protected include(node: n.Include, frame: Frame): Execute {
    const name = this.expression(node.template, frame);
    const list = node.template.type === 'List' || node.template.type === 'Tuple';
    const single = node.template.type === 'Const' && typeof node.template.value === 'string';
    const locals = this.locals(frame);
    const place = this.place(node.at);
    const { ignoreMissing, withContext } = node;
    return (a) => {
      try {
        const wanted = name(a);
        const template = this.env.includeFor(
          a.ctx,
          wanted,
          list ? 'list' : single ? 'name' : 'either',
          ignoreMissing,
        );
        if (template === null) return NEXT;
        if (withContext) template.renderInto(a.ctx, a.ctx.seenWith(locals(a)));
        else {
          // Jinja2 forgets that it may be inside a {% filter %} or {% set %} block here and writes past it.
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

  private imported(node: n.Import | n.FromImport, frame: Frame): (a: Activation) => TemplateModule {
    const name = this.expression(node.template, frame);
    const reads = this.readsOf(frame);
    const locals = (a: Activation): Map<string, Value> => {
      a.ctx.budget.step(reads.size * 4);
      const out = new Map<string, Value>();
      for (const [name, read] of reads) out.set(name, read(a));
      return out;
    };
    const { withContext } = node;
    const place = this.place(node.at);
    return (a) => {
      try {
        const template = this.env.templateFor(a.ctx, name(a));
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

  protected importStatement(node: n.Import, frame: Frame): Execute {
    const module = this.imported(node, frame);
    const { index } = frame.symbols.ref(node.target);
    const publish = frame.toplevel ? this.publishNames([node.target], frame, false) : null;
    return (a) => {
      a.vars[index] = module(a);
      publish?.(a);
      return NEXT;
    };
  }

  protected fromImport(node: n.FromImport, frame: Frame): Execute {
    const module = this.imported(node, frame);
    const names = node.names.map(({ name, alias }) => ({
      name,
      index: frame.symbols.ref(alias).index,
    }));
    const publish = frame.toplevel
      ? this.publishNames(
          node.names.map(({ alias }) => alias),
          frame,
          false,
        )
      : null;
    const position = `line ${this.lineOf(node.at)}${this.source.name === null ? '' : ` in ${quote(this.source.name)}`}`;
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
}
