// A thousand callers who arrive at the same moment queue: none is dropped before the service has
// seen it.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';

const CALLERS = 1500;

/** In this process the kernel alone answers callers while the test does not let go of the loop. */
const isLinux = process.platform === 'linux';
const room = isLinux ? Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8')) : 0;
const reason = `the system lets ${room} callers stand in line, fewer than ${CALLERS}`;
if (room < CALLERS) console.log(`tests/http/burst is skipped: ${reason}`);

it.skipIf(room < CALLERS)('callers who come at once are all connected', async () => {
  const service = await startTestService({ MCP_PORT: '0' });
  const sockets: Socket[] = [];
  try {
    for (const url of [service.url, service.service.mcpUrl!]) {
      const port = Number(new URL(url).port);
      for (let n = 0; n < CALLERS; n++) {
        sockets.push(connect(port, '127.0.0.1').on('error', () => undefined));
      }
      // Node connects at the end of this turn; the service's turn comes after that.
      await new Promise((resolve) => process.nextTick(resolve));
      expect(statesTo(port)).toEqual({ established: CALLERS, waiting: 0 });
    }
  } finally {
    for (const socket of sockets) socket.destroy();
    await service.stop();
  }
});

/** Of connections to a port of this machine, as the kernel sees them now. */
function statesTo(port: number): { established: number; waiting: number } {
  const to = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const states = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , remote]) => remote?.endsWith(to))
    .map(([, , , state]) => state);
  const count = (state: string) => states.filter((one) => one === state).length;
  return { established: count('01'), waiting: count('02') };
}
