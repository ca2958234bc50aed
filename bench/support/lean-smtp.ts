// The least an SMTP server can do: takes every email, and tells of it. Behind the sinks of the
// benchmarks, each in a process of its own.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface Taken {
  from: string;
  to: string[];
  /** ENVID: the message id. */
  envelopeId: string | undefined;
  /** As on the wire, without the dot at its end; gone when the next chunk comes. */
  raw: Buffer;
}

const EHLO = '250-sink\r\n250-PIPELINING\r\n250-DSN\r\n250 8BITMIME\r\n';
const TAKEN = '250 2.0.0 Ok: queued as 4XyZ12abcD\r\n';
const END = Buffer.from('\r\n.\r\n');

/** Answers the port. An email is answered after as many ms as `onEmail` says. */
export async function listenSmtp(onEmail: (email: Taken) => number): Promise<number> {
  const server = createServer((socket) => converse(socket, onEmail));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}

function converse(socket: Socket, onEmail: (email: Taken) => number): void {
  let inData = false;
  let envelope = { from: '', to: [] as string[], envelopeId: undefined as string | undefined };
  let rest: Buffer = Buffer.alloc(0);
  const say = (reply: string) => socket.write(reply);
  socket.setNoDelay(true);
  say('220 sink\r\n');
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let answer = '';
    for (;;) {
      const at = inData ? rest.indexOf(END) : rest.indexOf(10);
      if (at < 0) break;
      if (inData) {
        inData = false;
        const afterMs = onEmail({ ...envelope, raw: rest.subarray(0, at + 2) });
        rest = rest.subarray(at + END.length);
        if (afterMs === 0) answer += TAKEN;
        else setTimeout(say, afterMs, TAKEN);
        continue;
      }
      const line = rest.toString('latin1', 0, at);
      rest = rest.subarray(at + 1);
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'QUIT') return void socket.end('221 bye\r\n');
      if (verb === 'MAIL') {
        envelope = { from: pathOf(line), to: [], envelopeId: /ENVID=(\S+)/.exec(line)?.[1] };
      } else if (verb === 'RCPT') envelope.to.push(pathOf(line));
      inData = verb === 'DATA';
      answer += verb === 'EHLO' ? EHLO : inData ? '354 go\r\n' : '250 2.1.0 Ok\r\n';
    }
    if (answer !== '') say(answer);
  });
}

const pathOf = (line: string): string => line.slice(line.indexOf('<') + 1, line.indexOf('>'));
