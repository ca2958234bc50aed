// DKIM signatures on reports (RFC 6376, 8301, 8463): who vouches for what a report says.
// reporters.ts asks which signatures an email claims, looks up their keys, and asks whether one is
// valid; both in a thread, because the email is a stranger's. Our own code: mailauth, the reference
// in the tests, is asynchronous (so it cannot be killed where we read email), takes 3.6 s for 1 MB
// of line feeds, and brings ten packages.
import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

export interface Signature {
  domain: string;
  selector: string;
}

const MOST_SIGNATURES = 3;
const LEAST_RSA_BITS = 1024;

interface Field {
  name: string;
  /** With its line ends, as received. */
  raw: string;
}

interface ReadSignature extends Signature {
  field: Field;
  tags: ReadonlyMap<string, string>;
}

/**
 * The signatures of these domains that cover what we rely on: the sender, and how to read the body.
 */
export function claimedSignatures(raw: Buffer, domains: readonly string[]): Signature[] {
  const { fields } = split(raw);
  return signaturesIn(fields)
    .filter(({ domain }) => domains.includes(domain) && domain === senderDomain(fields))
    .slice(0, MOST_SIGNATURES)
    .map(({ domain, selector }) => ({ domain, selector }));
}

/** Whether a signature is valid. `records`: the TXT records at `selector._domainkey.domain`. */
export function holds(
  raw: Buffer,
  signature: Signature,
  records: readonly string[],
  nowMs: number,
): boolean {
  const { fields, body } = split(raw);
  const keys = records.flatMap((record) => readKey(record) ?? []);
  return signaturesIn(fields)
    .filter((it) => it.domain === signature.domain && it.selector === signature.selector)
    .slice(0, MOST_SIGNATURES)
    .some((it) => isInTime(it.tags, nowMs) && isBody(it.tags, body) && isHead(it, fields, keys));
}

/**
 * Header fields as received, and the body. Only CRLF ends a line (RFC 5321 2.3.8). A header without
 * an end, or with a line that is not a field, has no fields: parsers disagree about what it says,
 * and a signature vouches for one reading (RFC 6376 3.8).
 */
function split(raw: Buffer): { fields: Field[]; body: string } {
  const text = raw.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const fields: Field[] = [];
  for (const line of text.slice(0, end + 2).split(/(?<=\r\n)(?![ \t])/)) {
    const name = /^[!-9;-~]+(?=[ \t]*:)/.exec(line)?.[0].toLowerCase();
    if (name === undefined || /\r(?!\n)|(?<!\r)\n/.test(line)) return { fields: [], body: '' };
    fields.push({ name, raw: line });
  }
  return { fields, body: text.slice(end + 4) };
}

function signaturesIn(fields: readonly Field[]): ReadSignature[] {
  const signatures = fields.filter(({ name }) => name === 'dkim-signature').slice(0, 20);
  return signatures.flatMap((field) => {
    const tags = readTags(fieldValue(field).slice(0, 8192));
    const domain = tags.get('d')?.toLowerCase() ?? '';
    const selector = tags.get('s')?.toLowerCase() ?? '';
    const named = [domain, selector].every((name) =>
      /^[a-z\d_](?:[a-z\d._-]{0,251}[a-z\d_])?$/.test(name),
    );
    return named && coversEnough(tags, fields) ? [{ domain, selector, field, tags }] : [];
  });
}

/**
 * One From and one Content-Type, both signed, and the body to its end: nothing may have been added
 * to the report.
 */
function coversEnough(tags: ReadonlyMap<string, string>, fields: readonly Field[]): boolean {
  const signed = signedNames(tags);
  const once = (name: string) => fields.filter((field) => field.name === name).length === 1;
  return (
    tags.get('v') === '1' &&
    !tags.has('l') &&
    ['from', 'content-type'].every((name) => once(name) && signed.includes(name))
  );
}

/** RFC 6376 6.1.1: a signature of the domain in From; a display name proves nothing. */
function senderDomain(fields: readonly Field[]): string | undefined {
  const value = fieldValue(fields.find(({ name }) => name === 'from')!).slice(0, 2000);
  const found = /^(?:[^<>@,]{0,500}<)?[^<>@,\s"]{1,64}@([a-z\d.-]{1,253})>?\s*$/i.exec(
    value.trim(),
  );
  return found?.[1]?.toLowerCase();
}

const fieldValue = ({ raw }: Field): string => raw.slice(raw.indexOf(':') + 1);

/** `name=value; …` (RFC 6376 3.2); white space is ignored in the tags we read. */
function readTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const tag of text.split(';')) {
    const equals = tag.indexOf('=');
    const name = tag.slice(0, Math.max(equals, 0)).trim();
    if (name === '') continue;
    // A repeated tag is an error (3.2), and we never choose the reading that helps a forger.
    if (tags.has(name)) return new Map();
    tags.set(name, tag.slice(equals + 1).replace(/\s+/g, ''));
  }
  return tags;
}

const signedNames = (tags: ReadonlyMap<string, string>): string[] =>
  (tags.get('h') ?? '').toLowerCase().split(':').slice(0, 200);

function isInTime(tags: ReadonlyMap<string, string>, nowMs: number): boolean {
  const expires = tags.get('x');
  return expires === undefined || nowMs < Number(expires) * 1000;
}

function isBody(tags: ReadonlyMap<string, string>, body: string): boolean {
  const [, how = 'simple'] = (tags.get('c') ?? 'simple/simple').split('/');
  if (how !== 'simple' && how !== 'relaxed') return false;
  // RFC 6376 3.4.4: spaces at the end of a line are removed, others collapse into one.
  const lines = how === 'relaxed' ? body.replace(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n') : body;
  let end = lines.length;
  while (lines.startsWith('\r\n', end - 2) && end >= 2) end -= 2;
  const canonical = end > 0 || how === 'simple' ? `${lines.slice(0, end)}\r\n` : '';
  return createHash('sha256').update(canonical, 'latin1').digest('base64') === tags.get('bh');
}

function isHead(signature: ReadSignature, fields: readonly Field[], keys: readonly Key[]): boolean {
  const { tags, field } = signature;
  const [how = 'simple'] = (tags.get('c') ?? 'simple').split('/');
  if (how !== 'simple' && how !== 'relaxed') return false;
  const canonical = how === 'relaxed' ? relaxedField : (raw: string) => raw;
  const left = fieldsByName(fields);
  let signed = '';
  for (const name of signedNames(tags)) {
    // From the bottom up; a name listed more often than there are fields means that none may be
    // added (5.4.2).
    const raw = left.get(name)?.pop();
    if (raw !== undefined) signed += canonical(endedLine(raw));
  }
  signed += canonical(withoutValue(field)).replace(/\r\n$/, '');
  const data = Buffer.from(signed, 'latin1');
  const value = Buffer.from(tags.get('b') ?? '', 'base64');
  return keys.some((key) => isSigned(tags.get('a') ?? '', key, data, value));
}

/** The signature's own field as it was when it was signed: with an empty `b` (3.7). */
function withoutValue(field: Field): string {
  const emptied = fieldValue(field)
    .split(';')
    .map((tag) => (/^\s*b\s*=/.test(tag) ? tag.slice(0, tag.indexOf('=') + 1) : tag));
  return field.raw.slice(0, field.raw.indexOf(':') + 1) + emptied.join(';');
}

function fieldsByName(fields: readonly Field[]): Map<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const { name, raw } of fields) {
    const same = byName.get(name);
    if (same === undefined) byName.set(name, [raw]);
    else same.push(raw);
  }
  return byName;
}

const endedLine = (raw: string): string => (raw.endsWith('\r\n') ? raw : `${raw}\r\n`);

/** RFC 6376 3.4.2. */
function relaxedField(raw: string): string {
  const colon = raw.indexOf(':');
  const value = raw
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[ \t]+/g, ' ')
    .trim();
  return `${raw.slice(0, colon).trimEnd().toLowerCase()}:${value}\r\n`;
}

interface Key {
  algorithm: 'rsa' | 'ed25519';
  key: KeyObject;
}

/** A key record (3.6.1); undefined if it is revoked, for testing, or not a key. */
function readKey(record: string): Key | undefined {
  const tags = readTags(record.slice(0, 8192));
  const algorithm = tags.get('k') ?? 'rsa';
  const allows = (tag: string, value: string) =>
    (tags.get(tag) ?? value).split(':').some((it) => it === value || it === '*');
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1' || (tags.get('t') ?? '').split(':').includes('y'))
    return undefined;
  if (!allows('h', 'sha256') || !allows('s', 'email') || !tags.get('p')) return undefined;
  const bytes = Buffer.from(tags.get('p')!, 'base64');
  try {
    if (algorithm === 'ed25519') {
      const x = bytes.toString('base64url');
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
      return { algorithm, key };
    }
    const key = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    const isRsa = algorithm === 'rsa' && key.asymmetricKeyType === 'rsa' && bits >= LEAST_RSA_BITS;
    return isRsa ? { algorithm, key } : undefined;
  } catch {
    return undefined; // not a key
  }
}

function isSigned(algorithm: string, { algorithm: kind, key }: Key, data: Buffer, value: Buffer) {
  if (algorithm !== `${kind}-sha256`) return false;
  // RFC 8463 3: Ed25519 signs the hash.
  return kind === 'rsa'
    ? verify('sha256', data, key, value)
    : verify(null, createHash('sha256').update(data).digest(), key, value);
}
