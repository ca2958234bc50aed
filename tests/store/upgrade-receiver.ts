// A plain receiver of webhooks that answers 200 and remembers what came.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export function startReceiver() {
  const posts: { signature: string | undefined; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const signature = request.headers['x-sm-signature'] as string | undefined;
    posts.push({ signature, body: Buffer.concat(chunks).toString() });
    response.end();
  }).listen(0, '127.0.0.1');
  const url = once(server, 'listening').then(
    () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
  );
  return { posts, url, stop: () => server.close() };
}
