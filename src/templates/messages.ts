// Message files: the texts of templates by language and key, as translators write them. Before it:
// catalog/messages/*.json, or what an account saved with a template. After it: translation.ts
// fills them.
import { z } from 'zod';
import { canonicalLocale } from './locales.ts';

/** A text with {placeholders}, or one for each plural form of the language. */
export type Message = string | PluralMessage;

export interface PluralMessage {
  zero?: string | undefined;
  one?: string | undefined;
  two?: string | undefined;
  few?: string | undefined;
  many?: string | undefined;
  other: string;
}

/** By key. */
export type Messages = Record<string, Message>;

/** By language. */
export type MessagesByLocale = Record<string, Messages>;

const LONGEST_MESSAGE = 5000;
const MOST_LOCALES = 60;
const MOST_KEYS = 500;
/** Of all languages together, as JSON. */
const LONGEST_MESSAGES = 512 * 1024;

const text = z
  .string('must be text')
  .max(LONGEST_MESSAGE, `must be at most ${LONGEST_MESSAGE} characters long`)
  .refine((it) => !it.includes('\u0000'), 'must not contain the character U+0000');

const plural = z.strictObject(
  {
    zero: text.optional(),
    one: text.optional(),
    two: text.optional(),
    few: text.optional(),
    many: text.optional(),
    other: text,
  },
  'must be text, or an object of plural forms with "other"',
);

const key = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'keys are letters, digits and underscores, at most 64');

export const messagesSchema = z
  .record(key, z.union([text, plural], 'must be text, or an object of plural forms with "other"'))
  .refine(
    (messages) => Object.keys(messages).length <= MOST_KEYS,
    `must be at most ${MOST_KEYS} messages`,
  );

const locale = z
  .string()
  .refine(
    (tag) => canonicalLocale(tag) === tag,
    'languages are tags such as de, pt-BR or zh-Hant, in this spelling',
  );

export const messagesByLocaleSchema = z
  .record(locale, messagesSchema, 'must be an object of languages')
  .refine(
    (languages) => Object.keys(languages).length <= MOST_LOCALES,
    `must be at most ${MOST_LOCALES} languages`,
  )
  .refine(
    (languages) => JSON.stringify(languages).length <= LONGEST_MESSAGES,
    `must be at most ${LONGEST_MESSAGES} characters of JSON`,
  );

/** The texts of a message: one, or one for each form. */
export const formsOf = (message: Message): string[] =>
  typeof message === 'string' ? [message] : Object.values(message);

/** The placeholders of its texts. */
export const placeholdersOf = (message: Message): Set<string> =>
  new Set(formsOf(message).flatMap((it) => piecesOf(it).filter((_, index) => index % 2 === 1)));

/** Texts and placeholder names alternate: a text comes first and last, possibly empty. */
export const piecesOf = (text: string): string[] => text.split(/\{([A-Za-z_][A-Za-z0-9_]*)\}/);

export const sizeOfMessages = (messages: MessagesByLocale | undefined): number =>
  messages === undefined ? 0 : JSON.stringify(messages).length;
