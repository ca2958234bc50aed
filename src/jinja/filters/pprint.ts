// The pprint filter: pprint.pformat at width 80, dictionaries sorted.

import { LimitExceeded, TemplateError, tooDeep } from '../errors.ts';
import type { Context } from '../running.ts';
import { joined } from '../values/building.ts';
import { ordered, sortBy } from '../values/compare.ts';
import { type Dict, dictEntries, isDict } from '../values/dict.ts';
import { quote, repr } from '../values/repr.ts';
import { splitLines, textLength } from '../values/text.ts';
import { GroupTuple, orNone, Tuple, typeName, type Value } from '../values/types.ts';

const WIDTH = 80;
const MOST_NESTING = 100;

export function pformat(ctx: Context, value: Value): string {
  const text = new PrettyPrinter(ctx).format(value, 0, 0, 0);
  ctx.budget.text(text.length);
  return text;
}

type AnyDict = Dict | Record<string, Value>;

class PrettyPrinter {
  private readonly ctx: Context;
  private readonly open: object[] = [];
  constructor(ctx: Context) {
    this.ctx = ctx;
  }

  format(value: Value, indent: number, allowance: number, level: number): string {
    if (level > MOST_NESTING) throw tooDeep('while pretty-printing');
    if (this.isOpen(value)) return recursion(value);
    const flat = this.flat(value);
    this.ctx.budget.text(flat.length);
    if (textLength(flat) <= WIDTH - indent - allowance) return flat;
    if (typeof value === 'string') return this.string(value, indent, allowance, level + 1);
    if (typeof value !== 'object' || value === null || value instanceof GroupTuple) return flat;
    if (Array.isArray(value))
      return this.within(value, () => `[${this.items(value, indent, allowance + 1, level + 1)}]`);
    if (value instanceof Tuple) {
      const end = value.items.length === 1 ? ',)' : ')';
      return this.within(
        value,
        () => `(${this.items(value.items, indent, allowance + end.length, level + 1)}${end}`,
      );
    }
    if (isDict(value))
      return this.within(value, () => `{${this.dict(value, indent, allowance + 1, level + 1)}}`);
    return flat;
  }

  private isOpen(value: Value): boolean {
    return typeof value === 'object' && value !== null && this.open.includes(value);
  }
  private within(value: object, write: () => string): string {
    this.open.push(value);
    const text = write();
    this.open.pop();
    return text;
  }

  /** repr on one line, dictionaries sorted. */
  private flat(value: Value): string {
    const { budget } = this.ctx;
    if (typeof value !== 'object' || value === null || value instanceof GroupTuple)
      return repr(budget, value);
    const list = Array.isArray(value) ? value : value instanceof Tuple ? value.items : null;
    if (list === null && !isDict(value)) return repr(budget, value);
    if (this.open.length > MOST_NESTING) throw tooDeep('while pretty-printing');
    if (this.isOpen(value)) return recursion(value);
    return this.within(value, () => {
      if (list === null) {
        const pairs = this.sorted(value as AnyDict).map(
          ([key, item]) => `${this.flat(key)}: ${this.flat(item)}`,
        );
        return `{${joined(budget, pairs, ', ')}}`;
      }
      budget.step(1 + list.length);
      const flat = list.map((item) => this.flat(orNone(item)));
      const parts = joined(budget, flat, ', ');
      return Array.isArray(value) ? `[${parts}]` : `(${parts}${list.length === 1 ? ',' : ''})`;
    });
  }

  private sorted(dict: AnyDict): [Value, Value][] {
    const entries = dictEntries(this.ctx.budget, dict);
    const keys = entries.map(([key]) => key);
    try {
      return sortBy(this.ctx.budget, entries, keys, false) as [Value, Value][];
    } catch (error) {
      if (!(error instanceof TemplateError) || error.typeName !== 'TypeError') throw error;
      // Keys of different types: by type name, then among themselves.
      const ranked = keys.map((key) =>
        key === null ? "<class 'NoneType'>" : `<class '${typeName(key)}'>`,
      );
      const order = entries.map((_, i) => i);
      this.ctx.budget.step(order.length * 2 * Math.ceil(Math.log2(order.length + 1)));
      order.sort((i, j) =>
        this.less(keys[i], keys[j])
          ? -1
          : this.less(keys[j], keys[i])
            ? 1
            : ranked[i]! < ranked[j]!
              ? -1
              : 1,
      );
      return order.map((i) => entries[i]!);
    }
  }
  private less(a: Value, b: Value): boolean {
    // Called for every pair, so it avoids an error where one is predictable.
    if (typeof a !== typeof b && (typeof a === 'string' || typeof b === 'string')) return false;
    if (a === null || b === null) return false;
    try {
      return ordered(this.ctx.budget, '<', a, b);
    } catch (error) {
      if (error instanceof LimitExceeded) throw error;
      this.ctx.budget.step(20);
      return false;
    }
  }

  private items(items: Value[], indent: number, allowance: number, level: number): string {
    const at = indent + 1;
    const parts = items.map((item, i) =>
      this.format(orNone(item), at, i === items.length - 1 ? allowance : 1, level),
    );
    return this.lines(parts, ',', at);
  }

  private dict(dict: AnyDict, indent: number, allowance: number, level: number): string {
    const at = indent + 1;
    const entries = this.sorted(dict);
    const parts = entries.map(([key, value], i) => {
      const shown = this.flat(key);
      const last = i === entries.length - 1;
      return `${shown}: ${this.format(value, at + textLength(shown) + 2, last ? allowance : 1, level)}`;
    });
    return this.lines(parts, ',', at);
  }

  /**
   * One below the other, indented as far as the value they belong to, which may be as long as any
   * text.
   */
  private lines(parts: string[], mark: string, indent: number): string {
    return joined(this.ctx.budget, parts, `${mark}\n${' '.repeat(indent)}`);
  }

  /** A long string, cut after white space into quoted lines. */
  private string(
    value: string,
    indentBefore: number,
    allowanceBefore: number,
    level: number,
  ): string {
    const indent = level === 1 ? indentBefore + 1 : indentBefore;
    const allowance = level === 1 ? allowanceBefore + 1 : allowanceBefore;
    const width = WIDTH - indent;
    const lines = splitLines(value, true);
    this.ctx.budget.text(value.length * 2);
    const chunks: string[] = [];
    for (const [i, line] of lines.entries()) {
      const lastLine = i === lines.length - 1;
      const whole = quote(line);
      if (textLength(whole) <= width - (lastLine ? allowance : 0)) {
        chunks.push(whole);
        continue;
      }
      const parts = line
        .match(
          /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*/g,
        )!
        .filter((part) => part !== '');
      let current = '';
      for (const [j, part] of parts.entries()) {
        this.ctx.budget.step(2);
        const limit = width - (lastLine && j === parts.length - 1 ? allowance : 0);
        if (textLength(quote(current + part)) > limit) {
          if (current !== '') chunks.push(quote(current));
          current = part;
        } else current += part;
      }
      if (current !== '') chunks.push(quote(current));
    }
    if (chunks.length === 1) return quote(value);
    const all = this.lines(chunks, '', indent);
    return level === 1 ? `(${all})` : all;
  }
}

const recursion = (value: Value): string => `<Recursion on ${typeName(value)} with id=0>`;
