// The value of what does not exist, and the error when it is used anyway. After types.ts.
import { SecurityError, type TemplateError, UndefinedError } from '../errors.ts';
import type { UndefinedKind } from '../running.ts';
import { PyObject } from './types.ts';

export type { UndefinedKind } from '../running.ts';

const CLASS_NAMES = {
  default: 'Undefined',
  chainable: 'ChainableUndefined',
  strict: 'StrictUndefined',
  debug: 'DebugUndefined',
} as const;

/**
 * A name or attribute that does not exist. Printing and iterating it is allowed (unless strict),
 * anything else fails.
 */
export class Undefined extends PyObject {
  readonly kind: UndefinedKind;
  readonly hint: string | null;
  /** Name of the object type that lacks `name`; null for a plain variable. */
  readonly owner: string | null;
  readonly name: string | null;
  /** The name as Python's repr, if it was not a string. */
  readonly element: string | null;
  private readonly unsafe: boolean;

  constructor(
    kind: UndefinedKind,
    options: { hint?: string; owner?: string; name?: string; element?: string; unsafe?: boolean },
  ) {
    super();
    this.kind = kind;
    this.hint = options.hint ?? null;
    this.owner = options.owner ?? null;
    this.name = options.name ?? null;
    this.element = options.element ?? null;
    this.unsafe = options.unsafe ?? false;
  }
  get typeName() {
    return CLASS_NAMES[this.kind];
  }
  override get moduleName() {
    return 'jinja2.runtime';
  }
  message(quote: (text: string) => string): string {
    if (this.hint !== null) return this.hint;
    if (this.owner === null)
      return `${this.name === null ? 'None' : quote(this.name)} is undefined`;
    if (this.element !== null) return `${this.owner} has no element ${this.element}`;
    return `${quote(this.owner)} has no attribute ${quote(this.name ?? '')}`;
  }
  error(): TemplateError {
    return this.unsafe
      ? new SecurityError(this.message(quoteName))
      : new UndefinedError(this.message(quoteName));
  }
  fail(): never {
    throw this.error();
  }
}

/** repr of a name; names that need more than quotes are rare enough to be shown raw. */
const quoteName = (text: string): string =>
  text.includes("'") && !text.includes('"')
    ? `"${text}"`
    : `'${text.replace(/[\\']/g, '\\$&').replace(/\n/g, '\\n')}'`;
