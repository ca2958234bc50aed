// Streams as messages know them: their kinds, and the one that is every account's. The streams of an
// account are in streams/streams.ts. Imports nothing, so that web/ reads it too.
export const STREAM_KINDS = ['transactional', 'broadcast'] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** Every account's; what names no stream goes through it. Stored with messages as null. */
export const DEFAULT_STREAM = 'transactional';
