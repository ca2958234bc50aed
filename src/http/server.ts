// The HTTP servers of every door: deadlines for heads, a limit on connections, and answers that
// reach clients that are still sending. Before it: TCP. After it: rest/server.ts and mcp/http.ts,
// whose handlers are wrapped in `guard`.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpHandler } from './answer.ts';
import { MOST_BODY_BYTES } from './body.ts';
import { oneByOne } from './one-by-one.ts';

export interface HttpLimits {
  /** A request's head, or a whole small request on the short path, must arrive within this time. */
  headMs: number;
  /** An answered connection is kept this long for the next request. */
  keepAliveMs: number;
  /** A client that reads nothing of its answer for this long is cut off. */
  unreadMs: number;
  /** A client that is answered before its body was read gets this long to read the answer. */
  lingerMs: number;
  mostConnections: number;
  /** Connections from one address that is not a proxy's. */
  mostFromOne: number;
  /** The same for connections that have not sent a whole request yet: the oldest is closed. */
  mostUnprovenFromOne: number;
}

export const HTTP_LIMITS: HttpLimits = {
  headMs: 10_000,
  keepAliveMs: 75_000,
  unreadMs: 60_000,
  lingerMs: 5000,
  mostConnections: 10_000,
  mostFromOne: 2500,
  mostUnprovenFromOne: 500,
};

/**
 * How many connections queue until the loop accepts them. Some programs open more than Node's 511
 * at once, and those that do not fit are dropped: they retry after seconds or are reset. The system
 * has its own limit (net.core.somaxconn).
 */
export const CALLERS_IN_LINE = 4096;

export interface HttpServerOptions {
  limits?: HttpLimits;
  /** Proxies carry the requests of many clients. */
  isProxy: (address: string) => boolean;
}

export interface HttpServer {
  server: Server;
  limits: HttpLimits;
  guard(handler: HttpHandler): HttpHandler;
  /** The connection sent a whole request that was answered. */
  prove(socket: Socket): void;
}

export function createHttpServer({ limits = HTTP_LIMITS, isProxy }: HttpServerOptions): HttpServer {
  const server = createServer({
    keepAliveTimeout: limits.keepAliveMs,
    headersTimeout: limits.headMs,
    // Bodies have their own clock (http/body.ts), which stops while they wait for room.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.min(1000, limits.headMs / 2),
  });
  const connections = limitConnections(server, limits, isProxy);
  const watchReading = cutOffUnread(server, limits.unreadMs);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    continueWhenRead(request, response);
    server.emit('request', request, response);
  });

  function guard(handler: HttpHandler): HttpHandler {
    const lingering = new WeakSet<Socket>();
    return oneByOne((request, response) => {
      const { socket } = request;
      // After an answer that closes the connection, nothing else matters.
      if (lingering.has(socket)) return;
      response.once('finish', () => {
        if (request.complete && response.statusCode < 400) connections.prove(socket);
      });
      watchReading(response);
      if (hasBody(request)) lingerUnlessRead(request, response);
      handler(request, response);
    });

    /**
     * An answer given before the body was read closes the connection, but not while the client is
     * still sending.
     */
    function lingerUnlessRead(request: IncomingMessage, response: ServerResponse): void {
      const { socket } = request;
      const { shouldKeepAlive } = response;
      const closeSoon = socket.destroySoon;
      response.shouldKeepAlive = false;
      socket.destroySoon = () => {
        lingering.add(socket);
        linger(socket, request, limits.lingerMs);
      };
      request.once('end', () => {
        response.shouldKeepAlive = shouldKeepAlive;
        socket.destroySoon = closeSoon;
        if (lingering.has(socket)) socket.destroySoon();
      });
    }
  }

  return { server, limits, guard, prove: connections.prove };
}

/**
 * That time is counted in beats: a process that was frozen must not blame the client for its own
 * pause.
 */
const BEATS = 10;

/**
 * Node's own timeout is not enough: a client that keeps sending is active, whether it reads or not.
 */
function cutOffUnread(server: Server, afterMs: number): (response: ServerResponse) => void {
  const answers = new Map<ServerResponse, { taken: number; beats: number }>();
  const timer = setInterval(() => {
    for (const [{ socket }, seen] of answers) {
      if (socket === null) continue;
      const taken = socket.bytesWritten - socket.writableLength;
      // Nothing to read: we are working on it.
      if (socket.writableLength === 0 || taken !== seen.taken)
        Object.assign(seen, { taken, beats: 0 });
      else if (++seen.beats >= BEATS) socket.destroy();
    }
  }, afterMs / BEATS).unref();
  server.once('close', () => clearInterval(timer));
  return (response) => {
    answers.set(response, { taken: 0, beats: 0 });
    response.once('close', () => answers.delete(response));
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * A client that waits for `100 Continue` (RFC 9110 10.1.1) gets it when reading of the body begins:
 * the key, the plan and the path were checked by then. By default, node:http sends it before any
 * check.
 */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  let told = false;
  request.on('newListener', (event) => {
    if (told || (event !== 'data' && event !== 'readable')) return;
    told = true;
    if (!response.headersSent) response.writeContinue();
  });
}

/**
 * A socket that is closed with unread bytes is reset, and the other side may never see the answer.
 * So for a while nothing more is written and what arrives is discarded.
 */
function linger(socket: Socket, request: IncomingMessage, forMs: number): void {
  const { bytesRead } = socket;
  const end = () => socket.destroy();
  const timer = setTimeout(end, forMs);
  socket.once('close', () => clearTimeout(timer)).once('end', end);
  request.on('data', () => {
    // Most bodies that are too large are not much too large: their senders should be able to read
    // why.
    if (socket.bytesRead - bytesRead > 2 * MOST_BODY_BYTES) end();
  });
  request.resume();
  socket.end();
}

function limitConnections(
  server: Server,
  limits: HttpLimits,
  isProxy: HttpServerOptions['isProxy'],
): { prove(socket: Socket): void } {
  /** The oldest first. */
  const unproven = new Map<Socket, Peer>();
  const peers = new Map<string, Peer>();
  let connections = 0;

  function prove(socket: Socket): void {
    unproven.get(socket)?.unproven.delete(socket);
    unproven.delete(socket);
  }

  /** Closes the oldest connection that nobody would miss. */
  function makeRoomAmong(sockets: { keys(): Iterator<Socket> }): void {
    const oldest = sockets.keys().next().value as Socket;
    prove(oldest);
    oldest.destroy();
  }

  server.on('connection', (socket) => {
    const address = socket.remoteAddress ?? '';
    const peer = peers.get(address) ?? { connections: 0, unproven: new Set() };
    peers.set(address, peer);
    peer.connections++;
    connections++;
    unproven.set(socket, peer);
    peer.unproven.add(socket);
    socket.once('close', () => {
      prove(socket);
      connections--;
      if (--peer.connections === 0) peers.delete(address);
    });
    const ofMany = isProxy(address);
    if (!ofMany && peer.connections > limits.mostFromOne) socket.destroy();
    else if (!ofMany && peer.unproven.size > limits.mostUnprovenFromOne) {
      makeRoomAmong(peer.unproven);
    } else if (connections > limits.mostConnections) makeRoomAmong(unproven);
  });
  return { prove };
}

/** An address that connections come from. */
interface Peer {
  connections: number;
  unproven: Set<Socket>;
}
