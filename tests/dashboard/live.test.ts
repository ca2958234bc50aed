// Live streams with a reader that is slower than the stream.
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fastify from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { createStreams } from '../../src/dashboard/live.ts';
import { createLog } from '../../src/process/log.ts';
import { until } from '../support/until.ts';

const MB = 1024 * 1024;

it('keeps one state for whoever does not read, and sends the newest once they do', async () => {
  const streams = createStreams(createLog('silent'));
  const server = fastify();
  let reads = 0;
  let response: ServerResponse | undefined;
  server.get('/live', (_, reply) => {
    response = reply.raw;
    return streams.open(reply, {
      ...{ person: 'ada', event: 'state', mayGoOn: async () => true },
      read: async () => `${'x'.repeat(4 * MB)} state ${++reads}.`,
    });
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => {
    streams.endAll();
    return server.close();
  });
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.pause();
  socket.write('GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n');
  // More than what the system holds for a connection.
  await until(() => reads >= 8);
  expect(response!.writableLength).toBeLessThan(6 * MB);

  const newest = reads;
  let heard = '';
  socket.on('data', (piece) => {
    heard = (heard + piece).slice(-100);
  });
  socket.resume();
  await until(() => Number(/state (\d+)/.exec(heard)?.[1]) > newest);
});
