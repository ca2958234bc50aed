// Live streams (server-sent events): what a page shows, sent again whenever it changes. Used by
// routes of kind `stream`. The database is queried twice a second while someone looks; that also
// shows changes by other processes.
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { Problem } from '../errors.ts';
import type { Log } from '../process/log.ts';

const ASK_EVERY_MS = 500;
/** Proxies close silent connections; and a viewer who has lost access is cut off by then. */
const HEARTBEAT_EVERY_MS = 15_000;
const MOST_STREAMS = 500;
/** One for each page that a person has open. */
const MOST_OF_PERSON = 25;

export interface Stream {
  /** Who looks. */
  person: string;
  event: string;
  /** What to show now. */
  read(): Promise<unknown>;
  /** Whether the viewer still has access. */
  mayGoOn(): Promise<boolean>;
}

export interface Streams {
  open(reply: FastifyReply, stream: Stream): Promise<void>;
  endAll(): void;
}

export function createStreams(log: Log): Streams {
  const open = new Map<AbortController, Stream['person']>();
  const countOf = (person: string): number =>
    [...open.values()].filter((other) => other === person).length;

  return {
    async open(reply, stream) {
      if (open.size >= MOST_STREAMS || countOf(stream.person) >= MOST_OF_PERSON) {
        throw new Problem(
          'unavailable',
          'Too many pages are open at once. Close some, then reload.',
          {
            retryAfterSeconds: 30,
          },
        );
      }
      const end = new AbortController();
      open.set(end, stream.person);
      // From now on: a viewer who leaves during the first query is not followed forever.
      reply.raw.once('close', () => end.abort());
      // Refusals, such as for an id of another account, are still plain answers.
      const first = await stream.read().catch((error) => {
        open.delete(end);
        throw error;
      });
      reply.hijack();
      const response = reply.raw;
      response.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      follow(stream, first, response, end.signal)
        .catch((error) => {
          if (!(error instanceof Problem)) log.warn({ err: error }, 'a live stream broke');
        })
        .finally(() => {
          open.delete(end);
          response.end();
        });
    },

    endAll() {
      for (const end of open.keys()) end.abort();
    },
  };
}

async function follow(
  stream: Stream,
  first: unknown,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  let shown = '';
  let heardAt = performance.now();
  for (let value = first; ; value = await stream.read()) {
    const text = JSON.stringify(value);
    // A viewer who has not read the last state yet only needs the newest.
    if (text !== shown && !response.writableNeedDrain) {
      shown = text;
      response.write(`event: ${stream.event}\ndata: ${text}\n\n`);
    }
    if (performance.now() - heardAt > HEARTBEAT_EVERY_MS) {
      if (!(await stream.mayGoOn())) return;
      if (!response.writableNeedDrain) response.write(': still here\n\n');
      heardAt = performance.now();
    }
    await pause(ASK_EVERY_MS, signal);
    if (signal.aborted) return;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
