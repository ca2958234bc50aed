// A captured mail, read for people: headers, bodies and the list of its files out of its bytes.
// Before it: operations/sandbox.ts.
import { type Part, partText, readMail } from '../feedback/mime.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';

export interface ReadMail {
  headers: [name: string, value: string][];
  html: string | null;
  text: string | null;
  attachments: { filename: string; contentType: string; size: number }[];
  /** As it went over the wire. */
  raw: string;
}

const LONGEST_SHOWN = 4 * 1024 * 1024;

export function readCaptured(raw: Buffer): ReadMail {
  const { parts } = readMail(raw);
  return {
    headers: headerLines(raw),
    html: withoutPixel(textOf(parts, 'text/html')),
    text: textOf(parts, 'text/plain'),
    attachments: attachmentsIn(parts),
    raw: raw.subarray(0, LONGEST_SHOWN).toString('utf8'),
  };
}

function headerLines(raw: Buffer): [string, string][] {
  const end = raw.indexOf('\r\n\r\n');
  const head = raw.subarray(0, end < 0 ? raw.length : end).toString('utf8');
  return head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    });
}

function textOf(parts: readonly Part[], type: string): string | null {
  const part = parts.find((it) => it.type === type && !isAttachment(it));
  return part === undefined ? null : partText(part, LONGEST_SHOWN);
}

/** Who looks at a captured mail here is not its reader: that must not count as an open. */
const withoutPixel = (html: string | null): string | null => html?.replace(PIXEL, '') ?? null;

const PIXEL = new RegExp(`<img src="[^"]*${TRACKING_PATHS.open}[\\w-]+"[^>]*>`, 'g');

const isAttachment = (part: Part): boolean =>
  /^\s*attachment/i.test(part.headers.get('content-disposition')?.[0] ?? '');

const attachmentsIn = (parts: readonly Part[]): ReadMail['attachments'] =>
  parts.filter(isAttachment).map((part) => ({
    filename: part.parameters.get('name') ?? 'attachment',
    contentType: part.type,
    // Base64, less its line breaks.
    size: Math.floor((part.body.replace(/\s+/g, '').replace(/=+$/, '').length * 3) / 4),
  }));
