// Kinds of settings: what the text of a variable must look like, and what it becomes. Used by
// settings.ts.
import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { parseMailbox } from '../addresses.ts';

export const wholeNumber = (least: number, most: number) =>
  z.coerce.number(`must be a whole number from ${least} to ${most}`).int().min(least).max(most);
export const port = wholeNumber(0, 65_535);
export const days = wholeNumber(1, 3650);
export const percent = z.coerce.number('must be a percentage').positive().max(100);

/** Comma-separated. */
export const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((item) => item.trim()))
  .transform((items) => items.filter((item) => item !== ''));
export const lowerCaseList = list.transform((items) => items.map((item) => item.toLowerCase()));

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' });
export const domainName = z
  .string()
  .regex(/^[a-z\d-]+(\.[a-z\d-]+)*$/i, 'must be a domain name, in ASCII');

export const mailbox = z.string().transform((text, context) => {
  const read = parseMailbox(text);
  if (!('fault' in read)) return read;
  context.addIssue({ code: 'custom', message: `is not an address: ${read.fault}` });
  return z.NEVER;
});

const BYTES = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** In bytes. */
export const size = z.string().transform((text, context) => {
  const [, number, unit = ''] = /^(\d{1,12}) ?([KMGT]B)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(number) * BYTES[unit.toUpperCase() as keyof typeof BYTES];
  if (bytes > 0) return bytes;
  context.addIssue({ code: 'custom', message: 'must be a size such as 10GB or 500MB' });
  return z.NEVER;
});

/** Base64 of the DER form, as SendGrid shows it. */
export function isPublicKey(text: string): boolean {
  try {
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}

/** `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`. */
export function isServer(text: string): boolean {
  const [, address] = /^\[?([^\]]*?)\]?(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) > 0 || isIP(address ?? '') > 0;
}

export const isDomain = (text: string): boolean => /^[a-z\d_-]+(\.[a-z\d_-]+)+$/i.test(text);
