// Whether a link of an email can work, by its syntax alone: nothing is fetched. Called by lint.ts.
import { nearest } from '../nearest.ts';

/**
 * Some programs truncate longer ones; RFC 9110 4.1 requires servers to support no more than 8,000.
 */
const LONGEST = 2048;

/** What leads out of an email: the web, and programs on the reader's device. */
const KNOWN = new Set(['https', 'http', 'mailto', 'tel', 'sms', 'cid', 'webcal']);

/** Why it leads nowhere; undefined: nothing is wrong with it. */
export function linkFault(written: string): string | undefined {
  const href = written.trim();
  if (href === '' || href === '#') return 'leads nowhere';
  if (href.length > LONGEST) return `longer than ${LONGEST} characters`;
  // A place within the email.
  if (href.startsWith('#')) return undefined;
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(href)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'not a complete address';
  if (scheme === 'javascript' || scheme === 'data' || scheme === 'file')
    return 'blocked by email programs';
  if (/\s/.test(href)) return 'contains a space';
  if (scheme === 'http' || scheme === 'https') return webFault(href);
  if (scheme === 'mailto') return /^mailto:[^@?]+@[^@?\s]+/i.test(href) ? undefined : 'no address';
  if (KNOWN.has(scheme)) return undefined;
  // A port after a host (example.com:8080) is not a scheme.
  if (scheme.includes('.')) return 'not a complete address';
  // Apps have schemes of their own, and hardly any that is one typo away from the web's.
  const meant = nearest(scheme, ['https', 'http', 'mailto']);
  return meant === undefined ? undefined : `did you mean ${meant}:`;
}

function webFault(href: string): string | undefined {
  if (!/^https?:\/\/[^/]/i.test(href)) return 'has no host';
  if (!URL.canParse(href)) return 'not a valid address';
  const { hostname } = new URL(href);
  if (hostname === 'localhost' || hostname.startsWith('127.')) return 'leads to your own machine';
  return hostname.includes('.') || hostname.startsWith('[')
    ? undefined
    : 'has no complete host name';
}

/** A placeholder is in it, as it is or encoded. */
export const isUnresolved = (address: string): boolean =>
  /\{\{|\{%|<%|\*\||%7B%7B/i.test(address.slice(0, LONGEST));
