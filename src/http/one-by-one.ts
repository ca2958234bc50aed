// Requests that arrive together over one connection (pipelining): they are answered in order anyway
// (RFC 9112 9.3.2), so each starts when the one before it is answered. Started together, the 1,300
// that fit into one packet held the event loop for 270 ms. Before: server.ts. After: a door.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpHandler } from './answer.ts';

/** A client that sends more without reading answers is cut off: reading alone takes 80 µs each. */
const MOST_WAITING = 256;

export function oneByOne(handler: HttpHandler): HttpHandler {
  /** What waits for the current request. */
  const connections = new WeakMap<Socket, (() => void)[]>();

  function begin(request: IncomingMessage, response: ServerResponse): void {
    response.once('close', () => next(request.socket));
    handler(request, response);
  }

  function next(socket: Socket): void {
    const following = socket.destroyed ? undefined : connections.get(socket)?.shift();
    if (following === undefined) connections.delete(socket);
    // In a separate turn.
    else setImmediate(following);
  }

  return (request, response) => {
    const { socket } = request;
    const waiting = connections.get(socket);
    if (waiting === undefined) {
      connections.set(socket, []);
      begin(request, response);
    } else if (waiting.length < MOST_WAITING) waiting.push(() => begin(request, response));
    else socket.destroy();
  };
}
