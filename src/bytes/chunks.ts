// Something long on its way out, as chunks in their order: bytes, and what is written only as it is
// taken, so that a file of 18 MB is never in memory as base64 too. Before: mail/compose.ts. After:
// smtp/data.ts and base64-text.ts take it, piece by piece.
import { freeBuffer, LEAST_FREED_BYTES } from './free-bytes.ts';

export type Chunk = Buffer | LateChunk;

/** Written each time someone takes it. */
export interface LateChunk {
  /** The number of bytes, once written. */
  readonly length: number;
  /** What it is written from. */
  readonly sources: readonly Buffer[];
  pieces(): Iterable<Buffer>;
}

export const isLate = (chunk: Chunk): chunk is LateChunk => !Buffer.isBuffer(chunk);

export const bytesBehind = (chunk: Chunk): readonly Buffer[] =>
  isLate(chunk) ? chunk.sources : [chunk];

/** Those that are not late are one piece each. */
export function* piecesOf(chunks: readonly Chunk[]): Generator<Buffer> {
  for (const chunk of chunks) {
    if (isLate(chunk)) yield* chunk.pieces();
    else yield chunk;
  }
}

export const lengthOf = (chunks: readonly Chunk[]): number =>
  chunks.reduce((sum, { length }) => sum + length, 0);

/** For their only owner. Several chunks may be parts of one buffer. */
export function freeChunks(chunks: readonly Chunk[]): void {
  const used = new Map<ArrayBufferLike, number>();
  for (const { buffer, length } of chunks.flatMap(bytesBehind)) {
    used.set(buffer, (used.get(buffer) ?? 0) + length);
  }
  for (const [buffer, length] of used) if (length >= LEAST_FREED_BYTES) freeBuffer(buffer);
}
