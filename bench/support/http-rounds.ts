// Rounds of HTTP load from a process of its own (http-load.ts), for benchmarks in which several
// services take turns.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Load {
  /**
   * As many as it takes, or this many a second. Rejects when one was not answered with 2xx.
   */
  round(seconds: number, rate?: number): Promise<{ answered: number; p50: number; p99: number }>;
  close(): Promise<void>;
}

let opened = 0;

/** Requests of the same length, sent in turn over this many connections. */
export function openLoad(
  port: number,
  requests: Buffer[],
  { connections, folder }: { connections: number; folder: string },
): Load {
  const file = join(folder, `requests-${opened++}`);
  writeFileSync(file, Buffer.concat(requests));
  const words = [port, connections, file, requests.length].map(String);
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', 'bench/support/http-load.ts', ...words],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    async round(seconds, rate) {
      child.stdin!.write(`${JSON.stringify({ seconds, rate })}\n`);
      const { failed, ...round } = JSON.parse((await answers.next()).value as string);
      if (failed > 0) throw new Error(`${failed} requests were refused`);
      return round;
    },
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

export function sendRequest(key: string, email: object): Buffer {
  const body = Buffer.from(JSON.stringify(email));
  const head = `POST /v1/send HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

export const getRequest = (key: string, path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`);
