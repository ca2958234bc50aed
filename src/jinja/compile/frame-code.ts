// Variables in compiled code: how one is read, and what happens to those of a frame when it is
// entered and left. Above frame.ts and symbols.ts, which say where each variable lives; below every
// statement.
import type { Activation } from '../runtime/activation.ts';
import type { Value } from '../values/types.ts';
import type { Frame } from './frame.ts';
import type { Slot } from './symbols.ts';

/** The closure that reads a variable; undefined while it has no value. */
export function reader(slot: Slot, frame: Frame): (a: Activation) => Value | undefined {
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

/**
 * Gives the variables of a frame their first values. `only` picks loads that can be done once for a
 * whole loop, or the rest.
 */
export function enterFrame(frame: Frame, only?: 'once' | 'each'): (a: Activation) => void {
  const { loads, refs, stores } = frame.symbols;
  const stored = new Set(
    [...refs].filter(([name]) => stores.has(name)).map(([, slot]) => slot.index),
  );
  const resolves: [number, string][] = [];
  const aliases: [number, (a: Activation) => Value | undefined][] = [];
  const clears: number[] = [];
  for (const [index, load] of loads) {
    const once = load.how === 'resolve' && !stored.has(index);
    if (only !== undefined && (only === 'once') !== once) continue;
    if (load.how === 'resolve') resolves.push([index, load.name]);
    else if (load.how === 'alias') aliases.push([index, reader(load.from, frame)]);
    else if (load.how === 'undefined') clears.push(index);
  }
  if (resolves.length + aliases.length + clears.length === 0) return () => {};
  return (a) => {
    const { vars, ctx } = a;
    for (let i = 0; i < resolves.length; i++) vars[resolves[i]![0]] = ctx.resolve(resolves[i]![1]);
    for (let i = 0; i < aliases.length; i++) vars[aliases[i]![0]] = aliases[i]![1](a);
    for (let i = 0; i < clears.length; i++) vars[clears[i]!] = undefined;
  };
}

/** Forgets the variables of a frame that shares its function with code after it. */
export function leaveFrame(frame: Frame): (a: Activation) => void {
  const indexes = [...frame.symbols.loads.keys()];
  return (a) => {
    for (let i = 0; i < indexes.length; i++) a.vars[indexes[i]!] = undefined;
  };
}
