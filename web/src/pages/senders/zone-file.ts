// DNS records as a zone file (RFC 1035 5), which most providers can import.
import type { DomainRecord } from '../../../../src/client/operations.ts';

const TTL_SECONDS = 3600;

export const zoneFileOf = (domain: string, records: readonly DomainRecord[]): string =>
  [
    `; Records of ${domain} for Sandmartin. Import them, or copy them line by line.`,
    ...records.map(
      ({ name, type, value }) =>
        `${name}.\t${TTL_SECONDS}\tIN\t${type}\t${type === 'CNAME' ? `${value}.` : quoted(value)}`,
    ),
    '',
  ].join('\n');

/** Strings of at most 255 bytes; the values are ASCII. */
const quoted = (value: string): string =>
  (value.match(/.{1,255}/gs) ?? [''])
    .map((part) => `"${part.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(' ');
