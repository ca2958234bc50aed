// Texts and lists that a render makes: each is paid for as it grows, before it exists. All code
// that builds one whose size a template or its data decides does so here, with Budget.text() or
// with Budget.list().
import type { Budget } from '../budget.ts';
import { Markup, type Value } from './types.ts';

/**
 * V8 is made to join the pieces after this many: it keeps 32 bytes beside each until the text is
 * read.
 */
const PIECES = 512;

/** A text put together from pieces. */
export class TextBuilder {
  private readonly budget: Budget;
  private done = '';
  private recent = '';
  private pieces = 0;
  private size = 0;
  private unpaid = 0;

  constructor(budget: Budget) {
    this.budget = budget;
  }

  get length(): number {
    return this.size;
  }

  add(piece: string): void {
    this.size += piece.length;
    this.unpaid += piece.length;
    if (this.size > this.budget.limits.stringLength) this.budget.text(this.size);
    if (this.unpaid > 255) {
      this.budget.text(this.unpaid);
      this.unpaid = 0;
    }
    this.recent += piece;
    if (++this.pieces < PIECES) return;
    // Reading a character makes V8 join the pieces.
    this.recent.charCodeAt(0);
    this.done += this.recent;
    this.recent = '';
    this.pieces = 0;
  }

  toString(): string {
    return this.done + this.recent;
  }
}

/** parts.join(mark) */
export function joined(budget: Budget, parts: readonly string[], mark: string): string {
  let size = mark.length * Math.max(0, parts.length - 1);
  for (const part of parts) size += part.length;
  budget.text(size);
  budget.step(parts.length >> 3);
  return parts.join(mark);
}

/** What case-insensitive sorting and grouping compare: a copy in lower case. */
export function ignoreCase(budget: Budget, value: Value): Value {
  if (typeof value === 'string') {
    budget.text(value.length);
    return value.toLowerCase();
  }
  if (!(value instanceof Markup)) return value;
  budget.text(value.text.length);
  return new Markup(value.text.toLowerCase());
}
