// The feedback listener: email from relays about our email. Only signed return paths, the
// complaints mailbox and the two addresses that RFC 5321 and 2142 require are accepted, and only
// what is proven counts: by the return path, by a token in the returned copy, or by a reporter that
// the operator trusts. A report is answered with 250 only after it is recorded or kept; if we fail,
// the relay keeps it and tries again.
import type { AddressInfo } from 'node:net';
import {
  SMTPServer,
  type SMTPServerAddress,
  type SMTPServerDataStream,
  type SMTPServerSession,
} from 'smtp-server';
import { Problem } from '../errors.ts';
import { keepEmail, type ReasonToKeep } from '../feedback/kept.ts';
import type { Matcher } from '../feedback/match.ts';
import { headOf, type Received, type readReceived, type Stopped } from '../feedback/received.ts';
import type { ReportRecorder } from '../feedback/record.ts';
import type { Reporters } from '../feedback/reporters.ts';
import { readCopyToken, type Subject } from '../feedback/return-path.ts';
import { findProbe, noteReturn } from '../feedback/return-path-probes.ts';
import { showId } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import { isDataFault } from '../process/group-commit.ts';
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { createPlaces, keyOf, networkOf, type Places } from '../smtp/connection-places.ts';
import type { Database } from '../store/pool.ts';
import { readWith, type TokenKeys } from '../store/token-keys.ts';

/** A bounce may return the whole email, including attachments. */
const MOST_REPORT_BYTES = 50 * 1024 * 1024;
/**
 * A report's own text comes before the email it returns, whose headers come first: the rest is read
 * and dropped. So all connections together use at most 50 MB.
 */
const READ_BYTES = 512 * 1024;
const PLACES = {
  most: 100,
  /** A relay under load opens twenty. */
  mostOfNetwork: 40,
  strangerMs: 120_000,
  provenMs: 600_000,
};
const MOST_RECIPIENTS = 10;
/** Addresses that are not ours, tried over one connection. */
const MOST_WRONG = 20;

export interface FeedbackDeps {
  database: Database;
  clock: Clock;
  log: Log;
  recorder: ReportRecorder;
  matcher: Matcher;
  reporters: Reporters;
  /** feedback/received.ts, in fair shares, in a thread that can be killed. */
  read: (input: Parameters<typeof readReceived>[0], network: string) => Promise<Received | Stopped>;
  returnPathKeys: TokenKeys;
  bounceDomain: string;
  /** Whether the host is the account's own return path (accounts/domains.ts). */
  isReturnPathOf: (accountId: number, host: string) => Promise<boolean>;
}

export interface FeedbackListener {
  isListening(): boolean;
  port: number;
  stop(): Promise<void>;
}

export interface ListenOptions {
  host: string;
  port: number;
  /**
   * PEM. Without one smtp-server's own is used, which protects only against eavesdropping; relays
   * do not require more.
   */
  tls?: { cert: string; key: string };
}

export async function startFeedbackListener(
  deps: FeedbackDeps,
  listen: ListenOptions,
): Promise<FeedbackListener> {
  const couldNotLookUp = recurringFault(deps.log, 'error', 'could not look up a return path');
  const couldNotRecord = recurringFault(deps.log, 'error', 'could not record a report');
  const places = createPlaces(PLACES);
  const recipients: Recipients = new WeakMap();
  const refused = new Set<string>();
  const server = new SMTPServer({
    name: deps.bounceDomain,
    banner: 'Sandmartin feedback',
    ...listen.tls,
    authOptional: true,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    size: MOST_REPORT_BYTES,
    maxRecipients: MOST_RECIPIENTS,
    socketTimeout: 60_000,
    closeTimeout: 1000,
    logger: false,
    onConnect: (session, done) => {
      if (deps.reporters.isTrustedNetwork(session.remoteAddress)) places.prove(session);
      const isRefused = refused.delete(keyOf(session));
      done(
        isRefused ? refusal(421, 'too many connections from your network, try again later') : null,
      );
    },
    onClose: (session) => places.leave(session),
    onRcptTo: (address, session, done) => {
      readRecipient(deps, address.address).then(
        (recipient) => {
          if (recipient === undefined) return done(wrongAddress(session));
          recipients.set(address, recipient);
          if (typeof recipient === 'object') places.prove(session);
          done(null);
        },
        (error: Error) => {
          couldNotLookUp(error);
          done(refusal(451, 'could not look it up, try again later'));
        },
      );
    },
    onData: (stream, session, done) => {
      take(deps, places, recipients, stream, session).then(
        () => done(null, 'recorded'),
        (error: Error & { responseCode?: number }) => {
          if (error.responseCode !== undefined) return done(error);
          couldNotRecord(error);
          done(refusal(451, 'could not record it, try again later'));
        },
      );
    },
  });
  // Before smtp-server sees the connection, so that a connection that has to make room closes at
  // once.
  server.server.prependListener('connection', (socket) => {
    if (places.enter(socket)) return;
    const key = keyOf(socket);
    // Connections that still wait for their refusal count too.
    if (refused.size >= PLACES.most) socket.destroy();
    else refused.add(key);
    socket.once('close', () => refused.delete(key));
  });
  server.on('error', (error) => deps.log.debug({ err: error }, 'feedback connection'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    isListening: () => server.server.listening,
    stop() {
      places.stop();
      return new Promise<void>((resolve) => server.close(resolve));
    },
  };
}

const refusal = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

const wrongAddresses = new WeakMap<SMTPServerSession, number>();

function wrongAddress(session: SMTPServerSession): Error {
  const wrong = (wrongAddresses.get(session) ?? 0) + 1;
  wrongAddresses.set(session, wrong);
  return wrong > MOST_WRONG
    ? refusal(421, 'too many addresses that are not ours')
    : refusal(
        550,
        'only return paths of our emails, complaints@, abuse@ and postmaster@ are known',
      );
}

/** Mailboxes that anyone may write to: for programs that complain, and for people. */
type Mailbox = 'complaints' | 'people';

/** What a recipient address lets its sender speak about, or whose it is. */
type Recipient = Subject | Probe | Mailbox;

/** By the address of an envelope, for those that were accepted. */
type Recipients = WeakMap<SMTPServerAddress, Recipient>;

/** Undefined: not ours. */
async function readRecipient(deps: FeedbackDeps, address: string): Promise<Recipient | undefined> {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).toLowerCase();
  const host = address.slice(at + 1).toLowerCase();
  const probe = await findProbe(deps.database, local, host);
  if (probe !== undefined) return { probe };
  const mailbox = MAILBOXES.get(local);
  if (mailbox !== undefined) return host === deps.bounceDomain ? mailbox : undefined;
  const subject = local.startsWith('bounce+')
    ? readWith(deps.returnPathKeys, (key) =>
        readCopyToken(key, local.slice('bounce+'.length), deps.clock.nowMs()),
      )
    : undefined;
  if (subject === undefined || host === deps.bounceDomain) return subject;
  return (await deps.isReturnPathOf(subject.email.accountId, host)) ? subject : undefined;
}

/** RFC 5321 4.5.1 requires the first, RFC 2142 4 the second, in upper or lower case. */
const MAILBOXES = new Map<string, Mailbox>([
  ['complaints', 'complaints'],
  ['postmaster', 'people'],
  ['abuse', 'people'],
]);

/** An email of our own that came back; its return is all it proves. */
interface Probe {
  probe: string;
}

async function take(
  deps: FeedbackDeps,
  places: Places,
  recipients: Recipients,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<void> {
  const { raw, whole } = await readBeginning(stream);
  if (stream.sizeExceeded) throw refusal(552, 'the report is larger than 50 MB');
  const network = networkOf(session.remoteAddress);
  const wasRead = deps.recorder.expect();
  const received = await read(deps, raw, network).finally(wasRead);
  const trust = once(() => isTrusted(deps, session, whole ? raw : undefined, received));
  for (const addressed of session.envelope.rcptTo) {
    const recipient = recipients.get(addressed);
    if (typeof recipient === 'object' && 'probe' in recipient) {
      await noteReturn(deps.database, recipient.probe);
      deps.log.info('a probe of the return path came back');
      continue;
    }
    const { why, subject } = await settle(deps, received, recipient, trust);
    if (subject !== undefined) places.prove(session);
    deps.log.info(
      {
        account: subject?.email.accountId,
        message: subject && showId('msg_', subject.email.messageId),
        kind: 'report' in received ? received.report.kind : undefined,
        why,
      },
      'report',
    );
    if (why === undefined) continue;
    const { mailFrom } = session.envelope;
    const from = mailFrom ? mailFrom.address : '';
    const about = subject?.email;
    const email = { raw, received, why, from, network, recipient: addressed.address, about };
    const kept = await keepEmail(deps.database, email, deps.clock.nowMs());
    if (!kept) throw refusal(452, 'the mailbox is full, try again later');
  }
}

/** An email that no thread could read, and why. */
interface Unread extends Pick<Received, 'subject' | 'fingerprint'> {
  why: ReasonToKeep;
}

/**
 * What cannot be read in time will not get faster on a retry: it is kept. Being busy is temporary:
 * 451.
 */
async function read(deps: FeedbackDeps, raw: Buffer, network: string): Promise<Received | Unread> {
  try {
    const read = await deps.read({ raw, trustedDomains: deps.reporters.domains }, network);
    return 'stopped' in read ? { ...headOf(raw), why: STOPPED[read.stopped] } : read;
  } catch (error) {
    if (error instanceof Problem) throw refusal(451, 'too busy to read it, try again later');
    deps.log.error({ err: error, network }, 'a report could not be read');
    return { ...headOf(raw), why: 'unreadable' };
  }
}
const STOPPED = { time: 'too-slow', memory: 'too-large' } as const;

/** Records what is proven. Without `why` that is all; with it the email must be kept. */
async function settle(
  deps: FeedbackDeps,
  received: Received | Unread,
  addressed: Subject | Mailbox | undefined,
  trust: () => Promise<boolean>,
): Promise<{ subject: Subject | undefined; why: ReasonToKeep | undefined }> {
  const named = typeof addressed === 'object' ? addressed : undefined;
  if ('why' in received) return { subject: named, why: received.why };
  const { report } = received;
  // Anything else sent to these mailboxes is for people, even if it looks like a bounce.
  if (addressed === 'people' && report.kind !== 'arf') return { subject: named, why: 'for-people' };
  const saysSomething = report.recipients.length > 0;
  // Complaints come to one mailbox for all emails; a bounce has its own address, so one that
  // arrives here is misdirected.
  let subject = named ?? (report.kind === 'arf' ? deps.matcher.prove(report) : undefined);
  if (subject === undefined && saysSomething) {
    if (!(await trust())) return { subject, why: 'untrusted' };
    subject = deps.matcher.prove(report) ?? (await deps.matcher.guess(report, {}));
    if (subject === undefined) return { subject, why: 'unmatched' };
  }
  if (subject === undefined) return { subject, why: 'no-news' };
  try {
    const { understood } = await deps.recorder.record({ ...subject, report });
    return { subject, why: understood ? undefined : 'no-news' };
  } catch (error) {
    // A report whose own data cannot be written will not improve on a retry: a person should look
    // at it.
    if (!isDataFault(error)) throw error;
    deps.log.error({ err: error }, 'a report cannot be stored as an event');
    return { subject, why: 'unstorable' };
  }
}

/**
 * By where it comes from, or by who signed it. The signature of an email that we did not read to
 * its end cannot be checked; and one on a bounce proves nothing, because servers also sign bounces
 * that strangers provoke.
 */
async function isTrusted(
  deps: FeedbackDeps,
  session: SMTPServerSession,
  raw: Buffer | undefined,
  received: Received | Unread,
): Promise<boolean> {
  if (deps.reporters.isTrustedNetwork(session.remoteAddress)) return true;
  if (raw === undefined || 'why' in received || received.report.kind !== 'arf') return false;
  const vouched = await deps.reporters.vouchedFor(raw, received).catch((error: unknown) => {
    throw error instanceof Problem ? refusal(451, 'too busy to verify it, try again later') : error;
  });
  if (vouched === 'unknown') throw refusal(451, 'could not look up who signed it, try again later');
  return vouched;
}

function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function readBeginning(
  stream: SMTPServerDataStream,
): Promise<{ raw: Buffer; whole: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < READ_BYTES) chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { raw: Buffer.concat(chunks).subarray(0, READ_BYTES), whole: size <= READ_BYTES };
}
