// Mailboxes as people write them: the one parser for every address that comes in (sends,
// identities, suppressions, reports). Before it: untrusted text. After it: a Mailbox whose parts
// can go into an SMTP command or a header without another check.
import { domainToASCII, domainToUnicode } from 'node:url';

export interface Mailbox {
  /** Display name without its quotes; '' if there is none. */
  name: string;
  /** `local@domain`: the local part as written (NFC), the domain as lower-case A-labels. */
  address: string;
  local: string;
  domain: string;
  /** The local part is not ASCII, so every server on the way must offer SMTPUTF8 (RFC 6531). */
  smtputf8: boolean;
}

/**
 * Why a text is not a mailbox, as the end of a sentence that begins with the text: "it …", "the
 * part before @ …".
 */
export interface AddressFault {
  fault: string;
}

// RFC 5321 4.5.3.1.1 to 4.5.3.1.3: octets. A path is 256 with its angle brackets, which leaves 254.
const MOST_LOCAL_OCTETS = 64;
const MOST_DOMAIN_OCTETS = 255;
const MOST_ADDRESS_OCTETS = 254;
const MOST_LABEL_OCTETS = 63;
// A display name has no limit of its own; one header line (RFC 5322 2.1.1) is more than any person
// needs.
const MOST_TEXT = 998;

// Nearly every address is this: ASCII dot-atom, at least two LDH labels, an ending of two or more
// that has no digit at its end, nothing that looks like punycode. One linear expression (0.4 µs
// with all that follows); whatever it does not match is parsed in full and gets a reason.
const PLAIN =
  /^[\w!#$%&'*+\-/=?^`{|}~]+(?:\.[\w!#$%&'*+\-/=?^`{|}~]+)*@(?:(?![a-z\d]{2}--)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?![a-z\d]{2}--)[a-z](?:[a-z\d-]{0,61}[a-z\d])?(?<!\.[a-z]|\d)$/i;

// RFC 6531 3.3 allows every non-ASCII character in an atom. We take letters, marks, numbers,
// punctuation and emoji; not symbols, spaces, controls and invisible characters, which no email
// system assigns and which are used to deceive.
const LOCAL_CHARACTER =
  /[\w!#$%&'*+\-/=?^`{|}~.]|(?![\x00-\x7f])(?:[\u200c-\u200d]|(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}\p{P}\p{Emoji_Presentation}])/u;
// IDNA 2008 takes letters, marks and digits (RFC 5892); registries also sold emoji. The last six
// are its CONTEXT characters.
const DOMAIN_CHARACTER =
  /[a-z\d-]|(?![\x00-\x7f])(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{Nd}\p{Emoji_Presentation}]|[\u200c-\u200d\xb7\u0375\u05f3\u05f4\u30fb])/u;
// RFC 2047: =?utf-8?q?…?= is an encoded text, which many programs decode wherever it is. In an
// address it would mean one thing to us and another to programs that read the email on the way. One
// that only begins here may end in the next address of the same header, where readers are lenient.
function holdsEncodedWord(local: string): boolean {
  const begin = local.indexOf('=?');
  return begin >= 0 && (local.lastIndexOf('?=') >= begin + 2 || WORD_BEGINS.test(local));
}
const WORD_BEGINS = /=\?[^?]{1,64}\?[bq]\?/i;
const CONTROL = /[\p{Cc}\u2028\u2029\p{Cs}]/u;
const ASCII = /^[\x00-\x7f]*$/;
const ATOMS = /^[\w!#$%&'*+\-/=?^`{|}~ ]+$/;

/**
 * Reads `a@b.example` or `Name <a@b.example>`, the name quoted if it contains special characters.
 */
export function parseMailbox(text: string): Mailbox | AddressFault {
  const plain = parsePlain(text);
  if (plain !== undefined) return plain;
  if (text.length > MOST_TEXT) return { fault: `it is longer than ${MOST_TEXT} characters` };
  if (CONTROL.test(text)) return { fault: 'it contains a line break or another control character' };
  const trimmed = text.trim();
  if (!trimmed.endsWith('>')) return parseAddress(trimmed);
  const open = trimmed.lastIndexOf('<');
  if (open < 0) return { fault: 'it has a ">" without a "<"' };
  if (open === 0)
    return { fault: 'there is no name before "<": write the address without < and >' };
  const name = displayName(trimmed.slice(0, open).trim());
  if (typeof name !== 'string') return name;
  const mailbox = parseAddress(trimmed.slice(open + 1, -1));
  if (!('fault' in mailbox)) mailbox.name = name;
  return mailbox;
}

/** Reads a bare `a@b.example` with nothing around it. */
export function parseAddress(text: string): Mailbox | AddressFault {
  return parsePlain(text) ?? parseUncommon(text);
}

/**
 * The form in which addresses are compared: lower case, A-label domain. Takes any text (reports
 * quote anything), never fails.
 */
export function addressKey(address: string): string {
  if (ASCII.test(address)) return address.toLowerCase();
  const at = address.lastIndexOf('@');
  const domain = address.slice(at + 1);
  const local = address
    .slice(0, at + 1)
    .toLowerCase()
    .normalize('NFC');
  return local + (domainToASCII(domain) || domain.normalize('NFC').toLowerCase());
}

/**
 * `address` or `Name <address>`, the name quoted if RFC 5322 3.2.5 requires it. A name that is not
 * ASCII stays as it is.
 */
export function formatMailbox(mailbox: Mailbox): string {
  if (mailbox.name === '') return mailbox.address;
  return `${quoteName(mailbox.name)} <${mailbox.address}>`;
}

/**
 * A display name as an RFC 5322 phrase: atoms with single spaces stay bare, everything else becomes
 * a quoted string.
 */
export function quoteName(name: string): string {
  const bare = ATOMS.test(name) && !name.includes('  ') && name.trim() === name;
  return bare ? name : `"${name.replace(/["\\]/g, '\\$&')}"`;
}

function displayName(written: string): string | AddressFault {
  if (!written.startsWith('"')) {
    // '.' is not an atom character, but "J. Doe" is what everyone writes (RFC 5322 4.1,
    // obs-phrase).
    const special = /[()<>[\]:;@\\,"]/.exec(written);
    if (special === null) return written;
    return { fault: `the name contains ${special[0]}: put the name in double quotes` };
  }
  const inner = /^"((?:[^"\\]|\\.)*)"$/su.exec(written)?.[1];
  if (inner === undefined) return { fault: 'the double quotes around the name do not match' };
  return inner.replace(/\\(.)/gsu, '$1');
}

function parsePlain(text: string): Mailbox | undefined {
  if (text.length > MOST_ADDRESS_OCTETS || !PLAIN.test(text)) return undefined;
  const at = text.indexOf('@');
  if (at > MOST_LOCAL_OCTETS) return undefined;
  const local = text.slice(0, at);
  if (holdsEncodedWord(local)) return undefined;
  const domain = text.slice(at + 1).toLowerCase();
  return { name: '', address: `${local}@${domain}`, local, domain, smtputf8: false };
}

function parseUncommon(text: string): Mailbox | AddressFault {
  if (text === '') return { fault: 'it is empty' };
  if (text.length > MOST_TEXT) return { fault: `it is longer than ${MOST_TEXT} characters` };
  if (CONTROL.test(text)) return { fault: 'it contains a line break or another control character' };
  const at = text.lastIndexOf('@');
  if (at < 0) return { fault: 'there is no @ in it' };
  const local = text.slice(0, at).normalize('NFC');
  const domain = parseDomain(text.slice(at + 1));
  const fault = localFault(local);
  if (fault !== undefined) return { fault };
  if (typeof domain !== 'string') return domain;
  const smtputf8 = !ASCII.test(local);
  // A name without a dot is a typo or a local host. Only internationalised mailboxes are known to
  // exist under a bare top-level domain, so only they pass.
  if (!domain.includes('.') && !smtputf8) return { fault: `the domain "${domain}" has no dot` };
  const address = `${local}@${domain}`;
  // Both forms travel: as written in SMTPUTF8 email (and U-labels in reports), with A-labels in the
  // envelope.
  if (Math.max(Buffer.byteLength(address), Buffer.byteLength(text)) > MOST_ADDRESS_OCTETS) {
    return { fault: `it is longer than ${MOST_ADDRESS_OCTETS} characters` };
  }
  return { name: '', address, local, domain, smtputf8 };
}

function localFault(local: string): string | undefined {
  if (local === '') return 'there is nothing before @';
  if (local.startsWith('"')) return 'a quoted part before @ is not supported';
  if (local.startsWith('@')) return 'a route before the address is not supported';
  if (local.includes('(')) return 'comments in parentheses are not supported';
  if (holdsEncodedWord(local)) return 'the part before @ looks like an encoded word (=?…?=)';
  if (Buffer.byteLength(local) > MOST_LOCAL_OCTETS) {
    return `the part before @ is longer than ${MOST_LOCAL_OCTETS} characters`;
  }
  if (local.startsWith('.')) return 'the part before @ begins with a dot';
  if (local.endsWith('.')) return 'the part before @ ends with a dot';
  if (local.includes('..')) return 'the part before @ has two dots in a row';
  for (const character of local) {
    if (!LOCAL_CHARACTER.test(character)) {
      return `the part before @ contains ${show(character)}, which is not allowed there`;
    }
  }
  return undefined;
}

function parseDomain(written: string): string | AddressFault {
  if (written === '') return { fault: 'there is no domain after @' };
  if (written.includes('['))
    return { fault: 'an address literal in brackets is not supported: use a domain name' };
  if (written.includes('(')) return { fault: 'comments in parentheses are not supported' };
  // The URL standard's function maps leniently (full width, 。, ©), so characters are checked before
  // it and labels after it.
  const lower = written.normalize('NFC').toLowerCase();
  for (const label of lower.split('.')) {
    const fault = labelFault(label);
    if (fault !== undefined) return { fault };
  }
  const plain = ASCII.test(lower) && !lower.includes('xn--');
  const domain = plain ? lower : domainToASCII(lower);
  if (domain === '') return { fault: `"${written}" is not a valid domain name` };
  for (const label of domain.split('.')) {
    if (label.length > MOST_LABEL_OCTETS) {
      return { fault: `a part of the domain is longer than ${MOST_LABEL_OCTETS} characters` };
    }
  }
  if (domain.length > MOST_DOMAIN_OCTETS)
    return { fault: `the domain is longer than ${MOST_DOMAIN_OCTETS} characters` };
  if (domain === 'localhost' || /^127\.\d+\.\d+\.\d+$/.test(domain)) {
    return { fault: `"${domain}" is this machine itself, not a mail domain` };
  }
  // No top-level domain has one letter or a hyphen with a digit. Names of a private network may,
  // but these two are typos: "shop.co.u" (a truncated country code) and "example.com-2" (a file
  // name's ending).
  if (/(?:^|\.)(?:ac|co|com|edu|gov|net|org)\.[a-z]$/.test(domain))
    return { fault: `the domain "${domain}" looks cut off` };
  if (/(?:^|\.)(?!xn--)[a-z\d]+-[a-z\d-]*\d$/.test(domain))
    return { fault: `the domain "${domain}" does not end like a domain` };
  return domain;
}

function labelFault(written: string): string | undefined {
  if (written === '') return 'the domain has a dot too many';
  // A label that is already punycode must name something that could have been written out.
  const label = written.startsWith('xn--') ? domainToUnicode(written) : written;
  if (label === '' || label.startsWith('xn--')) return `"${written}" is not a valid domain label`;
  for (const character of label) {
    if (!DOMAIN_CHARACTER.test(character))
      return `the domain contains ${show(character)}, which is not allowed there`;
  }
  if (label.normalize('NFKC') !== label)
    return `"${written}" in the domain contains look-alike characters`;
  if (label.startsWith('-') || label.endsWith('-'))
    return `"${written}" in the domain begins or ends with a hyphen`;
  // RFC 5891 4.2.3.1: reserved for encodings, of which xn-- is the only one.
  if (label.slice(2, 4) === '--')
    return `"${written}" in the domain has hyphens in the third and fourth place`;
  return undefined;
}

function show(character: string): string {
  if (character === ' ') return 'a space';
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  return /[\p{Z}\p{C}]/u.test(character) ? `U+${code}` : `"${character}"`;
}
