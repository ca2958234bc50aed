// Base64 as callers send it: strict, or nothing. Before it: attachments and uploads in JSON.

/**
 * Node decodes leniently; a length other than the text implies, or the URL alphabet, reveals a
 * fault without a second pass in JavaScript. Undefined: it is not strict base64.
 */
export function readStrictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const strict =
    text.length % 4 === 0 &&
    bytes.length === (text.length / 4) * 3 - padding &&
    !text.includes('-') &&
    !text.includes('_');
  return strict ? bytes : undefined;
}
