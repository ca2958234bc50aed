// The envelope as SMTP commands: MAIL and RCPT with the parameters that the relay understands.
// Before: attempt.ts says who and relay.ts what the relay offers. After: transaction.ts writes the
// lines.

export interface Envelope {
  /** Return path. */
  from: string;
  /** `local@a-label-domain` as parseMailbox returns it. */
  recipients: readonly string[];
  /** Comes back in the relay's reports (RFC 3461 4.4). */
  envelopeId: string;
  /**
   * The email's header contains raw UTF-8. Recipients that need SMTPUTF8 are detected here without
   * it.
   */
  smtputf8: boolean;
}

/** `MAIL FROM:<…>` with SIZE, BODY, SMTPUTF8, RET and ENVID as far as offered. */
export function mailCommand(
  envelope: Envelope,
  size: number,
  utf8: boolean,
  offered: ReadonlyMap<string, string>,
): string {
  let command = `MAIL FROM:<${checked(envelope.from)}>`;
  if (offered.has('SIZE')) command += ` SIZE=${size}`;
  if (utf8) command += offered.has('8BITMIME') ? ' BODY=8BITMIME SMTPUTF8' : ' SMTPUTF8';
  if (offered.has('DSN')) command += ` RET=HDRS ENVID=${xtext(envelope.envelopeId)}`;
  return `${command}\r\n`;
}

/** `RCPT TO:<…>`, asking for reports of all three kinds. */
export function rcptCommand(recipient: string, offered: ReadonlyMap<string, string>): string {
  const command = `RCPT TO:<${checked(recipient)}>`;
  if (!offered.has('DSN')) return `${command}\r\n`;
  return `${command} NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=${originalRecipient(recipient)}\r\n`;
}

export function needsUtf8(address: string): boolean {
  return /[^\x00-\x7f]/.test(address);
}

/**
 * RFC 3461 4.2 for ASCII; RFC 6533 3 (utf-8-addr-xtext, the form that is safe everywhere) for the
 * rest.
 */
function originalRecipient(recipient: string): string {
  if (!needsUtf8(recipient)) return `rfc822;${xtext(recipient)}`;
  const escaped = recipient.replace(
    /[^\x21-\x2a\x2c-\x3c\x3e-\x5b\x5d-\x7e]/gu,
    (character) => `\\x{${character.codePointAt(0)!.toString(16).toUpperCase()}}`,
  );
  return `utf-8;${escaped}`;
}

/** RFC 3461 4: printable ASCII but "+" and "="; the rest as +HH. */
function xtext(text: string): string {
  if (/^[\x21-\x2a\x2c-\x3c\x3e-\x7e]*$/.test(text)) return text;
  let encoded = '';
  for (const byte of Buffer.from(text)) {
    const plain = byte > 0x20 && byte < 0x7f && byte !== 0x2b && byte !== 0x3d;
    encoded += plain
      ? String.fromCharCode(byte)
      : `+${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return encoded;
}

/** Addresses arrive parsed; this is the last check before they are put into a command. */
function checked(address: string): string {
  if (/[\s<>\p{Cc}]/u.test(address))
    throw new TypeError('an envelope address contains a forbidden character');
  return address;
}
