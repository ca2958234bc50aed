// The sandbox relay: a real SMTP server that delivers nowhere. It captures every email and plays
// what happens to it by script (scripts.ts, player.ts) through the same protocols as in production:
// DSNs and complaints by SMTP, opens by HTTP.
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { freeBytes } from '../bytes/free-bytes.ts';
import { notePassed } from '../bytes/garbage.ts';
import { allocateBytes } from '../bytes/large-bytes.ts';
import { type EmailReference, readCopyToken } from '../feedback/return-path.ts';
import type { Clock } from '../process/clock.ts';
import { oneATurn } from '../process/in-turns.ts';
import type { Log } from '../process/log.ts';
import type { Database } from '../store/pool.ts';
import { TRACKING_PATHS } from '../tracking/apply.ts';
import { readToken } from '../tracking/token.ts';
import { findIn } from './captured-email.ts';
import { capture, captureMore, type NewEmail } from './inbox.ts';
import { type Part, type Player, planForOthers, SANDBOX_HOST, toPlay } from './player.ts';
import { SCRIPTS, scriptFor } from './scripts.ts';

const MOST_MAIL_BYTES = 40 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);
/** How many first attempts are remembered, to accept the second. */
const MOST_REMEMBERED = 10_000;

export interface SandboxRelay {
  url: string;
  stop(): Promise<void>;
}

export interface SandboxDeps {
  database: Database;
  clock: Clock;
  log: Log;
  /** Keys that tell whose email it is, and where its links lead. */
  returnPathKeys: readonly Buffer[];
  trackingKeys: readonly Buffer[];
  trackingUrl: () => string;
  /** Undefined: those of other processes play what is captured. */
  player: Player | undefined;
}

export async function startSandboxRelay(deps: SandboxDeps): Promise<SandboxRelay> {
  const isFirst = rememberFirsts();
  const server = new SMTPServer({
    name: SANDBOX_HOST,
    banner: 'Sandmartin sandbox: email is captured, not delivered',
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
      take(deps, stream, session, isFirst).then(
        (taken) => {
          if (taken === 'drop') hangUp(server, session);
          else done(null, taken);
        },
        (error: Error) => {
          deps.log.error({ err: error }, 'the sandbox could not capture an email');
          done(reply(451, 'could not store the email'));
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
    },
  };
}

const reply = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

/**
 * Each takes up to tens of milliseconds, and a batch of them ends in one turn of the event loop.
 */
const oneByOne = oneATurn();

type IsFirst = (session: SMTPServerSession, address: string) => boolean;

/** Whether this email (its return path names it) is tried for the first time for this recipient. */
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
  isFirst: IsFirst,
): Promise<string> {
  const slices = slicesOf(stream, announcedBy(session));
  const { value: raw = NOTHING } = await slices.next();
  const email = {
    from: fromOf(session),
    recipients: session.envelope.rcptTo.map((recipient) => recipient.address),
    envelopeId: session.envelope.dsn?.envid ?? null,
    raw,
  };
  const scripts = new Map<string, string[]>();
  for (const address of email.recipients) {
    const script = scriptFor(address);
    scripts.set(script, [...(scripts.get(script) ?? []), address]);
  }
  const dropped = email.recipients.filter(
    (address) => SCRIPTS[scriptFor(address)]?.firstAttempt === 'dropped',
  );
  if (dropped.filter((address) => isFirst(session, address)).length > 0) {
    for await (const _ of slices);
    return 'drop';
  }
  const slowMs = Math.max(...[...scripts.keys()].map((script) => SCRIPTS[script]?.slowMs ?? 0));
  if (slowMs > 0) await new Promise((resolve) => setTimeout(resolve, slowMs));

  // Nobody gets reports about an email without a return path (RFC 5321 4.5.5).
  const plan = deps.player?.plan ?? planForOthers;
  const { parts, begin } = plan(email.from === '' ? new Map() : scripts);
  const findings = await oneByOne(() => findIn(raw, (url) => targetOf(deps, url)));
  const captured = { ...email, origin: originOf(deps, email.from), findings };
  const accountId = captured.origin?.accountId ?? 0;
  const { uuid, size } = await store(deps, captured, parts, slices);
  const played = toPlay(deps.database, { ...email, uuid, accountId, size });
  // The player reads the rest again if it needs it.
  freeBytes(raw);
  // After our 250, like a real relay: the report comes after the email was accepted.
  setImmediate(() => begin(played));
  return `Ok: queued as ${randomBytes(6).toString('hex').toUpperCase()}`;
}

/** A long one in slices, in one transaction: all of it, or nothing. */
async function store(
  { database, clock }: SandboxDeps,
  email: NewEmail,
  parts: readonly Part[],
  more: AsyncGenerator<Buffer>,
): Promise<{ uuid: string; size: number }> {
  let size = email.raw.length;
  const nowMs = clock.nowMs();
  if (size < BEGINNING_BYTES) return { uuid: await capture(database, nowMs, email, parts), size };
  return database.transaction(async (client) => {
    const uuid = await capture(client, nowMs, email, parts);
    for await (const slice of more) {
      await captureMore(client, uuid, slice);
      size += slice.length;
      freeBytes(slice);
    }
    return { uuid, size };
  });
}

function originOf(
  { returnPathKeys, clock }: SandboxDeps,
  from: string,
): EmailReference | undefined {
  const token = /^bounce\+([a-z2-7]{1,60})@/i.exec(from)?.[1];
  if (token === undefined) return undefined;
  return firstOf(returnPathKeys, (key) => readCopyToken(key, token, clock.nowMs())?.email);
}

/** The target of a link that is one of our tracked links. */
function targetOf(deps: SandboxDeps, url: string): string | undefined {
  const beginning = `${deps.trackingUrl()}${TRACKING_PATHS.click}`;
  if (!url.startsWith(beginning)) return undefined;
  const token = url.slice(beginning.length);
  return firstOf(deps.trackingKeys, (key) => readToken(key, token, deps.clock.nowMs())?.url);
}

function firstOf<One, Found>(
  those: readonly One[],
  find: (one: One) => Found | undefined,
): Found | undefined {
  for (const one of those) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const FIRST_BYTES = 64 * 1024;
/** In which everything is that is looked for in it, and all of an ordinary email. */
const BEGINNING_BYTES = 1024 * 1024;
const SLICE_BYTES = 8 * 1024 * 1024;

/**
 * The beginning, and slices of what is left. An email whose every line begins with a dot arrives in
 * millions of pieces, each of which costs memory: they are copied into one buffer as they arrive.
 * It has the size that the client announced, which takes no memory before the bytes are there, or
 * grows.
 */
async function* slicesOf(stream: SMTPServerDataStream, announced: number): AsyncGenerator<Buffer> {
  let most = BEGINNING_BYTES;
  let slice: Buffer = Buffer.allocUnsafeSlow(Math.min(announced || FIRST_BYTES, most));
  let size = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    for (let at = 0; at < piece.length; ) {
      const wanted = Math.min(size + piece.length - at, most);
      if (wanted > slice.length) slice = enlarged(slice, size, Math.max(wanted, 2 * slice.length));
      const taken = piece.copy(slice, size, at, at + wanted - size);
      at += taken;
      size += taken;
      if (size < most) continue;
      yield slice.subarray(0, size);
      most = SLICE_BYTES;
      slice = allocateBytes(most);
      size = 0;
    }
    if (size > FIRST_BYTES) notePassed(piece.length);
  }
  if (size > 0) yield slice.subarray(0, size);
}

function enlarged(slice: Buffer, size: number, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  slice.copy(larger, 0, 0, size);
  return larger;
}

/** RFC 1870; NaN: none announced. */
function announcedBy({ envelope: { mailFrom } }: SMTPServerSession): number {
  const args = mailFrom ? mailFrom.args : false;
  return args ? Number(args.SIZE) : Number.NaN;
}

const fromOf = ({ envelope }: SMTPServerSession): string =>
  envelope.mailFrom ? envelope.mailFrom.address : '';

/** The connection breaks after the email was sent and before it was confirmed. */
function hangUp(server: SMTPServer, session: SMTPServerSession): void {
  for (const connection of server.connections) {
    if (connection.session === session) connection._socket.destroy();
  }
}
