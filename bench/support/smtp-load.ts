// A lean SMTP load generator, run as a process of its own: connections that stay, log in once and
// hand over one email after the other, with MAIL, RCPT and DATA in one packet. load-rounds.ts says
// when.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { round, runRounds } from './load-rounds.ts';

const [port, connections, file, key] = process.argv.slice(2);
const email = Buffer.concat([readFileSync(file!), Buffer.from('.\r\n')]);
const login = `AUTH PLAIN ${Buffer.from(`\0bench\0${key}`).toString('base64')}\r\n`;
const envelope = 'MAIL FROM:<hello@example.com>\r\nRCPT TO:<ada@example.net>\r\nDATA\r\n';

const clients: (() => void)[] = [];

function client(): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1').setNoDelay(true);
  let started = 0;
  let waiting = false;
  let text = '';
  const fire = (): void => {
    started = performance.now();
    waiting = true;
    socket.write(envelope);
  };
  return new Promise((ready) => {
    const handle = (line: string): void => {
      if (line.startsWith('220')) socket.write('EHLO bench.example\r\n');
      else if (!isReady && line.startsWith('250 ')) socket.write(login);
      else if (line.startsWith('235')) {
        isReady = true;
        ready();
      } else if (line.startsWith('354')) socket.write(email);
      else if (/^250 (?:2\.1\.|Accepted)/.test(line)) return;
      else if (isReady && waiting) {
        waiting = false;
        if (line.startsWith('250')) round.answered++;
        else round.failed++;
        round.latencies.push(performance.now() - started);
        if (round.running) fire();
      }
    };
    let isReady = false;
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        handle(text.slice(0, end));
        text = text.slice(end + 1);
      }
    });
    socket.on('error', () => undefined);
    clients.push(() => {
      if (!waiting) fire();
    });
  });
}

await Promise.all(Array.from({ length: Number(connections) }, client));

await runRounds(clients);
