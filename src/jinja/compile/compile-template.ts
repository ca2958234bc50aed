// The tree of a template to closures: the front door of compile/. Before it: syntax/parser.ts. After it: template.ts runs them.
import type { Environment } from '../environment.ts';
import type * as n from '../syntax/nodes.ts';
import { newCompilation, type Source } from './compilation.ts';
import { expression } from './expressions.ts';
import { type CompiledTemplate, templateCode } from './inheritance.ts';
import { body } from './statements.ts';

export function compileTemplate(
  env: Environment,
  source: Source,
  nodes: n.Stmt[],
): CompiledTemplate {
  return templateCode(newCompilation(env, source, { expression, body }), nodes);
}
