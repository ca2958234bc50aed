// Statements to closures, one after another: which file compiles which. Statements with a body come
// here through `c.body`.
import { locate, TemplateSyntaxError } from '../errors.ts';
import type * as n from '../syntax/nodes.ts';
import { autoescapeBlock, filterBlock, ifStatement, withStatement } from './bodies.ts';
import {
  BREAK,
  CONTINUE,
  type Compilation,
  type Execute,
  NEXT,
  placeOf,
  weighed,
} from './compilation.ts';
import type { Frame } from './frame.ts';
import { fromImport, importStatement, include } from './imports.ts';
import { block, extendsStatement } from './inheritance.ts';
import { forLoop } from './loops.ts';
import { callBlock, macro } from './macros.ts';
import { output } from './output.ts';
import { assign, assignBlock } from './variables.ts';

/**
 * Statements one after another. Long bodies are paid for as a whole: not every statement pays by
 * itself.
 */
export function body(c: Compilation, nodes: n.Stmt[], frame: Frame): Execute {
  const { code, cost } = weighed(c, () => sequence(c, nodes, frame));
  if (cost === 0) return code;
  return (a) => {
    a.ctx.budget.step(cost);
    return code(a);
  };
}

function sequence(c: Compilation, nodes: n.Stmt[], frame: Frame): Execute {
  const statements: Execute[] = [];
  for (const node of nodes) {
    const code = statement(c, node, frame);
    if (code !== null) statements.push(code);
    if (c.deadCode) break;
  }
  c.deadCode = false;
  if (statements.length === 0) return () => NEXT;
  if (statements.length === 1) return statements[0]!;
  if (statements.length === 2) {
    const [first, second] = statements as [Execute, Execute];
    return (a) => first(a) || second(a);
  }
  return (a) => {
    for (let i = 0; i < statements.length; i++) {
      const signal = statements[i]!(a);
      if (signal !== NEXT) return signal;
    }
    return NEXT;
  };
}

function statement(c: Compilation, node: n.Stmt, frame: Frame): Execute | null {
  c.parts++;
  switch (node.type) {
    case 'Output':
      return output(c, node, frame);
    case 'If':
      return ifStatement(c, node, frame);
    case 'For':
      return forLoop(c, node, frame);
    case 'Macro':
      return macro(c, node, frame);
    case 'CallBlock':
      return callBlock(c, node, frame);
    case 'FilterBlock':
      return filterBlock(c, node, frame);
    case 'With':
      return withStatement(c, node, frame);
    case 'Block':
      return block(c, node, frame);
    case 'Extends':
      return extendsStatement(c, node, frame);
    case 'Include':
      return include(c, node, frame);
    case 'Import':
      return importStatement(c, node, frame);
    case 'FromImport':
      return fromImport(c, node, frame);
    case 'Assign':
      return assign(c, node, frame);
    case 'AssignBlock':
      return assignBlock(c, node, frame);
    case 'Autoescape':
      return autoescapeBlock(c, node, frame);
    case 'ExprStmt': {
      const run = c.expression(node.node, frame);
      return (a) => {
        run(a);
        return NEXT;
      };
    }
    case 'Break':
    case 'Continue': {
      const word = node.type.toLowerCase();
      if (!frame.inLoop) {
        const message =
          word === 'break' ? "'break' outside loop" : "'continue' not properly in loop";
        throw locate(new TemplateSyntaxError(message, 'SyntaxError'), placeOf(c, node.at));
      }
      const signal = node.type === 'Break' ? BREAK : CONTINUE;
      return () => signal;
    }
  }
}
