// A lean HTTP load generator, run as a process of its own: keep-alive sockets, spread over one or more ports, that write ready bytes and count answers.
// Commands come on standard input as JSON lines {seconds}; each is answered with {answered, failed, p50, p99}.
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

const [ports, connections, file] = process.argv.slice(2);
const { readFileSync } = await import('node:fs');
const request = readFileSync(file!);

let running = false;
let answered = 0;
let failed = 0;
let latencies: number[] = [];

function client(port: number): void {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.setNoDelay(true);
  let started = 0;
  let waiting = false;
  const fire = (): void => {
    started = performance.now();
    waiting = true;
    socket.write(request);
  };
  socket.on('data', (chunk) => {
    // Answers are small and come in one piece.
    if (chunk.toString('latin1', 9, 12) === '202') answered++;
    else failed++;
    waiting = false;
    latencies.push(performance.now() - started);
    if (running) fire();
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

for await (const line of createInterface({ input: process.stdin })) {
  const { seconds } = JSON.parse(line) as { seconds: number };
  answered = 0;
  failed = 0;
  latencies = [];
  running = true;
  for (const start of clients) start();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  running = false;
  await new Promise((resolve) => setTimeout(resolve, 50));
  latencies.sort((a, b) => a - b);
  const at = (q: number) => latencies[Math.floor(latencies.length * q)] ?? 0;
  process.stdout.write(`${JSON.stringify({ answered, failed, p50: at(0.5), p99: at(0.99) })}\n`);
}
