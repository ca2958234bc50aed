// A relay that accepts email until a test gives it a fault, and again when that is over. It keeps
// its port and counts connections.
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './process.ts';

/**
 * `silent`: connections stand and nobody says anything. `… at MAIL`: it greets, and goes silent,
 * hangs up or says 421 when that command comes.
 */
export type RelayFault =
  | 'refuses'
  | 'closes'
  | 'greets with 421'
  | 'greets with 554'
  | 'silent'
  | 'breaks TLS'
  | 'refuses the login'
  | `${'hangs' | 'cuts' | 'says 421'} at ${'MAIL' | 'RCPT' | 'DATA'}`
  | 'defers the recipient'
  | 'cuts in the email'
  | 'cuts after the email'
  | 'hangs after the email';

/** An email that came whole. */
export interface Arrival {
  /** ENVID: the message id. */
  id: string;
  /** Who handed it over, by login. */
  by: string;
  /** When MAIL came, and when its last byte did. */
  begunAtMs: number;
  atMs: number;
  /** The final 250 was written. */
  answered: boolean;
  /** The line was cut within a second of that, before the other side said another word. */
  cut: boolean;
}

export interface FaultyRelay {
  /** With a login, which loopback may see. */
  url: string;
  /** Envelope ids of the emails it confirmed. */
  taken: string[];
  /** All that came whole, confirmed or not. */
  arrivals: Arrival[];
  /** Connections since it was started or last given a fault. */
  connects(): number;
  mostAtOnce(): number;
  fail(fault: RelayFault): Promise<void>;
  heal(): Promise<void>;
  stop(): Promise<void>;
}

export interface FaultyRelayOptions {
  /** Says whether this one email never gets its answer. */
  hangs?: (email: { recipient: string; connection: number }) => boolean;
  /** Waits before each greeting. */
  greetingMs?: () => number;
  /** Waits before it confirms an email. */
  answersAfterMs?: number;
}

/** Faults in which the relay as it was is gone: sessions that stood are cut. */
const CUTS: readonly RelayFault[] = [
  'refuses',
  'closes',
  'greets with 421',
  'greets with 554',
  'breaks TLS',
  'refuses the login',
];

/** So soon after an answer, a cut may have swallowed it. */
const ANSWER_UNDER_WAY_MS = 1000;

export async function startFaultyRelay(options: FaultyRelayOptions = {}): Promise<FaultyRelay> {
  const taken: string[] = [];
  const arrivals: Arrival[] = [];
  /** With the last email of each, until the other side goes on. */
  const sockets = new Map<Socket, Arrival | undefined>();
  let fault: RelayFault | undefined;
  let server: Server | undefined;
  const port = await freePort();
  let connects = 0;
  let mostAtOnce = 0;

  async function listen(): Promise<void> {
    server = createServer(serve);
    await new Promise<void>((resolve) => server!.listen(port, '127.0.0.1', resolve));
  }
  async function close(): Promise<void> {
    const closing = server;
    server = undefined;
    if (closing) await new Promise((resolve) => closing.close(resolve));
  }
  const cutAll = () => {
    for (const [socket, last] of sockets) {
      if (last && Date.now() - last.atMs < ANSWER_UNDER_WAY_MS) last.cut = true;
      socket.destroy();
    }
  };

  function serve(socket: Socket): void {
    const connection = connects++;
    sockets.set(socket, undefined);
    mostAtOnce = Math.max(mostAtOnce, sockets.size);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.setNoDelay(true);
    if (fault === 'closes') socket.end();
    else if (fault === 'greets with 421') socket.end('421 4.3.2 going down\r\n');
    else if (fault === 'greets with 554') socket.end('554 5.7.1 not for you\r\n');
    else if (fault !== 'silent') {
      setTimeout(() => socket.write('220 relay\r\n'), options.greetingMs?.() ?? 0);
      converse(socket, connection);
    }
  }

  function converse(socket: Socket, connection: number): void {
    let rest = '';
    let searched = 0;
    let inEmail = false;
    let mute = false;
    /** RFC 2920 3.2: what comes meanwhile is answered after it. */
    let confirms = false;
    let id = '';
    let recipient = '';
    let by = '';
    let begunAtMs = 0;
    socket.on('data', (chunk) => {
      sockets.set(socket, undefined);
      rest += chunk.toString('latin1');
      if (inEmail && fault === 'cuts in the email') socket.destroy();
      read();
    });
    function read(): void {
      while (!mute && !confirms && fault !== 'silent') {
        const end = rest.indexOf(inEmail ? '\r\n.\r\n' : '\r\n', searched);
        // A large email is not searched again and again from its start.
        searched = end < 0 ? Math.max(0, rest.length - 4) : 0;
        if (end < 0) return;
        const text = rest.slice(0, end);
        rest = rest.slice(end + (inEmail ? 5 : 2));
        if (inEmail) endEmail();
        else answer(text);
      }
    }
    function endEmail(): void {
      inEmail = false;
      mute =
        fault === 'hangs after the email' || options.hangs?.({ recipient, connection }) === true;
      const answered = !mute && fault !== 'cuts after the email';
      const arrival = { id, by, begunAtMs, atMs: Date.now(), answered, cut: false };
      arrivals.push(arrival);
      if (fault === 'cuts after the email') socket.destroy();
      if (!answered) return;
      taken.push(id);
      sockets.set(socket, arrival);
      const confirm = () => socket.write('250 2.0.0 Ok: queued as FAULTY1234\r\n');
      if (options.answersAfterMs === undefined) {
        confirm();
        return;
      }
      confirms = true;
      setTimeout(() => {
        confirms = false;
        confirm();
        read();
      }, options.answersAfterMs);
    }
    function answer(command: string): void {
      const verb = command.slice(0, 4).toUpperCase();
      if (verb === 'EHLO') {
        const offers = fault === 'breaks TLS' ? '250-STARTTLS\r\n' : '';
        socket.write(`250-relay\r\n${offers}250-AUTH PLAIN\r\n250-DSN\r\n250 PIPELINING\r\n`);
      } else if (verb === 'STAR')
        socket.write('220 go\r\n', () => socket.write('no TLS at all\r\n'));
      else if (verb === 'AUTH') {
        by =
          Buffer.from(command.split(' ')[2] ?? '', 'base64')
            .toString()
            .split('\0')[1] ?? '';
        socket.write(fault === 'refuses the login' ? '535 5.7.8 wrong\r\n' : '235 ok\r\n');
      } else if (fault === `hangs at ${verb}`) mute = true;
      else if (fault === `cuts at ${verb}`) socket.destroy();
      else if (fault === `says 421 at ${verb}`) socket.end('421 4.3.2 going down\r\n');
      else if (verb === 'RCPT' && fault === 'defers the recipient') {
        recipient = '';
        socket.write('451 4.2.1 greylisted, come again\r\n');
      } else if (verb === 'DATA' && recipient === '') socket.write('503 5.5.1 for whom?\r\n');
      else if (verb === 'DATA') {
        inEmail = true;
        socket.write('354 go\r\n');
      } else if (verb === 'QUIT') socket.end('221 bye\r\n');
      else {
        if (verb === 'MAIL') {
          id = /ENVID=(\S+)/.exec(command)?.[1] ?? '';
          begunAtMs = Date.now();
        }
        if (verb === 'RCPT') recipient = /<(.*?)>/.exec(command)?.[1] ?? '';
        socket.write('250 ok\r\n');
      }
    }
  }

  await listen();
  return {
    url: `smtp://u:p@127.0.0.1:${port}`,
    taken,
    arrivals,
    connects: () => connects,
    mostAtOnce: () => mostAtOnce,
    async fail(next) {
      fault = next;
      connects = 0;
      const closed = next === 'refuses' ? close() : undefined;
      if (CUTS.includes(next)) cutAll();
      await closed;
    },
    async heal() {
      // What hung or was black-holed stays so: only new connections find a relay that works.
      fault = undefined;
      if (server === undefined) await listen();
    },
    async stop() {
      cutAll();
      await close();
    },
  };
}
