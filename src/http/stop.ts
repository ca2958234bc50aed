// Stopping an HTTP server, for every door that listens: requests that have started are answered,
// then their connections close.
import type { Server } from 'node:http';

/**
 * How long to wait for a client that stopped in the middle of a request: deliveries in progress
 * need the rest of the time.
 */
const LAST_REQUESTS_WITHIN_MS = 5000;

/**
 * Call it when the server begins to close. By default, node:http keeps a connection open after its
 * answer even then.
 */
export function closeAnswered(server: Server): void {
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const all = setTimeout(() => server.closeAllConnections(), LAST_REQUESTS_WITHIN_MS);
  server.once('close', () => {
    clearInterval(idle);
    clearTimeout(all);
  });
}
