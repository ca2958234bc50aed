// The tree of a template to closures: the front door of compile/. Before it: syntax/parser.ts.
// After it: template.ts runs them.
import type { CompiledTemplate, Engine } from '../running.ts';
import type * as n from '../syntax/nodes.ts';
import { newCompilation, type Source } from './compilation.ts';
import { expression } from './expressions.ts';
import { templateCode } from './inheritance.ts';
import { body } from './statements.ts';

export function compileTemplate(env: Engine, source: Source, nodes: n.Stmt[]): CompiledTemplate {
  return templateCode(newCompilation(env, source, { expression, body }), nodes);
}
