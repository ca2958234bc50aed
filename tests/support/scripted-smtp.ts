// An SMTP server that does exactly what a test says: one function per connection plays the relay's
// part.
import { createServer, type Socket } from 'node:net';

export interface Peer {
  socket: Socket;
  /** Sends each text as a line. */
  send(...lines: string[]): void;
  /** The next line without its CRLF; fails when the client hangs up first. */
  line(): Promise<string>;
  /** The next line, which must match. */
  expect(pattern: RegExp): Promise<string>;
  /** Everything up to the final dot, dots still doubled, without the dot itself. */
  data(): Promise<string>;
  /** Bytes received and not yet read. */
  pending(): string;
  /** Greeting and EHLO with these keywords. */
  greet(...keywords: string[]): Promise<void>;
  /** Until the client hangs up. */
  gone: Promise<void>;
  reset(): void;
}

export interface ScriptedSmtp {
  port: number;
  url: string;
  /** Connections seen so far. */
  connections(): number;
  /** Most connections open at once. */
  mostAtOnce(): number;
  /** Stops and throws the first fault of a script, if there was one. */
  close(): Promise<void>;
}

export async function scriptedSmtp(
  play: (peer: Peer, connection: number) => Promise<void>,
): Promise<ScriptedSmtp> {
  const sockets = new Set<Socket>();
  const faults: unknown[] = [];
  let connections = 0;
  let mostAtOnce = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    mostAtOnce = Math.max(mostAtOnce, sockets.size);
    socket.on('close', () => sockets.delete(socket));
    play(createPeer(socket), connections++).catch((fault) => {
      faults.push(fault);
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    connections: () => connections,
    mostAtOnce: () => mostAtOnce,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (faults.length > 0) throw faults[0];
    },
  };
}

function createPeer(socket: Socket): Peer {
  let buffer = '';
  let ended = false;
  let wake = () => {};
  socket.setNoDelay(true);
  socket.on('data', (chunk) => {
    buffer += chunk.toString('utf8');
    wake();
  });
  const stop = () => {
    ended = true;
    wake();
  };
  socket.on('end', stop).on('error', stop).on('close', stop);
  const gone = new Promise<void>((resolve) =>
    socket.once('close', () => resolve()).once('end', () => resolve()),
  );
  async function until<T>(found: () => T | undefined): Promise<T> {
    for (;;) {
      const result = found();
      if (result !== undefined) return result;
      if (ended) throw new Error(`the client hung up; unread: ${JSON.stringify(buffer)}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  /** Takes what ends with `mark` out of the buffer, without the mark. */
  function take(mark: string): string | undefined {
    const at = buffer.indexOf(mark);
    if (at < 0) return undefined;
    const text = buffer.slice(0, at);
    buffer = buffer.slice(at + mark.length);
    return text;
  }
  const line = () => until(() => take('\r\n'));
  const peer: Peer = {
    socket,
    send: (...lines) => void socket.write(lines.map((text) => `${text}\r\n`).join('')),
    line,
    async expect(pattern) {
      const text = await line();
      if (!pattern.test(text)) throw new Error(`expected ${pattern}, got ${JSON.stringify(text)}`);
      return text;
    },
    data: () =>
      until(() => {
        if (buffer.startsWith('.\r\n')) return take('.\r\n');
        const text = take('\r\n.\r\n');
        return text === undefined ? undefined : `${text}\r\n`;
      }),
    pending: () => buffer,
    async greet(...keywords) {
      peer.send('220 scripted');
      await peer.expect(/^EHLO client\.example$/);
      const lines = ['scripted', ...keywords];
      peer.send(...lines.map((text, index) => `250${index < lines.length - 1 ? '-' : ' '}${text}`));
    },
    gone,
    reset: () => void socket.resetAndDestroy(),
  };
  return peer;
}
