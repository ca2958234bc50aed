// A door between a service and its database that a test can shut: connections break, new ones are refused, until it opens again.
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  /** The same URL, through the door. */
  url: string;
  shut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let ownPort = 0;

  function pass(incoming: Socket): void {
    const onward = connect(Number(port), hostname);
    for (const [one, other] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  }
  async function open(): Promise<void> {
    server = createServer(pass);
    await new Promise<void>((resolve) => server!.listen(ownPort, '127.0.0.1', resolve));
    ownPort = (server.address() as { port: number }).port;
  }
  async function shut(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
    server = undefined;
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await open();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return { url: url.href, shut, open, close: shut };
}
