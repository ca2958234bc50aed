// One email template, compiled once and rendered many times: subject, preheader and HTML. Before
// it: a source from the catalogue or of an account. After it: an email with its subject and HTML;
// plain-text.ts makes the text.
import { Problem } from '../errors.ts';
import {
  checkReferences,
  Environment,
  Markup,
  type Template,
  TemplateError,
  TemplateNotFound,
  UnknownReference,
  type Value,
} from '../jinja/index.ts';
import { nearest, similarSlugs } from '../nearest.ts';
import type { BrandingContext } from './branding.ts';
import { intlFilters } from './intl.ts';
import type { Language } from './translation.ts';

export interface EmailSource {
  slug: string;
  subject: string;
  preheader: string;
  html: string;
}

export interface EmailTemplate {
  subject: Template;
  preheader: Template;
  html: Template;
}

/** What emails are rendered in: templates may extend, include and import these sources. */
export function emailEnvironment(sources: ReadonlyMap<string, string>): Environment {
  return new Environment({
    loader: (name) => sources.get(name),
    templateNames: () => [...sources.keys()],
    autoescape: (name) => !isText(name),
    filters: intlFilters,
  });
}

/** Throws a Problem with part, line and column if the source is not valid Jinja2. */
export function compileEmail(environment: Environment, source: EmailSource): EmailTemplate {
  const { slug } = source;
  return {
    subject: compileText(environment, `${slug}:subject`, source.subject),
    preheader: compileText(environment, `${slug}:preheader`, source.preheader),
    html: asProblem(() => environment.fromString(source.html, slug)),
  };
}

/**
 * Compiles something that is text and not HTML, so nothing in it is escaped. `name` is `slug:part`.
 */
export function compileText(environment: Environment, name: string, source: string): Template {
  return asProblem(() => environment.fromString(source, name));
}

/** Names that are available in every render, besides the variables. */
const ALWAYS_GIVEN = ['branding', 'mail', 't', 'lang', 'dir', 'locale'];

/**
 * Throws a Problem if a compiled template names a parent, block or macro that does not exist: with
 * line and column, and a suggestion.
 */
export function requireReferences(environment: Environment, template: Template): void {
  asProblem(() => checkReferences(environment, template, ALWAYS_GIVEN));
}

/** What a template is rendered with. */
export interface EmailContext {
  /** What the sender gave, and `branding`, which is always the account's. */
  names: Record<string, Value>;
  /**
   * Visible to macros that are imported without context too. The sender's variables take
   * precedence: a variable called `t` stays what it is.
   */
  globals: Record<string, Value>;
}

export function emailContext(
  variables: Record<string, unknown>,
  branding: BrandingContext,
  { locale, direction, format, t }: Language,
): EmailContext {
  const brand = brandFor(branding);
  const { dir = direction } = variables;
  return {
    names: { ...variables, branding: brand },
    globals: { branding: brand, t, lang: locale, dir, locale: format },
  };
}

/** By the branding of an account, which many emails share: it is never changed, only replaced. */
const brands = new WeakMap<BrandingContext, Record<string, Value>>();

function brandFor(branding: BrandingContext): Record<string, Value> {
  const known = brands.get(branding);
  if (known !== undefined) return known;
  const { footer_html } = branding;
  // It is HTML by nature, whichever template it is used in.
  const footer = typeof footer_html === 'string' ? new Markup(footer_html) : footer_html;
  const brand = { ...branding, footer_html: footer };
  brands.set(branding, brand);
  return brand;
}

/** Throws a Problem with template, line and message when rendering fails. */
export function renderEmail(
  template: EmailTemplate,
  { names, globals }: EmailContext,
): { subject: string; html: string } {
  return asProblem(() => {
    // One line: a line break in a subject would start a new header.
    const subject = oneLine(template.subject.render(names, { globals }));
    const preheader = oneLine(template.preheader.render(names, { globals }));
    const html = template.html.render({ ...names, mail: { subject, preheader } }, { globals });
    return { subject, html: asTheLanguageReads(html, globals) };
  });
}

function asTheLanguageReads(html: string, { lang, dir }: Record<string, unknown>): string {
  // Templates put sentences one behind the other; in Japanese nothing stands between them.
  if (lang === 'ja') return html.replaceAll('。 ', '。');
  return dir === 'rtl' ? html.replace(ISOLATED_FROM_RIGHT, '\u2067') : html;
}

/**
 * The beginning of an isolated value that has a letter from right to left in it: all of it is read
 * that way, even if it begins with a Latin name ("Chrome على Windows").
 */
const ISOLATED_FROM_RIGHT = /\u2068(?=[^\u2068\u2069]*[\u0590-\u08ff])/g;

/** Renders a part that is text, with its line breaks. */
export function renderText(template: Template, { names, globals }: EmailContext): string {
  return asProblem(() => template.render(names, { globals }));
}

function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}

/** Parts that are text have a colon in their name; slugs and file names have none. */
function isText(name: string | null): boolean {
  return name?.includes(':') ?? false;
}

function asProblem<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (fault) {
    if (!(fault instanceof TemplateError)) throw fault;
    const [slug, part] = (fault.templateName ?? 'template').split(':');
    const place = fault.line === null ? '' : `, line ${fault.line}, column ${fault.column}`;
    const where = `Template "${slug}"${part ? `, ${part}` : ''}${place}`;
    throw new Problem('invalid', `${where}: ${inWords(fault)}`, { cause: fault });
  }
}

/** What is wrong, without the position. */
export function inWords(fault: TemplateError): string {
  if (fault instanceof UnknownReference) return notThere(fault);
  if (fault instanceof TemplateNotFound) {
    return `there is no template "${brief(fault.message)}" to extend, include or import`;
  }
  return brief(fault.message);
}

const MOST_NAMED = 20;

function notThere({ kind, wanted, known }: UnknownReference): string {
  const [thing, where] = THINGS[kind];
  const what = `there is no ${thing} "${brief(wanted)}"${where}`;
  const near = kind === 'template' ? similarSlugs(wanted, known) : [nearest(wanted, known) ?? []];
  const meant = near.flat();
  if (meant.length > 0) return `${what}. Did you mean ${meant.join(' or ')}?`;
  const names = known.slice(0, MOST_NAMED).join(', ');
  return kind === 'template' || names === '' ? `${what}.` : `${what}. Use one of ${names}.`;
}

const THINGS: Record<UnknownReference['kind'], [thing: string, where: string]> = {
  template: [
    'template',
    ' to extend, include or import; only layout.html, macros.html and system templates can be',
  ],
  'parent block': ['block', ' in what it extends'],
  block: ['block', ''],
  macro: ['macro', ''],
};

const LONGEST_MESSAGE = 300;

/**
 * Python's messages quote the value they are about, however long it is; people need its beginning,
 * and what is said about it.
 */
export function brief(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const half = LONGEST_MESSAGE / 2;
  return `${message.slice(0, half)} … ${message.slice(-half)}`;
}
