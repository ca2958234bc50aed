// Rounds of load, each from a process of its own (http-load.ts, smtp-load.ts), for benchmarks in
// which several services or several kinds of calls take turns.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startTool, stop } from './processes.ts';

export interface Load {
  /**
   * As many as it takes, or this many a second. Rejects when one was not answered with 2xx.
   */
  round(seconds: number, rate?: number): Promise<{ answered: number; p50: number; p99: number }>;
  close(): Promise<void>;
}

interface Wish {
  connections: number;
  /** For what is sent. */
  folder: string;
}

let opened = 0;

/** Requests of the same length, sent in turn over this many connections, spread over the ports. */
export function openLoad(
  ports: number | readonly number[],
  requests: Buffer[],
  { connections, folder }: Wish,
): Load {
  const file = join(folder, `requests-${opened++}`);
  writeFileSync(file, Buffer.concat(requests));
  return startLoad('http-load', [ports, connections, file, requests.length]);
}

/** The same email again and again, by SMTP. */
export function openSmtpLoad(
  port: number,
  { key, email }: { key: string; email: string },
  { connections, folder }: Wish,
): Load {
  const file = join(folder, `email-${opened++}`);
  writeFileSync(file, email);
  return startLoad('smtp-load', [port, connections, file, key]);
}

function startLoad(program: string, words: unknown[]): Load {
  const child = startTool(program, words.map(String));
  const answers = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  return {
    async round(seconds, rate) {
      child.stdin!.write(`${JSON.stringify({ seconds, rate })}\n`);
      const { failed, ...round } = JSON.parse((await answers.next()).value as string);
      if (failed > 0) throw new Error(`${failed} were refused`);
      return round;
    },
    close: () => stop(child),
  };
}

export function sendRequest(key: string, content: object, path = '/v1/send'): Buffer {
  const body = Buffer.from(JSON.stringify(content));
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

export const getRequest = (key: string, path: string): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${key}\r\n\r\n`);
