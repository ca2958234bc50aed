// The jobs on templates, as plain functions: a template and variables → subject, HTML and text; and
// whether a source is valid Jinja2. Before it: making.ts gives an order. After it: the same, with
// bytes ready to be stored. In a running service, it runs in a thread.
import { type Fault, Problem } from '../errors.ts';
import { htmlToPlainText } from '../html/plain-text.ts';
import { Float, TemplateError } from '../jinja/index.ts';
import type { BrandingContext } from './branding.ts';
import type { CarriedFile } from './carried-file.ts';
import { carryFiles } from './carrying.ts';
import { type Catalog, textsFor } from './catalog.ts';
import {
  compileText,
  emailContext,
  emailEnvironment,
  inWords,
  renderEmail,
  renderText,
  requireReferences,
} from './email-template.ts';
import type { MessagesByLocale } from './messages.ts';
import { type CompiledTemplate, compileContent, type TemplateContent } from './template-draft.ts';
import type { Texts } from './translation.ts';

/** The parts of a template that are compiled. */
export type TemplateSource = Pick<TemplateContent, 'subject' | 'preheader' | 'html' | 'text'> & {
  messages?: MessagesByLocale | undefined;
};

export interface EmailOrder {
  slug: string;
  /** The source, or the key under which it was passed; null: the system template of this slug. */
  template: string | TemplateSource | null;
  branding: string | BrandingContext;
  variables: Record<string, unknown>;
  /** The language asked for, and the account's language. */
  locale: string | undefined;
  standardLocale: string | undefined;
  /** Instead of the template's own. */
  subject: string | undefined;
  text: string | undefined;
}

export interface MadeEmail {
  subject: string;
  /** UTF-8, as are the bytes of the text. */
  html: Uint8Array;
  text: Uint8Array;
  /** Carried by the email; most of them are shown by the HTML. */
  files: CarriedFile[];
}

interface Ready extends CompiledTemplate {
  texts: Texts;
}

type Thing = (key: string) => unknown;

export type EmailMaker = ReturnType<typeof createEmailMaker>;

export function createEmailMaker(catalog: Catalog) {
  const compiled = new WeakMap<TemplateSource, Ready>();
  const system = new Map<string, Ready>();
  // Senders' own texts are compiled separately: however many there are, they push nothing out of
  // the catalogue's cache. They see the template's variables, but no other template.
  const senders = emailEnvironment(new Map());

  function templateOf({ slug, template }: EmailOrder, thing: Thing): Ready {
    if (template === null) return systemTemplate(slug);
    if (typeof template !== 'string') return made(slug, template);
    const source = thing(template) as TemplateSource;
    const known = compiled.get(source);
    if (known !== undefined) return known;
    const ready = made(slug, source);
    compiled.set(source, ready);
    return ready;
  }

  function systemTemplate(slug: string): Ready {
    let ready = system.get(slug);
    if (ready === undefined) {
      const { compiled: email, messages, html } = catalog.templates.get(slug)!;
      ready = { email, text: null, texts: textsFor(catalog, messages, [html]) };
      system.set(slug, ready);
    }
    return ready;
  }

  function made(slug: string, source: TemplateSource): Ready {
    const { subject, preheader, html, text, messages } = source;
    const texts = textsFor(catalog, messages, [subject, preheader, html, text ?? '']);
    return { ...compileContent(catalog.environment, slug, source), texts };
  }

  const compile = ({ slug }: EmailOrder, part: string, source: string | undefined) =>
    source === undefined ? undefined : compileText(senders, `${slug}:${part}`, source);

  return {
    make(order: EmailOrder, thing: Thing): MadeEmail {
      return withFaults(order.slug, () => {
        const template = templateOf(order, thing);
        const { branding } = order;
        const context = emailContext(
          withFloats(order.variables),
          typeof branding === 'string' ? (thing(branding) as BrandingContext) : branding,
          template.texts.language({ wanted: order.locale, standard: order.standardLocale }),
        );
        const subject = compile(order, 'subject', order.subject) ?? template.email.subject;
        const email = renderEmail({ ...template.email, subject }, context);
        const ownText = compile(order, 'text', order.text) ?? template.text;
        const text = ownText === null ? '' : renderText(ownText, context);
        const { html, files } = carryFiles(email.html, catalog.pictures);
        return {
          files,
          subject: email.subject,
          html: Buffer.from(html),
          text: Buffer.from(text.trim() === '' ? htmlToPlainText(email.html) : text),
        };
      });
    },

    /** Throws a Problem that says what is wrong with the source, and where. */
    check({ slug, source }: { slug: string; source: TemplateSource }): null {
      return withFaults(slug, () => {
        const { email, text } = compileContent(catalog.environment, slug, source);
        for (const part of [email.subject, email.preheader, email.html, text]) {
          if (part !== null) requireReferences(catalog.environment, part);
        }
        return null;
      });
    },
  };
}

/**
 * Whole numbers that were written as floats (http/json-numbers.ts) are floats to templates: 10.0
 * stays 10.0.
 */
function withFloats(variables: Record<string, unknown>): Record<string, unknown> {
  for (const name in variables) {
    const value = variables[name];
    if (value instanceof Number) variables[name] = new Float(Number(value));
    else if (typeof value === 'object' && value !== null) {
      withFloats(value as Record<string, unknown>);
    }
  }
  return variables;
}

/** The cause becomes plain data: it crosses threads, and editors mark the place. */
function withFaults<Result>(slug: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem && error.cause instanceof TemplateError)) throw error;
    const faults = [faultOf(slug, error.detail, error.cause)];
    throw new Problem(error.code, error.detail, { faults });
  }
}

function faultOf(slug: string, detail: string, cause: TemplateError): Fault {
  const { templateName, line, column } = cause;
  const message = inWords(cause);
  const [name, part = 'html'] = (templateName ?? slug).split(':');
  // In a template that this one extends, the position would be misleading.
  if (name !== slug) return { path: 'template', message: detail };
  return line === null
    ? { path: part, message }
    : { path: part, message, line, column: column ?? 1 };
}
