// Bare sockets for tests of HTTP itself: what is sent is exactly what the test says, and what comes
// back is kept.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Line {
  socket: Socket;
  /** All that the other side said so far. */
  said: () => string;
  send: (bytes: string | Buffer) => void;
  closed: Promise<unknown>;
}

export async function openLine(url: string): Promise<Line> {
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk;
  });
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await once(socket, 'connect');
  return { socket, said: () => said, send: (bytes) => socket.write(bytes), closed };
}

export const head = (request: string, ...fields: string[]): string =>
  `${[`${request} HTTP/1.1`, 'host: 127.0.0.1', ...fields].join('\r\n')}\r\n\r\n`;
