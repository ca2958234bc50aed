// What a template refers to but does not exist: parents, includes, imports, blocks, macros. Jinja2
// reports it when it renders, or never: a block that no parent has is dropped silently. Before it:
// the template was compiled. After it: the person who saves the template learns the line and what
// exists. Only names written in the source are checked, not those computed while rendering.
import type { Environment } from './environment.ts';
import { locate, UnknownReference } from './errors.ts';
import type * as n from './syntax/nodes.ts';
import { children, descendants } from './syntax/nodes.ts';
import { parseTemplate } from './syntax/parser.ts';
import type { Template } from './template.ts';

/** Names the engine itself sets, in blocks, macros and loops. */
const ALWAYS = ['self', 'super', 'loop', 'caller', 'varargs', 'kwargs'];

/** `given`: names that every render has. Throws the first UnknownReference, with its position. */
export function checkReferences(
  env: Environment,
  template: Template,
  given: Iterable<string> = [],
): void {
  const { source, body } = parsed(env, template);
  const outline = outlineOf(body);
  const above = aboveOf(env, outline.parents, new Set());
  const names: Names = {
    blocks: new Set([...above.blocks, ...outline.blocks]),
    callable: new Set([...outline.stored, ...above.exports, ...env.globals.keys(), ...given]),
    modules: modulesOf(env, body),
  };
  for (const { node, within } of placed(body)) {
    const wrong =
      missingTemplate(env, node) ??
      missingBlock(above, outline, names, node, within) ??
      missingMacro(env, names, node);
    if (wrong === undefined) continue;
    throw locate(wrong, { templateName: template.name, source, offset: node.at });
  }
}

interface Names {
  blocks: ReadonlySet<string>;
  callable: ReadonlySet<string>;
  /**
   * The exports of each imported template by its name here; names also used for something else are
   * left out.
   */
  modules: ReadonlyMap<string, ReadonlySet<string>>;
}

/** What one template declares. */
interface Outline {
  /** What it certainly extends; null if that is known only while rendering. */
  parents: readonly string[] | null;
  blocks: ReadonlySet<string>;
  /** Names an importing template can use. */
  exports: ReadonlySet<string>;
  /** Every name that is set anywhere in it. */
  stored: ReadonlySet<string>;
}

function outlineOf(body: n.Stmt[]): Outline {
  const blocks = new Set<string>();
  const stored = new Set<string>();
  let extending = 0;
  for (const node of descendants(body)) {
    if (node.type === 'Block') blocks.add(node.name);
    if (node.type === 'Extends') extending++;
    for (const name of storedBy(node)) stored.add(name);
  }
  const [first] = body.filter((node) => node.type === 'Extends');
  const wanted = first && wantedBy(first.template);
  const certain = wanted?.isCertain === true && extending === 1;
  const parents = extending === 0 ? [] : certain ? wanted.anyOf.flat() : null;
  return { parents, blocks, stored, exports: exportsOf(body) };
}

function storedBy(node: n.Node): string[] {
  if (node.type === 'Name') return node.ctx === 'load' ? [] : [node.name];
  if (node.type === 'Macro') return [node.name];
  if (node.type === 'Import') return [node.target];
  return node.type === 'FromImport' ? node.names.map(({ alias }) => alias) : [];
}

/** Macros and variables of the top level, including those under an if. */
function exportsOf(body: n.Stmt[]): Set<string> {
  const names = new Set<string>();
  for (const node of body) {
    if (node.type === 'Macro') names.add(node.name);
    if (node.type === 'Assign' || node.type === 'AssignBlock') {
      for (const inside of descendants([node.target])) {
        for (const name of storedBy(inside)) names.add(name);
      }
    }
    if (node.type === 'If') {
      const branches = [node.body, ...node.elif.map((it) => [it]), node.else_] as n.Stmt[][];
      for (const name of branches.flatMap((it) => [...exportsOf(it)])) names.add(name);
    }
  }
  return names;
}

// ---- What is above ------------------------------------------------------------------------------

interface Above {
  /** False where an Outline has null: then no block can be called unknown. */
  isKnown: boolean;
  blocks: Set<string>;
  exports: Set<string>;
}

/** All parents together, up to the root. */
function aboveOf(env: Environment, parents: Outline['parents'], seen: Set<string>): Above {
  const above: Above = { isKnown: parents !== null, blocks: new Set(), exports: new Set() };
  for (const name of parents ?? []) {
    if (seen.has(name) || !env.has(name)) continue;
    seen.add(name);
    const parent = outlineNamed(env, name);
    const higher = aboveOf(env, parent.parents, seen);
    if (!higher.isKnown) above.isKnown = false;
    for (const block of [...parent.blocks, ...higher.blocks]) above.blocks.add(block);
    for (const name of [...parent.exports, ...higher.exports]) above.exports.add(name);
  }
  return above;
}

/** Remembered: a template may name another ten thousand times. */
const outlines = new WeakMap<Template, Outline>();

function outlineNamed(env: Environment, name: string): Outline {
  const template = env.getTemplate(name);
  const outline = outlines.get(template) ?? outlineOf(parsed(env, template).body);
  outlines.set(template, outline);
  return outline;
}

const parsed = (env: Environment, { source, name }: Template) =>
  parseTemplate(source, name, env.syntax, env.extensions);

/** By the name it is imported as; a name that is also set elsewhere may mean anything. */
function modulesOf(env: Environment, body: n.Stmt[]): Map<string, Set<string>> {
  const modules = new Map<string, Set<string>>();
  const otherwise = new Set<string>();
  for (const node of descendants(body)) {
    if (node.type !== 'Import') {
      for (const name of storedBy(node)) otherwise.add(name);
      continue;
    }
    const { isCertain, anyOf } = wantedBy(node.template);
    if (!isCertain) otherwise.add(node.target);
    const exports = modules.get(node.target) ?? new Set();
    for (const name of anyOf.flatMap((names) => [...moduleOf(env, names)])) exports.add(name);
    modules.set(node.target, exports);
  }
  for (const name of otherwise) modules.delete(name);
  return modules;
}

/** What the templates with these names export. */
function moduleOf(env: Environment, names: readonly string[]): Set<string> {
  const exports = new Set<string>();
  for (const name of names.filter((it) => env.has(it))) {
    const { parents, exports: own } = outlineNamed(env, name);
    for (const it of [...own, ...aboveOf(env, parents, new Set()).exports]) exports.add(it);
  }
  return exports;
}

// ---- What is missing ----------------------------------------------------------------------------

/** Templates by their names; one of each entry is enough. */
interface Wanted {
  isCertain: boolean;
  anyOf: string[][];
}

function wantedBy(expr: n.Expr): Wanted {
  if (expr.type === 'Const' && typeof expr.value === 'string') {
    return { isCertain: true, anyOf: [[expr.value]] };
  }
  if (expr.type === 'CondExpr' && expr.expr2 !== null) {
    const [one, other] = [wantedBy(expr.expr1), wantedBy(expr.expr2)];
    return { isCertain: one.isCertain && other.isCertain, anyOf: [...one.anyOf, ...other.anyOf] };
  }
  if (expr.type === 'List' || expr.type === 'Tuple') {
    const all = expr.items.map(wantedBy);
    const isCertain = all.length > 0 && all.every((it) => it.isCertain);
    return { isCertain, anyOf: isCertain ? [all.flatMap(({ anyOf }) => anyOf.flat())] : [] };
  }
  return { isCertain: false, anyOf: [] };
}

function missingTemplate(env: Environment, node: n.Node): UnknownReference | undefined {
  const refers = ['Extends', 'Include', 'Import', 'FromImport'].includes(node.type);
  if (!refers || (node.type === 'Include' && node.ignoreMissing)) return undefined;
  const { anyOf } = wantedBy((node as n.Extends).template);
  const none = anyOf.find((names) => !names.some((name) => env.has(name)));
  if (none === undefined) return undefined;
  return new UnknownReference('template', none[0]!, env.templateNames());
}

/**
 * In a template with a parent, a block must override one of the parent's or be inside another
 * block.
 */
function missingBlock(
  above: Above,
  { parents }: Outline,
  { blocks }: Names,
  node: n.Node,
  within: string | null,
): UnknownReference | undefined {
  if (!above.isKnown || parents === null) return undefined;
  if (node.type === 'Block' && within === null && parents.length > 0) {
    const { name } = node;
    return above.blocks.has(name) ? undefined : unknown('parent block', name, above.blocks);
  }
  if (node.type !== 'Call') return undefined;
  if (isNamed(node.node, 'super')) {
    if (within === null || above.blocks.has(within)) return undefined;
    return unknown('parent block', within, above.blocks);
  }
  if (node.node.type !== 'Getattr' || !isNamed(node.node.node, 'self')) return undefined;
  return blocks.has(node.node.attr) ? undefined : unknown('block', node.node.attr, blocks);
}

function missingMacro(
  env: Environment,
  { modules, callable }: Names,
  node: n.Node,
): UnknownReference | undefined {
  if (node.type === 'FromImport') {
    const { isCertain, anyOf } = wantedBy(node.template);
    const exports = moduleOf(env, anyOf.flat());
    const missing = isCertain ? node.names.find(({ name }) => !exports.has(name)) : undefined;
    return missing && unknown('macro', missing.name, exports);
  }
  if (node.type !== 'Call') return undefined;
  const called = node.node;
  if (called.type === 'Name') {
    const isThere = callable.has(called.name) || ALWAYS.includes(called.name);
    return isThere ? undefined : unknown('macro', called.name, callable);
  }
  if (called.type !== 'Getattr' || called.node.type !== 'Name') return undefined;
  const exports = modules.get(called.node.name);
  const isThere = exports === undefined || exports.has(called.attr);
  return isThere ? undefined : unknown('macro', called.attr, exports);
}

const isNamed = (node: n.Expr, name: string): boolean => node.type === 'Name' && node.name === name;

const unknown = (kind: UnknownReference['kind'], wanted: string, known: Iterable<string>) =>
  new UnknownReference(kind, wanted, [...known]);

/** Every node in order, with the innermost block around it. */
function* placed(body: n.Stmt[]): Generator<{ node: n.Node; within: string | null }> {
  const pending = body.map((node) => ({ node: node as n.Node, within: null as string | null }));
  pending.reverse();
  while (pending.length > 0) {
    const one = pending.pop()!;
    yield one;
    const within = one.node.type === 'Block' ? one.node.name : one.within;
    for (const node of children(one.node).toReversed()) pending.push({ node, within });
  }
}
