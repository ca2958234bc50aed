// Every error the engine throws. Raised below (lexer, parser, runtime), located by compile/, shown
// by the caller of Template.render.

/** Where in a template something went wrong; lines and columns count from 1. */
export interface Location {
  templateName: string | null;
  source: string;
  offset: number;
}

/** Base of all errors of the engine. `typeName` is the name Python's Jinja2 would show. */
export class TemplateError extends Error {
  readonly typeName: string;
  templateName: string | null = null;
  line: number | null = null;
  column: number | null = null;
  /** The source line with a caret under the column, or null if the position is not known. */
  excerpt: string | null = null;

  constructor(typeName: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.typeName = typeName;
    this.name = typeName;
  }

  /** The message with its position and the caret excerpt, for people. */
  describe(): string {
    const place =
      this.line === null
        ? ''
        : `${this.templateName ?? '<template>'}:${this.line}:${this.column}: `;
    return `${place}${this.typeName}: ${this.message}${this.excerpt === null ? '' : `\n${this.excerpt}`}`;
  }
}

export class TemplateSyntaxError extends TemplateError {
  constructor(message: string, typeName = 'TemplateSyntaxError') {
    super(typeName, message);
  }
}

/**
 * A fault found while compiling that is not a syntax error: an unknown filter, a block defined
 * twice.
 */
export class TemplateAssertionError extends TemplateSyntaxError {
  constructor(message: string) {
    super(message, 'TemplateAssertionError');
  }
}

export class TemplateNotFound extends TemplateError {
  readonly templates: string[];
  constructor(message: string, templates: string[], typeName = 'TemplateNotFound') {
    super(typeName, message);
    this.templates = templates;
  }
}

/** Something that a template refers to and that does not exist, found before it renders. */
export class UnknownReference extends TemplateAssertionError {
  readonly kind: 'template' | 'block' | 'parent block' | 'macro';
  readonly wanted: string;
  /** What exists of its kind. */
  readonly known: readonly string[];
  constructor(kind: UnknownReference['kind'], wanted: string, known: readonly string[]) {
    super(`there is no ${kind} ${JSON.stringify(wanted)}`);
    this.kind = kind;
    this.wanted = wanted;
    this.known = known;
  }
}

/**
 * Anything that goes wrong while rendering; Python's own exceptions (TypeError, ValueError …) use
 * this class too.
 */
export class TemplateRuntimeError extends TemplateError {
  constructor(message: string, typeName = 'TemplateRuntimeError', cause?: unknown) {
    super(typeName, message, cause);
  }
}

export class UndefinedError extends TemplateRuntimeError {
  constructor(message: string) {
    super(message, 'UndefinedError');
  }
}

export class SecurityError extends TemplateRuntimeError {
  constructor(message: string) {
    super(message, 'SecurityError');
  }
}

/** A render went over its budget. `limit` names the limit that stopped it. */
export class LimitExceeded extends TemplateRuntimeError {
  readonly limit: string;
  constructor(limit: string, message: string) {
    // Python stops runaway recursion with RecursionError; people search for that name.
    super(message, limit === 'depth' ? 'RecursionError' : 'LimitExceeded');
    this.limit = limit;
  }
}

export const typeError = (message: string) => new TemplateRuntimeError(message, 'TypeError');
export const valueError = (message: string) => new TemplateRuntimeError(message, 'ValueError');
export const overflowError = (message: string) =>
  new TemplateRuntimeError(message, 'OverflowError');
export const attributeError = (message: string) =>
  new TemplateRuntimeError(message, 'AttributeError');
export const indexError = (message: string) => new TemplateRuntimeError(message, 'IndexError');
export const keyError = (message: string) => new TemplateRuntimeError(message, 'KeyError');
export const zeroDivision = (message: string) =>
  new TemplateRuntimeError(message, 'ZeroDivisionError');
export const filterArgumentError = (message: string) =>
  new TemplateRuntimeError(message, 'FilterArgumentError');

/** Python's RecursionError: nesting deeper than the engine follows. */
export const tooDeep = (what: string) =>
  new LimitExceeded('depth', `maximum recursion depth exceeded (${what})`);

/**
 * Thrown when a template is about to change data it was given: the render starts over with a copy
 * of that data.
 */
export class NeedsOwnData extends Error {}

/** Gives an error its position, once: the innermost expression that failed wins. */
export function locate(error: unknown, at: Location): unknown {
  let found = error;
  // V8 reports an exhausted stack as a RangeError; for us it is one more way to exceed the depth
  // limit.
  if (error instanceof RangeError && /call stack/i.test(error.message)) found = tooDeep('stack');
  else if (
    error instanceof Error &&
    !(error instanceof TemplateError) &&
    !(error instanceof NeedsOwnData)
  )
    // A getter or function of the host failed while we called it.
    found = new TemplateRuntimeError(error.message, 'Error', error);
  if (!(found instanceof TemplateError) || found.line !== null) return found;
  const before = at.source.slice(0, at.offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  let line = 1;
  for (let i = before.indexOf('\n'); i !== -1; i = before.indexOf('\n', i + 1)) line++;
  found.templateName = at.templateName;
  found.line = line;
  found.column = at.offset - lineStart + 1;
  found.excerpt = excerptAt(at.source, line, lineStart, at.offset - lineStart);
  return found;
}

/** Long lines are cut to a window around the caret. */
function excerptAt(source: string, line: number, lineStart: number, column: number): string {
  const lineEnd = source.indexOf('\n', lineStart);
  const text = source.slice(lineStart, lineEnd === -1 ? source.length : lineEnd);
  const from = Math.max(0, column - 60);
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, from + 120)}${text.length > from + 120 ? '…' : ''}`;
  const gutter = `${line} | `;
  const margin = ' '.repeat(gutter.length - 2);
  const caret = ' '.repeat(column - from + (from > 0 ? 1 : 0));
  return `${gutter}${shown.replace(/[\t\r]/g, ' ')}\n${margin}| ${caret}^`;
}
