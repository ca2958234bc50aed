// What the template tests share: a template in three lines, and what a send stored.
import { readUuid } from '../../src/ids.ts';
import type { Database } from '../../src/store/pool.ts';
import { anEmail } from '../support/service.ts';

/** A send from a template: without a subject or a body of its own. */
export const fromTemplate = (
  template: string,
  variables: Record<string, unknown> = {},
  changes: Record<string, unknown> = {},
): Record<string, unknown> =>
  anEmail({
    subject: undefined,
    html: undefined,
    text: undefined,
    template,
    variables,
    ...changes,
  });

/** HTML on the system layout that says `words`. */
export const page = (words: string): string =>
  `{% extends "layout.html" %}{% import "macros.html" as ui with context %}
{% block content %}{{ ui.heading("${words}") }}<p>Hello {{ name }}</p>{% endblock %}`;

export interface StoredEmail {
  subject: string;
  html: string;
  text: string;
  template: string | null;
  templateVersion: number | null;
  brandingVersion: number | null;
}

/** What was recorded of a message: exactly what will go out. */
export async function storedEmail(database: Database, id: string): Promise<StoredEmail> {
  const [row] = await database.query<StoredEmail>(
    `SELECT m.subject, convert_from(c.html, 'UTF8') AS html, convert_from(c.text, 'UTF8') AS text, m.template,
       m.template_version AS "templateVersion", m.branding_version AS "brandingVersion"
     FROM messages m JOIN contents c ON c.account_id = m.account_id AND c.message_id = m.id
     WHERE m.id = $1`,
    [readUuid('msg_', id)],
  );
  return row!;
}
