// Reading request bodies, for every door that speaks HTTP: counted while they stream in, never past
// the limit, never for ever, and only as many large ones at a time as memory allows
// (http/body-room.ts). The rest wait in TCP: their sockets are simply not read. Backpressure, not
// errors. Doors judge who is asking before they come here. After it: http/json-bytes.ts.
import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';
import { createBodyRoom, type Place } from './body-room.ts';

/** 25 MB of HTTP request body. */
export const MOST_BODY_BYTES = 26_214_400;
/** Bodies up to this size are read at once: the number of connections bounds them. */
const SMALL_BODY_BYTES = 64 * 1024;

/**
 * A body passes through five forms (bytes, texts, base64, bytes, wire): 80 MB of bodies are about
 * 400 MB of memory.
 */
const ROOM = {
  totalBytes: 80 * 1024 * 1024,
  largestBytes: MOST_BODY_BYTES,
  leastBytes: 512 * 1024,
  leastBytesEveryMs: 5000,
};
/** For callers who have no key, such as Amazon SNS: what they send is small. */
const STRANGERS_ROOM = { ...ROOM, totalBytes: 8 * 1024 * 1024, largestBytes: 512 * 1024 };

export interface BodyLimits {
  /** A body must be here after this time … */
  graceMs: number;
  /** … and as long as it takes at this rate. Time in which it was not read does not count. */
  leastBytesPerSecond: number;
  /** How long who hardly moves may keep others waiting. */
  giveWayAfterMs: number;
}

export const BODY_LIMITS: BodyLimits = {
  graceMs: 30_000,
  leastBytesPerSecond: 16 * 1024,
  giveWayAfterMs: 5000,
};

export interface ReadBody {
  bytes: Buffer;
  /** To be called when the request is answered. */
  release: () => void;
}

/** Reads the bodies of all doors into one room. */
export interface Bodies {
  read(request: IncomingMessage, whose: BodyOf): Promise<ReadBody>;
}

export interface BodyOf {
  /** Who was found to be asking: a key, or a person. Undefined: anybody. */
  key: string | undefined;
  mostBytes?: number;
}

export function createBodies(deps: {
  /** Undefined: all come from the same one, such as a proxy that does not tell for whom. */
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
        enter: (giveWay) => room.enter({ key, address: addressOf(request) }, giveWay),
      });
    },
  };
}

interface Reading {
  mostBytes: number;
  limits: BodyLimits;
  enter: (giveWay: () => void) => Place;
}

function readBody(
  request: IncomingMessage,
  { mostBytes, limits, enter }: Reading,
): Promise<ReadBody> {
  const announced = Number(request.headers['content-length'] ?? Number.NaN);
  if (announced > mostBytes) return Promise.reject(tooLarge(mostBytes));
  return new Promise((resolve, reject) => {
    let kept: Buffer = Buffer.allocUnsafe(
      Math.min(announced || SMALL_BODY_BYTES, SMALL_BODY_BYTES),
    );
    let size = 0;
    let place: Place | undefined;
    let waitedMs = 0;
    const startedAt = performance.now();

    function onData(chunk: Buffer): void {
      if (size + chunk.length > mostBytes) {
        refuse(tooLarge(mostBytes));
        return;
      }
      if (size + chunk.length > SMALL_BODY_BYTES) makeRoom(chunk.length);
      kept = append(kept, size, chunk, announced);
      size += chunk.length;
    }
    function makeRoom(bytes: number): void {
      place ??= enter(() => refuse(heldUp()));
      const taken = place.take(bytes);
      if (taken !== true) void waitFor(taken);
    }
    async function waitFor(room: Promise<void>): Promise<void> {
      const since = performance.now();
      request.pause();
      await room;
      waitedMs += performance.now() - since;
      request.resume();
    }
    function checkPace(): void {
      const allowedMs = limits.graceMs + waitedMs + (size / limits.leastBytesPerSecond) * 1000;
      const leftMs = allowedMs - (performance.now() - startedAt);
      if (leftMs > 0 || request.isPaused()) pace = setTimeout(checkPace, Math.max(leftMs, 250));
      else refuse(tooSlow());
    }
    let pace = setTimeout(checkPace, limits.graceMs);

    function onEnd(): void {
      stop();
      place?.complete();
      resolve({ bytes: kept.subarray(0, size), release: () => place?.leave() });
    }
    function refuse(why: Problem): void {
      stop();
      place?.leave();
      reject(why);
    }
    const onClose = () =>
      refuse(new Problem('invalid', 'The request ended before its body was complete.'));
    function stop(): void {
      clearTimeout(pace);
      request.off('data', onData).off('end', onEnd).off('close', onClose);
    }
    request.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/**
 * Copied into one piece as it comes: a body in chunks of one byte would else take a hundred times
 * its size.
 */
function append(kept: Buffer, size: number, chunk: Buffer, announced: number): Buffer {
  let into = kept;
  if (size + chunk.length > kept.length) {
    const most = Number.isNaN(announced) ? MOST_BODY_BYTES : announced;
    const doubled = Math.max(size + chunk.length, Math.min(2 * kept.length, most));
    into = Buffer.allocUnsafe(doubled);
    kept.copy(into, 0, 0, size);
  }
  chunk.copy(into, size);
  return into;
}

const tooLarge = (mostBytes: number): Problem =>
  new Problem(
    'invalid',
    mostBytes === MOST_BODY_BYTES
      ? 'The request is larger than 25 MB (26,214,400 bytes), attachments included. Send smaller files, or links to them.'
      : `The body is larger than ${mostBytes / 1024} KB.`,
  );

const tooSlow = (): Problem =>
  new Problem('too-slow', 'The body did not arrive in time. Send it again, over a faster line.');

const heldUp = (): Problem =>
  new Problem(
    'unavailable',
    'Many large requests arrive at once, and this one came too slowly to let it hold up the others. Send it again.',
    { retryAfterSeconds: 10 },
  );
