// Reads request bodies, for every door: counted while they stream in, bounded in size and time, and
// only as many large ones at a time as memory allows (http/body-room.ts). The rest wait in TCP:
// their sockets are not read. Backpressure, not errors. Doors check who is asking before they come
// here. After it: http/json-bytes.ts.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { notePassed } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';
import { Problem } from '../errors.ts';
import { createBodyRoom, type Place } from './body-room.ts';

/** 25 MB of HTTP request body. */
export const MOST_BODY_BYTES = 26_214_400;
/** Bodies up to this size are read at once: the number of connections bounds them. */
export const SMALL_BODY_BYTES = 64 * 1024;
/** The first buffer of a body that does not announce its size. */
const FIRST_BYTES = 8 * 1024;
/** Room is taken in steps of at least this size: chunks may be single bytes. */
const ROOM_STEP_BYTES = 64 * 1024;
/**
 * A body's time is counted in beats, this many in its grace period: a process that was frozen must
 * not blame the sender for its own pause.
 */
const BEATS_OF_GRACE = 60;

/**
 * A body exists as bytes, then as texts, then as what is written, two of these at a time: 105 MB of
 * bodies take about 200 MB of memory.
 */
const ROOM = {
  totalBytes: 105 * 1024 * 1024,
  largestBytes: MOST_BODY_BYTES,
  leastBytes: 512 * 1024,
  leastBytesEveryMs: 5000,
};
/** For callers who have no key, such as Amazon SNS: what they send is small. */
const STRANGERS_ROOM = { ...ROOM, totalBytes: 8.5 * 1024 * 1024, largestBytes: 512 * 1024 };

export interface BodyLimits {
  /** A body must have arrived after this time … */
  graceMs: number;
  /** … plus the time it takes at this rate. Time in which it was not read does not count. */
  leastBytesPerSecond: number;
  /** How long a body that hardly moves may keep others waiting. */
  giveWayAfterMs: number;
}

export const BODY_LIMITS: BodyLimits = {
  graceMs: 30_000,
  leastBytesPerSecond: 16 * 1024,
  giveWayAfterMs: 5000,
};

export interface ReadBody {
  bytes: Buffer;
  /** Call it when the request is answered. */
  release: () => void;
}

/** Reads the bodies of all doors into one room. */
export interface Bodies {
  read(request: IncomingMessage, whose: BodyOf): Promise<ReadBody>;
  /** The same for bodies that do not come by HTTP. */
  readStream(stream: Readable, whose: BodyOf & { address: string }): Promise<ReadBody>;
}

export interface BodyOf {
  /** Who is asking: a key, or a person. Undefined: unknown. */
  key: string | undefined;
  mostBytes?: number;
}

export function createBodies(deps: {
  /**
   * Undefined: all come from the same address, such as a proxy that does not report its clients.
   */
  addressOf: (request: IncomingMessage) => string | undefined;
  limits?: BodyLimits;
}): Bodies {
  const { addressOf, limits = BODY_LIMITS } = deps;
  const leastBytesEveryMs = limits.giveWayAfterMs;
  const callers = createBodyRoom({ ...ROOM, leastBytesEveryMs });
  const strangers = createBodyRoom({ ...STRANGERS_ROOM, leastBytesEveryMs });
  return {
    read(request, { key, mostBytes = MOST_BODY_BYTES }) {
      const room = key === undefined ? strangers : callers;
      return readBody(request, {
        mostBytes,
        limits,
        announced: Number(request.headers['content-length'] ?? Number.NaN),
        enter: (giveWay) => room.enter({ key, address: addressOf(request) }, giveWay),
      });
    },
    readStream(stream, { key, address, mostBytes = MOST_BODY_BYTES }) {
      return readBody(stream, {
        mostBytes,
        limits,
        announced: Number.NaN,
        enter: (giveWay) => callers.enter({ key, address }, giveWay),
      });
    },
  };
}

interface Reading {
  mostBytes: number;
  limits: BodyLimits;
  /** NaN: not announced. */
  announced: number;
  enter: (giveWay: () => void) => Place;
}

function readBody(
  request: Readable,
  { mostBytes, limits, announced, enter }: Reading,
): Promise<ReadBody> {
  if (announced > mostBytes) return Promise.reject(tooLarge(mostBytes));
  return new Promise((resolve, reject) => {
    let kept: Buffer = NOTHING;
    let size = 0;
    let place: Place | undefined;
    let roomFor = SMALL_BODY_BYTES;
    let beats = 0;
    const beatMs = limits.graceMs / BEATS_OF_GRACE;

    function onData(chunk: Buffer): void {
      if (size + chunk.length > mostBytes) {
        refuse(tooLarge(mostBytes));
        return;
      }
      if (size + chunk.length > roomFor) makeRoom(chunk.length);
      kept = append(kept, size, chunk, announced);
      size += chunk.length;
      if (size > SMALL_BODY_BYTES) notePassed(chunk.length);
    }
    function makeRoom(chunkBytes: number): void {
      const bytes = Math.min(Math.max(chunkBytes, ROOM_STEP_BYTES), mostBytes - roomFor);
      place ??= enter(() => refuse(heldUp()));
      roomFor += bytes;
      const taken = place.take(bytes);
      if (taken !== true) void waitFor(taken);
    }
    async function waitFor(room: Promise<void>): Promise<void> {
      request.pause();
      await room;
      request.resume();
    }
    function checkPace(): void {
      if (request.isPaused()) return;
      const allowedMs = limits.graceMs + (size / limits.leastBytesPerSecond) * 1000;
      if (++beats * beatMs > allowedMs) refuse(tooSlow());
    }
    const pace = setInterval(checkPace, beatMs);

    function onEnd(): void {
      stop();
      place?.complete();
      const bytes = kept.subarray(0, size);
      // A caller that has yet to release its room must not keep the bytes alive.
      kept = NOTHING;
      resolve({ bytes, release: () => place?.leave() });
    }
    function refuse(why: Problem): void {
      stop();
      place?.leave();
      reject(why);
    }
    const onClose = () =>
      refuse(new Problem('invalid', 'The request ended before its body was complete.'));
    function stop(): void {
      clearInterval(pace);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/**
 * Copied into one piece as it arrives: a body in chunks of one byte would otherwise take a hundred
 * times its size.
 */
function append(kept: Buffer, size: number, chunk: Buffer, announced: number): Buffer {
  let into = kept;
  if (size + chunk.length > kept.length) {
    const bytes = Math.max(size + chunk.length, roomier(size, announced));
    // A small body needs nothing more, and comes from Node's pool.
    into = size === 0 ? Buffer.allocUnsafe(bytes) : allocateBytes(bytes);
    kept.copy(into, 0, 0, size);
  }
  chunk.copy(into, size);
  return into;
}

/**
 * Doubles until enough has arrived to trust the announced size, then takes all of it, which uses no
 * memory before the bytes arrive. Copies from one size to the next took as much as the body.
 */
function roomier(size: number, announced: number): number {
  if (size === 0) return Math.min(announced || FIRST_BYTES, SMALL_BODY_BYTES);
  if (Number.isNaN(announced)) return Math.min(2 * size, MOST_BODY_BYTES);
  return size < MEANT_BYTES ? Math.min(2 * size, announced) : announced;
}

const MEANT_BYTES = 1024 * 1024;
const NOTHING = Buffer.alloc(0);

const tooLarge = (mostBytes: number): Problem =>
  new Problem(
    'invalid',
    mostBytes === MOST_BODY_BYTES
      ? 'The request is larger than 25 MB (26,214,400 bytes), attachments included. Send smaller files, or links to them.'
      : `The body is larger than ${mostBytes / 1024} KB.`,
  );

const tooSlow = (): Problem =>
  new Problem(
    'too-slow',
    'The body did not arrive in time. Send it again over a faster connection.',
  );

const heldUp = (): Problem =>
  new Problem(
    'unavailable',
    'Many large requests are arriving at once, and this one came too slowly and would have held up the others. Send it again.',
    { retryAfterSeconds: 10 },
  );
