// Stopping an HTTP server, for every door that listens: what was begun is answered, then its
// connection closes.
import type { Server } from 'node:http';

/**
 * A client that stopped in the middle of a request is not waited for longer: deliveries in hand
 * need the rest of the time.
 */
const LAST_REQUESTS_WITHIN_MS = 5000;

/**
 * To be called when the server begins to close. Left to itself, node:http keeps a connection open
 * after its answer even then.
 */
export function closeAnswered(server: Server): void {
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), LAST_REQUESTS_WITHIN_MS);
  server.once('close', () => {
    clearInterval(idle);
    clearTimeout(all);
  });
}
