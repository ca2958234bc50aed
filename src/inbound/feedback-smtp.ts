// The feedback listener: mail from relays about mail of ours. Only signed return paths and the complaints mailbox are let in.
// A report is answered with 250 only after it is recorded; while the database is away the relay keeps it and comes again.
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import type { Clock } from '../clock.ts';
import { recordReport } from '../feedback/record.ts';
import { parseReport } from '../feedback/report.ts';
import { type MailReference, readMailToken } from '../feedback/return-path.ts';
import { showId } from '../ids.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/pool.ts';

const MOST_REPORT_BYTES = 10 * 1024 * 1024;
const MOST_CONNECTIONS = 100;

export interface FeedbackDeps {
  database: Database;
  clock: Clock;
  log: Log;
  returnPathKey: Buffer;
  bounceDomain: string;
}

export interface FeedbackListener {
  port: number;
  stop(): Promise<void>;
}

export async function startFeedbackListener(
  deps: FeedbackDeps,
  listen: { host: string; port: number },
): Promise<FeedbackListener> {
  const server = new SMTPServer({
    name: deps.bounceDomain,
    banner: 'Sandmartin feedback',
    authOptional: true,
    disabledCommands: ['AUTH'],
    size: MOST_REPORT_BYTES,
    rejectOversized: true,
    maxClients: MOST_CONNECTIONS,
    socketTimeout: 60_000,
    logger: false,
    onRcptTo: (address, _session, done) => {
      if (readRecipient(deps, address.address) === undefined) {
        done(
          Object.assign(
            new Error('only return paths of our mails and complaints@ are known'),
            {
              responseCode: 550,
            },
          ),
        );
      } else done();
    },
    onData: (stream, session, done) => {
      take(deps, stream, session).then(
        () => done(null, 'recorded'),
        (error: Error) => {
          deps.log.error({ err: error }, 'could not record a report');
          done(
            Object.assign(new Error('could not record it, come again'), {
              responseCode: 451,
            }),
          );
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
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}

/** The mail a recipient address stands for; null: the complaints mailbox; undefined: not ours. */
function readRecipient(
  deps: Pick<FeedbackDeps, 'bounceDomain' | 'returnPathKey'>,
  address: string,
): MailReference | null | undefined {
  const at = address.lastIndexOf('@');
  if (address.slice(at + 1).toLowerCase() !== deps.bounceDomain) return undefined;
  const local = address.slice(0, at).toLowerCase();
  if (local === 'complaints') return null;
  return local.startsWith('bounce+')
    ? readMailToken(deps.returnPathKey, local.slice('bounce+'.length))
    : undefined;
}

async function take(
  deps: FeedbackDeps,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
): Promise<void> {
  const raw = await readAll(stream);
  const report = parseReport(raw);
  for (const recipient of session.envelope.rcptTo) {
    const mail = readRecipient(deps, recipient.address);
    if (mail === undefined || mail === null) continue;
    const recorded = await recordReport(deps.database, mail, report, deps.clock.nowMs());
    deps.log.info(
      {
        account: mail.accountId,
        message: showId('msg_', mail.messageId),
        kind: report.kind,
        recorded,
      },
      'report',
    );
  }
}

/** Past the limit the stream is read and dropped; smtp-server then refuses it. */
async function readAll(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += (chunk as Buffer).length;
    if (size <= MOST_REPORT_BYTES) chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
