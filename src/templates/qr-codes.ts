// QR codes in a rendered email: each `<img src="qr:…">`, which is what ui.qr writes, becomes a PNG
// that the email carries. Before: email-maker.ts rendered the HTML, in a thread. After:
// sending/accept.ts puts the images beside it. PNG, because email programs show no SVG; inside the
// email, because nobody has to fetch it.
import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { Problem } from '../errors.ts';
import type { CarriedFile } from './carried-file.ts';
import { qrModules } from './qr-modules.ts';

const MOST_CODES = 10;
/** Denser ones cannot be scanned off a screen. */
const LONGEST_TEXT_BYTES = 500;
/** ISO/IEC 18004: what is left blank around it, in modules. */
const QUIET_ZONE = 4;
/** At least; twice the size at which emails show it, for high-density screens. */
const LEAST_PIXELS = 400;
const MARK = 'src="qr:';

export function carryQrCodes(html: string): { html: string; files: CarriedFile[] } {
  const [before, ...marked] = html.split(MARK);
  if (marked.length === 0) return { html, files: [] };
  const images = new Map<string, CarriedFile>();
  const pieces = marked.map((piece) => {
    const end = piece.indexOf('"');
    const text = readText(end === -1 ? piece : piece.slice(0, end));
    const image = images.get(text) ?? imageOf(text);
    images.set(text, image);
    if (images.size > MOST_CODES) {
      throw fault(`the email has more than ${MOST_CODES} QR codes. Leave some of them out`);
    }
    return `src="cid:${image.contentId}${end === -1 ? '' : piece.slice(end)}`;
  });
  return { html: [before, ...pieces].join(''), files: [...images.values()] };
}

function readText(encoded: string): string {
  // Each byte may take three characters.
  if (encoded.length > 3 * LONGEST_TEXT_BYTES) throw tooLong();
  let text: string;
  try {
    text = decodeURIComponent(encoded);
  } catch {
    throw fault('the text of a QR code is not percent-encoded. Write it with ui.qr(…)');
  }
  if (text === '') throw fault('a QR code has no text. Pass a text to ui.qr');
  if (Buffer.byteLength(text) > LONGEST_TEXT_BYTES) throw tooLong();
  return text;
}

const tooLong = (): Problem =>
  fault(
    `the text of a QR code has more than ${LONGEST_TEXT_BYTES} bytes, and nobody could scan it. Give it a short link`,
  );

const fault = (message: string): Problem =>
  new Problem('invalid', `${message[0]!.toUpperCase()}${message.slice(1)}.`, { at: 'template' });

/** The same text often recurs in tests and previews; what is kept is small. */
const MOST_KEPT = 50;
const kept = new Map<string, CarriedFile>();

function imageOf(text: string): CarriedFile {
  const known = kept.get(text);
  if (known !== undefined) return known;
  const image = {
    contentId: `qr-${createHash('sha256').update(text).digest('hex').slice(0, 20)}`,
    filename: 'qr-code.png',
    contentType: 'image/png',
    content: drawPng(qrModules(Buffer.from(text))!),
  };
  if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!);
  kept.set(text, image);
  return image;
}

/** For pages; nothing is kept, because it may be a secret. */
export const qrPng = (text: string): Buffer => drawPng(qrModules(Buffer.from(text))!);

/** One bit a pixel; modules in whole pixels, so that their edges are sharp. */
function drawPng(modules: boolean[][]): Buffer {
  const across = modules.length + 2 * QUIET_ZONE;
  const pixels = Math.ceil(LEAST_PIXELS / across);
  const side = across * pixels;
  const bytesPerLine = 1 + Math.ceil(side / 8);
  const lines = Buffer.alloc(side * bytesPerLine);
  for (let y = 0; y < side; y++) {
    const row = modules[Math.floor(y / pixels) - QUIET_ZONE] ?? [];
    for (let x = 0; x < side; x++) {
      // White is 1; the first byte of a line says that it is not filtered.
      if (!row[Math.floor(x / pixels) - QUIET_ZONE])
        lines[y * bytesPerLine + 1 + (x >> 3)]! |= 128 >> (x & 7);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}
