// What kind of image some bytes are, and its size, read from the bytes themselves: a name or a
// header proves nothing. Before it: an upload. Only kinds that email programs show.

export interface ImageKind {
  contentType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  extension: 'png' | 'jpg' | 'gif' | 'webp';
  width: number;
  height: number;
}

/** Undefined: none of them, or its size cannot be read. */
export function readImageKind(bytes: Buffer): ImageKind | undefined {
  for (const { type, extension, sizeOf } of KINDS) {
    const size = sizeOf(bytes);
    if (size && size.width > 0 && size.height > 0) {
      return { contentType: `image/${type}`, extension, ...size };
    }
  }
  return undefined;
}

type Size = Pick<ImageKind, 'width' | 'height'>;

const KINDS = [
  { type: 'png', extension: 'png', sizeOf: sizeOfPng },
  { type: 'gif', extension: 'gif', sizeOf: sizeOfGif },
  { type: 'webp', extension: 'webp', sizeOf: sizeOfWebp },
  { type: 'jpeg', extension: 'jpg', sizeOf: sizeOfJpeg },
] as const;

const holds = (bytes: Buffer, at: number, text: string): boolean =>
  bytes.toString('latin1', at, at + text.length) === text;

function sizeOfPng(bytes: Buffer): Size | undefined {
  if (bytes.length < 24 || !holds(bytes, 0, '\x89PNG\r\n\x1a\n') || !holds(bytes, 12, 'IHDR')) {
    return undefined;
  }
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function sizeOfGif(bytes: Buffer): Size | undefined {
  if (bytes.length < 10 || !(holds(bytes, 0, 'GIF87a') || holds(bytes, 0, 'GIF89a'))) {
    return undefined;
  }
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** RFC 9649: the first chunk says which of three formats follows. */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  if (bytes.length < 30 || !holds(bytes, 0, 'RIFF') || !holds(bytes, 8, 'WEBP')) return undefined;
  if (holds(bytes, 12, 'VP8X')) {
    return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  }
  if (holds(bytes, 12, 'VP8L') && bytes[20] === 0x2f) {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (holds(bytes, 12, 'VP8 ') && holds(bytes, 23, '\x9d\x01\x2a')) {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  return undefined;
}

/** ITU-T T.81: segments, each with its length, until the one that begins the frame. */
function sizeOfJpeg(bytes: Buffer): Size | undefined {
  if (!holds(bytes, 0, '\xff\xd8\xff')) return undefined;
  for (let at = 2; at + 9 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at] !== 0xff) return undefined;
    if (beginsFrame(bytes[at + 1]!)) {
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
  }
  return undefined;
}

/** SOF0 to SOF15, except for the tables (DHT, JPG, DAC) among them. */
const beginsFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
