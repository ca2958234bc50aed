// Streams as messages know them: their kinds, and the one that every account has. The streams of an
// account are in streams/streams.ts. Imports nothing, so that web/ can import it too.
export const STREAM_KINDS = ['transactional', 'broadcast'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** Every account has it; a send that names no stream uses it. Stored with messages as null. */
export const DEFAULT_STREAM = 'transactional';
