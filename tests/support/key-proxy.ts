// A proxy that adds X-API-Key, for test tools that cannot send a header of their own. All else
// passes as it came, Host included.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export async function startKeyProxy(
  upstream: string,
  key: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const { hostname, port, pathname } = new URL(upstream);
  const server = createServer((incoming, answer) => {
    const onward = request(
      {
        hostname,
        port,
        path: pathname,
        method: incoming.method,
        headers: { ...incoming.headers, 'x-api-key': key },
      },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    onward.on('error', (error) => answer.writeHead(502).end(error.message));
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
