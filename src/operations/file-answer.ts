// A file as an answer: bytes that each door writes as it needs them. Before it: operations that
// read one. After it: http/json-answer.ts, or the bytes themselves for a client that accepts
// application/octet-stream.
import { z } from 'zod';
import { Base64Text } from '../bytes/base64-text.ts';
import type { Chunk } from '../bytes/chunks.ts';

/** As in a send. */
export const file = z
  .object({
    filename: z.string().describe('File name.'),
    content_type: z.string().describe('Media type.'),
    content_base64: z.string().describe('What is in it, base64.'),
  })
  .meta({ id: 'File' });

export type FileAnswer = z.output<typeof file>;

/** JSON turns it into text; nothing on the way reads it. */
export const fileAnswer = (
  filename: string,
  contentType: string,
  chunks: readonly Chunk[],
): FileAnswer => ({
  filename,
  content_type: contentType,
  content_base64: new Base64Text(chunks) as unknown as string,
});
