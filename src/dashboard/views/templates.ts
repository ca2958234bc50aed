// Templates: rows, sources, versions, faults. Types only, so that web/ reads them too.

import type { Category } from '../../templates/categories.ts';

export type { Category };

export interface TemplateRow {
  slug: string;
  name: string;
  category: Category;
  description: string;
  /** Whose it is. Where an account has one of its own, that stands here. */
  source: 'system' | 'account';
  /** Of the account's own: sends use it (published), or they use the system's of that slug, if there is one. */
  state: 'system' | 'published' | 'draft' | 'archived';
  publishedVersion: number | null;
  newestVersion: number | null;
  /** There is a system template of this slug. */
  hasSystem: boolean;
}

export interface TemplateVariable {
  name: string;
  required: boolean;
  type: 'string' | 'number' | 'boolean' | 'array' | 'object';
  description: string;
  example?: unknown;
}

/** What an editor changes. Jinja2 in subject, preheader, html and text. */
export interface TemplateSource {
  subject: string;
  preheader: string;
  html: string;
  /** Null: derived from the HTML. */
  text: string | null;
  variables: TemplateVariable[];
  sample: Record<string, unknown>;
}

export interface TemplateDetail extends TemplateRow {
  /** The version `content` is of; null: the system template. */
  version: number | null;
  content: TemplateSource;
}

export interface TemplateVersionRow {
  version: number;
  clonedFrom: string | null;
  basedOn: number | null;
  createdAt: string;
  /** When first; null: a draft that was never used. */
  publishedAt: string | null;
  published: boolean;
}

/** Where a template is wrong. `part` is a field, or `template` for the whole. */
export interface TemplateFault {
  part: 'subject' | 'preheader' | 'html' | 'text' | 'variables' | 'sample' | 'template';
  line: number | null;
  column: number | null;
  message: string;
}

/** `name`, `category` and `description` may change too. What is absent stays as in `basedOn`. */
export interface SaveTemplate extends Partial<TemplateSource> {
  name?: string;
  category?: Category;
  description?: string;
  basedOn?: number;
}
