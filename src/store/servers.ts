// The servers that DATABASE_URL names, and which of them is asked: the last that took writes.
// Before: main.ts and cli/ with the URL; after: pool.ts opens every connection to `current()`,
// heartbeat.ts says when it stops answering.
import { urlsOf } from './database-url.ts';

export interface Server {
  /** A URL with one host, as `pg` reads it. */
  url: string;
  /** `host:port`, for people. */
  name: string;
}

export interface Servers {
  count: number;
  current(): Server;
  /** Rises whenever connections that were opened before are to be replaced. */
  generation(): number;
  /**
   * This one cannot be reached or takes no writes: the next one is asked, if there is one, and
   * connections are replaced.
   */
  failed(server: Server): void;
  /** Why nothing is asked at the moment; undefined: the server answers, as far as anybody knows. */
  silence(): Error | undefined;
  /**
   * Nobody answers: what waits for an answer is given up, and new statements fail at once until
   * `answers`.
   */
  silent(reason: Error): void;
  answers(): void;
  /** Told of every silence, to give up what is under way. Answers how to be told no more. */
  onSilence(listener: (reason: Error) => void): () => void;
}

export function openServers(databaseUrl: string): Servers {
  const servers = readServers(databaseUrl);
  const listeners = new Set<(reason: Error) => void>();
  let asked = 0;
  let generation = 0;
  let silence: Error | undefined;
  return {
    count: servers.length,
    current: () => servers[asked]!,
    generation: () => generation,
    failed(server) {
      if (servers[asked] !== server || servers.length === 1) return;
      asked = (asked + 1) % servers.length;
      generation++;
    },
    silence: () => silence,
    silent(reason) {
      silence = reason;
      generation++;
      for (const listener of listeners) listener(reason);
    },
    answers() {
      silence = undefined;
    },
    onSilence(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function readServers(databaseUrl: string): Server[] {
  return (urlsOf(databaseUrl) ?? [databaseUrl]).map((url) => ({ url, name: nameOf(url) }));
}

function nameOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return host || (searchParams.get('host') ?? 'localhost');
}
