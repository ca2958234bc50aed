// Where emails are composed: in threads that can be stopped, within the time each account has; or
// in this thread, for an operator's command. Before it: rendering.ts, previews, and saving a
// template. After it: email-maker.ts, in a thread.
import { Problem } from '../errors.ts';
import { htmlToPlainText } from '../html/plain-text.ts';
import { type LintedEmail, type LintFinding, lint } from '../lint/lint.ts';
import { JobStopped } from '../process/job-stopped.ts';
import type { BrandingContext } from './branding.ts';
import type { Catalog } from './catalog.ts';
import {
  createEmailMaker,
  type EmailOrder,
  type MadeEmail,
  type TemplateSource,
} from './email-maker.ts';
import { sizeOfMessages } from './messages.ts';
import type { RenderBudget } from './render-budget.ts';
import { sizeOfVariables } from './variables.ts';

/** Whose work it is: one queue and one budget for each. */
export interface Whose {
  share: string;
  /** Calls per second that this share may make; its rendering budget follows from it. */
  ratePerSecond: number;
}

/** With a key, it is sent to each thread only once; a key always means the same value. */
export interface Keyed<Value> {
  key: string | null;
  value: Value;
}

export interface EmailToMake {
  slug: string;
  /** Null: the system template of the slug. */
  template: Keyed<TemplateSource> | null;
  branding: Keyed<BrandingContext>;
  variables: Record<string, unknown>;
  /** The language asked for, and the account's language. */
  locale?: string | undefined;
  standardLocale?: string | undefined;
  subject?: string | undefined;
  text?: string | undefined;
}

export interface Making {
  make(email: EmailToMake, whose: Whose): Promise<MadeEmail>;
  /** Throws a Problem if the source is not valid Jinja2. */
  check(slug: string, source: TemplateSource, whose: Whose): Promise<void>;
  /** The text part for a sender's own HTML; undefined: it would have taken too long. */
  writeText(html: string, whose: Whose): Promise<string | undefined>;
  /** What receivers would object to; undefined: checking would have taken too long. */
  lint(email: LintedEmail, whose: Whose): Promise<LintFinding[] | undefined>;
}

interface Run {
  share: string;
  size: number;
  uses: { key: string; value: unknown; size: number }[];
  spent: (ms: number) => void;
}

/** The two jobs of email-maker.ts, and those of html/plain-text.ts and lint.ts, run in threads. */
export interface EmailThreads {
  make(order: EmailOrder, run: Run): Promise<MadeEmail>;
  check(order: { slug: string; source: TemplateSource }, run: Run): Promise<null>;
  writeText(html: string, run: Run): Promise<string>;
  lint(email: LintedEmail, run: Run): Promise<LintFinding[]>;
}

export function openMaking(threads: EmailThreads, budget: RenderBudget): Making {
  async function within<Result, Otherwise = never>(
    whose: Whose,
    work: (run: Pick<Run, 'share' | 'spent'>) => Promise<Result>,
    onStopped: (error: JobStopped) => Otherwise,
  ): Promise<Result | Otherwise> {
    const spent = budget.enter(whose);
    try {
      return await work({ share: whose.share, spent });
    } catch (error) {
      if (error instanceof JobStopped) return onStopped(error);
      throw error;
    }
  }

  return {
    make: (email, whose) =>
      within(
        whose,
        (run) => {
          const size = sizeOfEmail(email);
          return threads.make(orderOf(email), { ...run, size, uses: thingsOf(email) });
        },
        refuseStopped(email.slug),
      ),
    check: async (slug, source, whose) => {
      await within(
        whose,
        (run) => threads.check({ slug, source }, { ...run, size: sizeOf(source), uses: [] }),
        refuseStopped(slug),
      );
    },
    writeText: (html, whose) =>
      within(
        whose,
        (run) => threads.writeText(html, { ...run, size: html.length, uses: [] }),
        () => undefined,
      ),
    lint: (email, whose) =>
      within(
        whose,
        (run) => {
          const size = (email.html?.length ?? 0) + (email.text?.length ?? 0);
          return threads.lint(email, { ...run, size, uses: [] });
        },
        () => undefined,
      ),
  };
}

/** In this thread: for commands, whose templates belong to whoever runs them. */
export function makeHere(catalog: Catalog): Making {
  const maker = createEmailMaker(catalog);
  return {
    async make(email) {
      const things = new Map(thingsOf(email).map(({ key, value }) => [key, value]));
      return maker.make(orderOf(email), (key) => things.get(key));
    },
    async check(slug, source) {
      maker.check({ slug, source });
    },
    writeText: async (html) => htmlToPlainText(html),
    lint: async (email) => lint(email),
  };
}

/** The limits of an email made from it (jinja/budget.ts). */
const MOST_GIVEN = 8 * 1024 * 1024;

/** A thread that is given much more may take the process with it. */
function sizeOfEmail({ slug, variables, subject = '', text = '' }: EmailToMake): number {
  const size = sizeOfVariables(variables) + subject.length + text.length;
  if (size <= MOST_GIVEN) return size;
  throw new Problem(
    'invalid',
    `variables, subject and text for template "${slug}" have ${size} bytes; at most ${MOST_GIVEN} are allowed. Pass only what the template shows.`,
    { at: 'variables' },
  );
}

const orderOf = ({
  slug,
  template,
  branding,
  variables,
  locale,
  standardLocale,
  subject,
  text,
}: EmailToMake): EmailOrder => ({
  ...{ slug, variables, locale, standardLocale, subject, text },
  template: template && (template.key ?? template.value),
  branding: branding.key ?? branding.value,
});

function thingsOf({ template, branding }: EmailToMake): Run['uses'] {
  const things: Run['uses'] = [];
  if (template?.key != null) {
    things.push({ key: template.key, value: template.value, size: sizeOf(template.value) });
  }
  if (branding.key !== null) {
    things.push({ key: branding.key, value: branding.value, size: 2000 });
  }
  return things;
}

const sizeOf = ({ subject, preheader, html, text, messages }: TemplateSource): number =>
  subject.length + preheader.length + html.length + (text?.length ?? 0) + sizeOfMessages(messages);

const refuseStopped =
  (slug: string) =>
  ({ reason }: JobStopped): never => {
    throw new Problem(
      'invalid',
      reason === 'time'
        ? `Template "${slug}": render stopped: it took too long. Make the template or its variables simpler.`
        : `Template "${slug}": render stopped: it needed too much memory. Make the template or its variables smaller.`,
      { at: 'template' },
    );
  };
