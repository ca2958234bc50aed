// One mail template, compiled once and rendered many times: subject, preheader and HTML. Before it:
// a source from the catalogue or of an account. After it: a mail with its subject and HTML;
// plain-text.ts makes the text.
import { Problem } from '../errors.ts';
import {
  Environment,
  Markup,
  type Template,
  TemplateError,
  TemplateNotFound,
  type Value,
} from '../jinja/index.ts';
import type { BrandingContext } from './branding.ts';

export interface MailSource {
  slug: string;
  subject: string;
  preheader: string;
  html: string;
}

export interface MailTemplate {
  subject: Template;
  preheader: Template;
  html: Template;
}

/**
 * What mails are rendered in. The loader decides what a template may extend, include and import.
 */
export function mailEnvironment(loader: (name: string) => string | undefined): Environment {
  return new Environment({ loader, autoescape: (name) => !isText(name) });
}

/** Throws a Problem with part, line and column when the source is no valid Jinja2. */
export function compileMail(environment: Environment, source: MailSource): MailTemplate {
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

/**
 * The names a template may read: what the sender gave, and `branding`, which is always the
 * account's.
 */
export function mailContext(
  variables: Record<string, unknown>,
  branding: BrandingContext,
): Record<string, Value> {
  const { footer_html } = branding;
  // It is HTML by its nature, in whichever template it stands.
  const footer = typeof footer_html === 'string' ? new Markup(footer_html) : footer_html;
  return { ...variables, branding: { ...branding, footer_html: footer } };
}

/** Throws a Problem with template, line and message when rendering fails. */
export function renderMail(
  template: MailTemplate,
  context: Record<string, Value>,
): { subject: string; html: string } {
  return asProblem(() => {
    // One line: a line break in a subject would start a new header.
    const subject = oneLine(template.subject.render(context));
    const preheader = oneLine(template.preheader.render(context));
    // As globals too: macros imported without context see the branding all the same.
    const { branding, dir } = context;
    const html = template.html.render(
      { ...context, mail: { subject, preheader } },
      { globals: { ...(branding ? { branding } : {}), ...(dir ? { dir } : {}) } },
    );
    return { subject, html };
  });
}

/** Renders a part that is text, with its line breaks. */
export function renderText(template: Template, context: Record<string, Value>): string {
  return asProblem(() => template.render(context));
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
    const what =
      fault instanceof TemplateNotFound
        ? `there is no template "${brief(fault.message)}" to extend, include or import`
        : brief(fault.message);
    throw new Problem('invalid', `${where}: ${what}`, { cause: fault });
  }
}

const LONGEST_MESSAGE = 300;

/**
 * Messages of Python quote the value they are about, however long it is; people need its beginning,
 * and what is said of it.
 */
export function brief(message: string): string {
  if (message.length <= LONGEST_MESSAGE) return message;
  const half = LONGEST_MESSAGE / 2;
  return `${message.slice(0, half)} … ${message.slice(-half)}`;
}
