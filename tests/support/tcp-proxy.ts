// A door between a service and its database that a test can shut: connections break, new ones are
// refused, until it opens again. Or a swamp: connections stay, new ones are taken, and nothing
// comes through until it opens; then what was stuck does.
import { connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from './process.ts';

export interface TcpProxy {
  /** The same URL, through the door. */
  url: string;
  shut(): Promise<void>;
  swallow(): void;
  open(): Promise<void>;
  close(): Promise<void>;
}

export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Map<Socket, Socket>();
  let server: Server | undefined;
  const ownPort = await freePort();
  let swallowing = false;

  function pass(incoming: Socket): void {
    const onward = connect(Number(port), hostname);
    for (const [one, other] of [
      [incoming, onward],
      [onward, incoming],
    ] as const) {
      pairs.set(one, other);
      one.on('error', () => undefined);
      one.on('close', () => {
        if (!swallowing) part(one);
      });
      if (!swallowing) one.pipe(other);
    }
  }
  function part(one: Socket): void {
    pairs.get(one)?.destroy();
    pairs.delete(one);
  }
  async function open(): Promise<void> {
    if (swallowing) {
      swallowing = false;
      for (const [one, other] of pairs) {
        if (one.destroyed) part(one);
        else one.pipe(other);
      }
      return;
    }
    server = createServer(pass);
    await new Promise<void>((resolve) => server!.listen(ownPort, '127.0.0.1', resolve));
  }
  function swallow(): void {
    swallowing = true;
    for (const [one, other] of pairs) {
      one.unpipe(other);
      one.pause();
    }
  }
  async function shut(): Promise<void> {
    swallowing = false;
    const closed = new Promise<void>((resolve) => {
      if (server) server.close(() => resolve());
      else resolve();
    });
    server = undefined;
    for (const socket of pairs.keys()) socket.destroy();
    await closed;
  }

  await open();
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(ownPort);
  return { url: url.href, shut, swallow, open, close: shut };
}
