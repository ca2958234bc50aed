// The servers that DATABASE_URL names, and which one is in use: the last that accepted writes.
// Before it: main.ts and cli/ with the URL. After it: pool.ts opens every connection to
// `current()`, heartbeat.ts says when it stops answering.
import { urlsOf } from './database-url.ts';

export interface Server {
  /** A URL with one host, as `pg` reads it. */
  url: string;
  /** `host:port`, as people read it. */
  name: string;
}

export interface Servers {
  count: number;
  current(): Server;
  /** Increases whenever older connections must be replaced. */
  generation(): number;
  /**
   * This server cannot be reached or refuses writes: the next one is used, if there is one, and
   * connections are replaced.
   */
  failed(server: Server): void;
  /** Why no statement is sent at the moment; undefined: the server answers, as far as we know. */
  silence(): Error | undefined;
  /**
   * The server does not answer: statements under way are given up, and new ones fail at once until
   * `answers`.
   */
  silent(reason: Error): void;
  answers(): void;
  /** Called at every silence, to give up what is under way. Returns how to unsubscribe. */
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
