// A lean HTTP load generator, run as a process of its own: keep-alive sockets, spread over one or
// more ports, that write ready bytes and count answers. The file has one request, or several of the
// same length (the fourth word says how many), sent in turn. load-rounds.ts says when.
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { round, runRounds } from './load-rounds.ts';

const [ports, connections, file, pieces = '1'] = process.argv.slice(2);
const requests = readFileSync(file!);
const length = requests.length / Number(pieces);
let sent = 0;

function nextRequest(): Buffer {
  const at = (sent++ % Number(pieces)) * length;
  return requests.subarray(at, at + length);
}

function client(port: number): void {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let started = 0;
  let waiting = false;
  const fire = (): void => {
    started = performance.now();
    waiting = true;
    socket.write(nextRequest());
  };
  socket.on('data', (chunk) => {
    // Answers are small and come in one piece; the rest of a longer one is passed over.
    if (chunk.toString('latin1', 0, 5) !== 'HTTP/') return;
    if (chunk.toString('latin1', 9, 10) === '2') round.answered++;
    else round.failed++;
    waiting = false;
    round.latencies.push(performance.now() - started);
    if (round.running) fire();
  });
  socket.on('error', () => undefined);
  clients.push(() => {
    if (!waiting) fire();
  });
}

const clients: (() => void)[] = [];
const allPorts = ports!.split(',').map(Number);
for (let index = 0; index < Number(connections); index++)
  client(allPorts[index % allPorts.length]!);

await runRounds(clients);
