// An email as the sandbox relay captured it, read by a parser that is not ours.
import PostalMime, { type Email } from 'postal-mime';
import { getCaptured } from '../../src/sandbox/inbox.ts';
import type { Database } from '../../src/store/pool.ts';
import { until } from './until.ts';

export interface CapturedEmail {
  raw: Buffer;
  email: Email;
  envelopeFrom: string;
  recipients: string[];
}

/** Waits until the email of this message id was captured. */
export async function captured(database: Database, messageId: string): Promise<CapturedEmail> {
  const { raw, from, recipients } = await until(() => getCaptured(database, messageId));
  return { raw, email: await PostalMime.parse(raw), envelopeFrom: from, recipients };
}

export const header = (email: Email, name: string): string | undefined =>
  email.headers.find((field) => field.key === name.toLowerCase())?.value;

/** Addresses of links and images in HTML, as a browser reads them. */
export function hrefs(html: string | undefined): string[] {
  return [...(html ?? '').matchAll(/<a\s[^>]*href="([^"]*)"/g)].map((match) => written(match[1]!));
}

export const pixelOf = (html: string | undefined): string | undefined =>
  [...(html ?? '').matchAll(/<img src="([^"]*\/o\/[^"]*)"/g)].map((match) => written(match[1]!))[0];

const written = (text: string): string => text.replaceAll('&amp;', '&');
