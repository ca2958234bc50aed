// The feedback listener: mail from relays about mail of ours. Only signed return paths and the complaints mailbox are let in.
// A report is answered with 250 only after it is recorded; while the database is away the relay keeps it and comes again.
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Clock } from '../clock.ts';
import { keepMail } from '../feedback/kept.ts';
import type { Matcher } from '../feedback/match.ts';
import type { Recorded, ReportRecorder } from '../feedback/record.ts';
import { parseReport, type Report } from '../feedback/report.ts';
import { type MailReference, readMailToken } from '../feedback/return-path.ts';
import { isDataFault } from '../group-commit.ts';
import { showId } from '../ids.ts';
import type { Log } from '../log.ts';
import { recurringFault } from '../recurring-fault.ts';
import type { Database } from '../store/pool.ts';
import { readWith, type TokenKeys } from '../token-keys.ts';

/** A bounce may carry the whole mail back, attachments and all. */
const MOST_REPORT_BYTES = 50 * 1024 * 1024;
/** What a report says stands before the mail it returns, whose headers come first: the rest is read and dropped. */
const READ_BYTES = 1024 * 1024;
const MOST_CONNECTIONS = 100;
/** One host must not take all places; a relay under load opens twenty. */
const MOST_PER_HOST = 40;
const MOST_RECIPIENTS = 10;

export interface FeedbackDeps {
  database: Database;
  clock: Clock;
  log: Log;
  recorder: ReportRecorder;
  matcher: Matcher;
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
  /** PEM. Without one smtp-server's own is shown, which protects against listeners only; relays do not ask for more. */
  tls?: { cert: string; key: string };
}

export async function startFeedbackListener(
  deps: FeedbackDeps,
  listen: ListenOptions,
): Promise<FeedbackListener> {
  const couldNotLookUp = recurringFault(deps.log, 'error', 'could not look up a return path');
  const couldNotRecord = recurringFault(deps.log, 'error', 'could not record a report');
  const hosts = countHosts();
  const server = new SMTPServer({
    name: deps.bounceDomain,
    banner: 'Sandmartin feedback',
    ...listen.tls,
    authOptional: true,
    disabledCommands: ['AUTH'],
    disableReverseLookup: true,
    size: MOST_REPORT_BYTES,
    maxClients: MOST_CONNECTIONS,
    maxRecipients: MOST_RECIPIENTS,
    socketTimeout: 60_000,
    closeTimeout: 1000,
    logger: false,
    onConnect: (session, done) =>
      done(
        hosts.enter(session)
          ? null
          : refusal(421, 'too many connections from your host, come again'),
      ),
    onClose: (session) => hosts.leave(session),
    onRcptTo: (address, _session, done) => {
      readRecipient(deps, address.address).then(
        (recipient) =>
          done(
            recipient === undefined
              ? refusal(550, 'only return paths of our mails and complaints@ are known')
              : null,
          ),
        (error: Error) => {
          couldNotLookUp(error);
          done(refusal(451, 'could not look it up, come again'));
        },
      );
    },
    onData: (stream, session, done) => {
      take(deps, stream, session).then(
        () => done(null, 'recorded'),
        (error: Error & { responseCode?: number }) => {
          if (error.responseCode !== undefined) return done(error);
          couldNotRecord(error);
          done(refusal(451, 'could not record it, come again'));
        },
      );
    },
  });
  server.on('error', (error) => deps.log.debug({ err: error }, 'feedback connection'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    isListening: () => server.server.listening,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

const refusal = (responseCode: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode });

function countHosts() {
  const open = new Map<string, number>();
  const entered = new Set<string>();
  return {
    enter({ id, remoteAddress }: SMTPServerSession): boolean {
      const count = open.get(remoteAddress) ?? 0;
      if (count >= MOST_PER_HOST) return false;
      open.set(remoteAddress, count + 1);
      entered.add(id);
      return true;
    },
    leave({ id, remoteAddress }: SMTPServerSession): void {
      if (!entered.delete(id)) return;
      const left = (open.get(remoteAddress) ?? 1) - 1;
      if (left > 0) open.set(remoteAddress, left);
      else open.delete(remoteAddress);
    },
  };
}

/** The mail a recipient address stands for; null: the complaints mailbox; undefined: not ours. */
async function readRecipient(
  deps: FeedbackDeps,
  address: string,
): Promise<MailReference | null | undefined> {
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at).toLowerCase();
  const host = address.slice(at + 1).toLowerCase();
  if (local === 'complaints') return host === deps.bounceDomain ? null : undefined;
  const mail = local.startsWith('bounce+')
    ? readWith(deps.returnPathKeys, (key) => readMailToken(key, local.slice('bounce+'.length)))
    : undefined;
  if (mail === undefined || host === deps.bounceDomain) return mail;
  return (await deps.isReturnPathOf(mail.accountId, host)) ? mail : undefined;
}

async function take(
  deps: FeedbackDeps,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<void> {
  const raw = await readBeginning(stream);
  if (stream.sizeExceeded) throw refusal(552, 'the report is larger than 50 MB');
  const report = parseReport(raw);
  for (const { address } of session.envelope.rcptTo) {
    const named = await readRecipient(deps, address);
    // Only complaints are believed without a signed address: a bounce anybody sends to complaints@ is not.
    const isComplaint = named === null && report.kind === 'arf';
    const about = isComplaint
      ? await deps.matcher.find(report, { receivedAtMs: deps.clock.nowMs() })
      : (named ?? undefined);
    const recorded = about && (await record(deps, about, report));
    deps.log.info(
      {
        account: about?.accountId,
        message: about && showId('msg_', about.messageId),
        kind: report.kind,
        recorded: recorded?.events,
      },
      'report',
    );
    if (!recorded?.understood)
      await keep(deps, { raw, report, recipient: address, about, session });
  }
}

/** What cannot be written for its own sake will not get better by coming again: it is kept for a person to look at. */
async function record(
  deps: FeedbackDeps,
  mail: MailReference,
  report: Report,
): Promise<Recorded | undefined> {
  try {
    return await deps.recorder.record({ mail, report });
  } catch (error) {
    if (!isDataFault(error)) throw error;
    deps.log.error({ err: error }, 'a report cannot be stored as an event');
    return undefined;
  }
}

async function keep(
  deps: FeedbackDeps,
  mail: {
    raw: Buffer;
    report: Report;
    recipient: string;
    about: MailReference | undefined;
    session: SMTPServerSession;
  },
): Promise<void> {
  const { mailFrom } = mail.session.envelope;
  const from = mailFrom ? mailFrom.address : '';
  const kept = await keepMail(deps.database, { ...mail, from }, deps.clock.nowMs());
  if (!kept) throw refusal(452, 'the mailbox is full, come again');
}

async function readBeginning(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < READ_BYTES) chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return Buffer.concat(chunks).subarray(0, READ_BYTES);
}
