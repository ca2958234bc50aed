// Base64 as callers send it: strict, or nothing. Before it: attachments and uploads in JSON.
import { allocateBytes } from './large-bytes.ts';

/**
 * Node decodes leniently; a length other than the text implies, or the URL alphabet, reveals a
 * fault without a second pass in JavaScript. Undefined: it is not strict base64.
 */
export function readStrictBase64(text: string): Buffer | undefined {
  const bytes = decoded(text);
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const strict =
    text.length % 4 === 0 &&
    bytes.length === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_');
  return strict ? bytes : undefined;
}

const LONG_CHARS = 1024 * 1024;

function decoded(text: string): Buffer {
  if (text.length < LONG_CHARS) return Buffer.from(text, 'base64');
  const bytes = allocateBytes(Buffer.byteLength(text, 'base64'));
  return bytes.subarray(0, bytes.write(text, 'base64'));
}
