// The sandbox relay: a real SMTP server that delivers nowhere. It captures every mail, and what
// becomes of it is played by script (scripts.ts, player.ts) through the same protocols as in
// production: DSNs and complaints by SMTP, opens by HTTP.
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Log } from '../log.ts';
import { createRelay } from '../smtp/relay.ts';
import type { Database } from '../store/pool.ts';
import { capture } from './inbox.ts';
import { type Player, SANDBOX_HOST, startPlayer } from './player.ts';
import { SCRIPTS, scriptFor } from './scripts.ts';

const MOST_MAIL_BYTES = 40 * 1024 * 1024;
/** First attempts that are remembered, to take the second. */
const MOST_REMEMBERED = 10_000;

export interface SandboxRelay {
  url: string;
  stop(): Promise<void>;
}

export interface SandboxDeps {
  database: Database;
  log: Log;
  /** Where reports go. */
  feedback: { host: string; port: number };
  bounceDomain: string;
  trackingUrl: () => string;
}

export async function startSandboxRelay(deps: SandboxDeps): Promise<SandboxRelay> {
  const { host, port } = deps.feedback;
  const back = createRelay({
    url: `smtp://${host.includes(':') ? `[${host}]` : host}:${port}?tls=off`,
    name: SANDBOX_HOST,
    maxConnections: 4,
  });
  const player = startPlayer({ ...deps, back });
  const isFirst = rememberFirsts();
  const server = new SMTPServer({
    name: SANDBOX_HOST,
    banner: 'Sandmartin sandbox: mail is captured, not delivered',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    hideDSN: false,
    size: MOST_MAIL_BYTES,
    logger: false,
    onRcptTo: ({ address }, session, done) => {
      const greylisted = SCRIPTS[scriptFor(address)]?.firstAttempt === 'greylisted';
      if (greylisted && isFirst(session, address)) {
        done(reply(450, 'Greylisted: please try again later'));
      } else done();
    },
    onData: (stream, session, done) => {
      take(deps, stream, session, player, isFirst).then(
        (taken) => {
          if (taken === 'drop') hangUp(server, session);
          else done(null, taken);
        },
        (error: Error) => {
          deps.log.error({ err: error }, 'the sandbox could not capture a mail');
          done(reply(451, 'could not store the mail'));
        },
      );
    },
  });
  server.on('error', (error) => deps.log.debug({ err: error }, 'sandbox connection'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const own = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${own.port}?tls=off`,
    async stop() {
      await new Promise<void>((resolve) => server.close(resolve));
      await player.stop();
      await back.close(1000);
    },
  };
}

const reply = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

type IsFirst = (session: SMTPServerSession, address: string) => boolean;

/** Whether this mail (its return path names it) is tried for the first time for this recipient. */
function rememberFirsts(): IsFirst {
  const seen = new Set<string>();
  return (session, address) => {
    const key = `${fromOf(session)} ${address}`;
    if (seen.has(key)) return false;
    seen.add(key);
    if (seen.size > MOST_REMEMBERED) seen.delete(seen.values().next().value!);
    return true;
  };
}

async function take(
  deps: SandboxDeps,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  player: Player,
  isFirst: IsFirst,
): Promise<string> {
  const mail = {
    from: fromOf(session),
    recipients: session.envelope.rcptTo.map((recipient) => recipient.address),
    envelopeId: session.envelope.dsn?.envid ?? null,
    raw: await collect(stream),
  };
  const scripts = new Map<string, string[]>();
  for (const address of mail.recipients) {
    const script = scriptFor(address);
    scripts.set(script, [...(scripts.get(script) ?? []), address]);
  }
  const dropped = mail.recipients.filter(
    (address) => SCRIPTS[scriptFor(address)]?.firstAttempt === 'dropped',
  );
  if (dropped.filter((address) => isFirst(session, address)).length > 0) return 'drop';
  const slowMs = Math.max(...[...scripts.keys()].map((script) => SCRIPTS[script]?.slowMs ?? 0));
  if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));

  // Nobody is told about a mail without a return path (RFC 5321 4.5.5).
  const { parts, begin } = player.plan(mail.from === '' ? new Map() : scripts);
  await capture(deps.database, mail, parts);
  // After our 250, as a relay does it: the report comes when the mail has left.
  setImmediate(() => begin(mail));
  return `Ok: queued as ${randomBytes(6).toString('hex').toUpperCase()}`;
}

const BLOCK_BYTES = 64 * 1024;

/**
 * A mail whose every line begins with a dot comes in millions of pieces, each with a price in
 * memory: they are put together early.
 */
async function collect(stream: SMTPServerDataStream): Promise<Buffer> {
  const blocks: Buffer[] = [];
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK_BYTES) continue;
    blocks.push(Buffer.concat(pieces));
    pieces = [];
    bytes = 0;
  }
  return Buffer.concat([...blocks, ...pieces]);
}

const fromOf = ({ envelope }: SMTPServerSession): string =>
  envelope.mailFrom ? envelope.mailFrom.address : '';

/** The line goes dead after the mail was sent and before it was confirmed. */
function hangUp(server: SMTPServer, session: SMTPServerSession): void {
  for (const connection of server.connections) {
    if (connection.session === session) connection._socket.destroy();
  }
}
