// Front door of the engine: everything a program needs to render Jinja2 templates.
export { defaultLimits, type Limits } from './budget.ts';
export type { HostFunction } from './calls.ts';
export { Environment, type EnvironmentOptions } from './environment.ts';
export {
  LimitExceeded,
  SecurityError,
  TemplateAssertionError,
  TemplateError,
  TemplateNotFound,
  TemplateRuntimeError,
  TemplateSyntaxError,
  UndefinedError,
  UnknownReference,
} from './errors.ts';
export { htmlEntity, unescapeHtml } from './filters/unescape.ts';
export { parseJson } from './json-data.ts';
export { native } from './methods/signature.ts';
export { checkReferences } from './references.ts';
export type { Context, Native } from './running.ts';
export type { Template } from './template.ts';
export { Dict } from './values/dict.ts';
export { escapeText, escapeValue, str } from './values/repr.ts';
export { Callable, Float, type Kwargs, Markup, Tuple, type Value } from './values/types.ts';
