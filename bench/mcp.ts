// npm run bench mcp: emails accepted per second through send_email beside POST /v1/send, the same
// emails over the same service and connections in alternating rounds. The goal is a ratio of at
// least 0.5 in both revisions of the protocol.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { openInstallation } from './support/installation.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const SECONDS = Number(process.env.SECONDS ?? 2);
const CONNECTIONS = 32;
const WAYS = ['POST /v1/send', 'send_email, 2026-07-28', 'send_email, 2025-11-25'] as const;
type Way = (typeof WAYS)[number];

interface Order {
  way: Way;
  key: string;
  port: number;
}

interface Round {
  rate: number;
  nodeUs: number;
}

if (process.argv[2] === 'load') answerOrders();
else await main();

async function main(): Promise<void> {
  const installation = await openInstallation();
  const { key } = await installation.account(['email:send']);
  const service = await installation.serve('api');
  const load = fork(fileURLToPath(import.meta.url), ['load'], { execArgv: ['--import', 'tsx'] });
  try {
    const rounds: Record<Way, Round[]> = Object.fromEntries(
      WAYS.map((way) => [way, [] as Round[]]),
    ) as never;
    for (const way of WAYS) await runRound(way);
    for (let round = 0; round < ROUNDS; round++) {
      for (const way of WAYS) rounds[way].push(await runRound(way));
    }
    report(rounds);
  } finally {
    load.kill();
    await service.stop();
    await installation.close();
  }

  async function runRound(way: Way): Promise<Round> {
    const used = installation.meter(service);
    load.send({ way, key, port: service.port } satisfies Order);
    const [{ answered, failed }] = (await once(load, 'message')) as [
      { answered: number; failed: string | null },
    ];
    if (failed !== null) throw new Error(`${way}: ${failed}`);
    return { rate: answered / SECONDS, nodeUs: used().node / answered };
  }
}

function report(rounds: Record<Way, Round[]>): void {
  const rest = rounds['POST /v1/send'];
  for (const way of WAYS) {
    const of = (pick: (round: Round, index: number) => number) =>
      show(summarise(rounds[way].map(pick)), 2);
    process.stdout.write(
      `${way.padEnd(24)} ${show(summarise(rounds[way].map(({ rate }) => rate)), 0)} emails/s, ratio ${of(
        ({ rate }, index) => rate / rest[index]!.rate,
      )}, CPU of the service ${show(summarise(rounds[way].map(({ nodeUs }) => nodeUs)), 0)} µs an email\n`,
    );
  }
  for (const way of WAYS.filter((it) => it !== 'POST /v1/send')) {
    const ratio = summarise(rounds[way].map(({ rate }, index) => rate / rest[index]!.rate));
    judge(`${way} : POST /v1/send`, ratio, { goal: 0.5 });
  }
}

// ---- The load, in a process of its own: keep-alive sockets that write ready bytes ---------------

function answerOrders(): void {
  process.on('message', (order: Order) => {
    void run(order).then((result) => process.send!(result));
  });
}

async function run(order: Order): Promise<{ answered: number; failed: string | null }> {
  const end = performance.now() + SECONDS * 1000;
  const result = { answered: 0, failed: null as string | null };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => client(order, end, result)));
  return result;
}

async function client(
  order: Order,
  end: number,
  result: { answered: number; failed: string | null },
): Promise<void> {
  const { bytes, mark } = requestOf(order);
  const socket = connect(order.port, '127.0.0.1').setNoDelay(true);
  const good = order.way === 'POST /v1/send' ? '202' : '200';
  const fire = () => {
    // Every email is another one: a repeat would be answered without being written.
    mark();
    socket.write(bytes);
  };
  socket.on('data', (chunk) => {
    if (chunk.toString('latin1', 9, 12) === good && !chunk.includes('"isError"')) result.answered++;
    else result.failed ??= chunk.toString();
    if (performance.now() < end) fire();
    else socket.end();
  });
  fire();
  await once(socket, 'close');
}

let marks = 0;

function requestOf({ way, key }: Order): { bytes: Buffer; mark: () => void } {
  const placeholder = '0'.repeat(12);
  const email = {
    from_email: 'Acme <hello@example.com>',
    to: ['ada@example.net'],
    subject: `An ordinary email ${placeholder}`,
    html: `<html><body>${'<p>A paragraph of an ordinary email, with some words in it.</p>'.repeat(42)}</body></html>`,
    text: 'A paragraph of an ordinary email, with some words in it.\n'.repeat(6),
    tags: ['bench'],
  };
  const modern = way === 'send_email, 2026-07-28';
  const body = JSON.stringify(
    way === 'POST /v1/send'
      ? email
      : {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'send_email', arguments: email, ...(modern ? { _meta: META } : {}) },
        },
  );
  const headers = [
    `POST ${way === 'POST /v1/send' ? '/v1/send' : '/mcp'} HTTP/1.1`,
    'host: 127.0.0.1',
    `x-api-key: ${key}`,
    'content-type: application/json',
    'accept: application/json, text/event-stream',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(way === 'POST /v1/send'
      ? []
      : [`mcp-protocol-version: ${modern ? '2026-07-28' : '2025-11-25'}`]),
    ...(modern ? ['mcp-method: tools/call', 'mcp-name: send_email'] : []),
  ];
  const bytes = Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}`);
  const at = bytes.indexOf(placeholder);
  const unique = `${process.pid}`.slice(-5);
  return {
    bytes,
    mark: () => bytes.write(`${unique}${String(marks++).padStart(7, '0')}`.slice(0, 12), at),
  };
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};
