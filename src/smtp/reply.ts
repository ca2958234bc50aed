// SMTP replies (RFC 5321 4.2) from a stream of bytes, however they are split. Before: wire.ts with
// what the socket received. After: the dialogue in session.ts and transaction.ts decides by the
// code.

export interface SmtpReply {
  code: number;
  /** RFC 3463 status such as `4.7.1`; '' if the reply has none. */
  enhanced: string;
  /** Code and all lines as one printable line: `250 2.0.0 Ok: queued as XYZ`. */
  text: string;
  /** The lines without their code, for EHLO. */
  lines: string[];
}

// RFC 5321 4.5.3.1.5 says 512; real servers write more. Beyond these a peer is broken or hostile.
const MOST_LINE = 4096;
const MOST_LINES = 256;
const MOST_TEXT = 1000;

/**
 * Collects bytes; `feed` emits the replies that are complete and throws on anything that is not a
 * reply.
 */
export function createReplyReader() {
  let rest = '';
  let lines: string[] = [];
  let code = '';

  function takeLine(line: string): SmtpReply | undefined {
    const mark = line.charAt(3);
    if (!/^[2-5]\d\d$/.test(line.slice(0, 3)) || (mark !== '' && mark !== ' ' && mark !== '-')) {
      throw new Error(
        `the relay sent something that is not an SMTP reply: "${printable(line, 80)}"`,
      );
    }
    if (lines.length > 0 && line.slice(0, 3) !== code) {
      throw new Error(
        `the relay changed the code within one reply from ${code} to ${line.slice(0, 3)}`,
      );
    }
    code = line.slice(0, 3);
    lines.push(line.slice(4));
    if (lines.length > MOST_LINES)
      throw new Error(`the relay sent a reply of over ${MOST_LINES} lines`);
    if (mark === '-') return undefined;
    const reply = makeReply(Number(code), lines);
    lines = [];
    return reply;
  }

  return {
    feed(chunk: Buffer, emit: (reply: SmtpReply) => void): void {
      rest += chunk.toString('latin1');
      let start = 0;
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', start)) {
        const line = rest.slice(
          start,
          rest.charAt(end - 1) === '\r' && end > start ? end - 1 : end,
        );
        if (line.length > MOST_LINE) break;
        const reply = takeLine(fromUtf8(line));
        if (reply !== undefined) emit(reply);
        start = end + 1;
      }
      rest = rest.slice(start);
      if (rest.length > MOST_LINE)
        throw new Error(`the relay sent a line of over ${MOST_LINE} characters`);
    },
    /** Nothing half-read: after STARTTLS no byte may be left over. */
    isEmpty: () => rest === '' && lines.length === 0,
  };
}

/** A reply of our own if the relay gave none. */
export function ownReply(code: number, enhanced: string, words: string): SmtpReply {
  return makeReply(code, [`${enhanced} ${words}`]);
}

function makeReply(code: number, lines: string[]): SmtpReply {
  const enhanced = /^[245]\.\d{1,3}\.\d{1,3}(?=\s|$)/.exec(lines[0]!)?.[0] ?? '';
  const text = printable(`${code} ${lines.join(' ')}`, MOST_TEXT).trimEnd();
  return { code, enhanced, text, lines };
}

function printable(text: string, length: number): string {
  const safe = /[^\x20-\x7e]/.test(text) ? text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ') : text;
  return safe.length > length ? safe.slice(0, length) : safe;
}

function fromUtf8(latin1: string): string {
  return /[\x80-\xff]/.test(latin1) ? Buffer.from(latin1, 'latin1').toString() : latin1;
}
