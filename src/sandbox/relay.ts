// The sandbox relay: a real SMTP server that delivers nowhere. It captures every mail and answers with a real DSN,
// sent by SMTP to the feedback listener, so a timeline grows by the same code as in production.
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { createRelay } from '../delivery/relay.ts';
import type { Log } from '../log.ts';
import type { Database } from '../store/pool.ts';
import { composeDsn } from './dsn.ts';
import { capture } from './inbox.ts';

const SANDBOX_HOST = 'sandbox.localhost';
const MOST_MAIL_BYTES = 40 * 1024 * 1024;

export interface SandboxRelay {
  url: string;
  stop(): Promise<void>;
}

export interface SandboxDeps {
  database: Database;
  log: Log;
  /** Where reports go. */
  feedback: { host: string; port: number };
}

export async function startSandboxRelay(deps: SandboxDeps): Promise<SandboxRelay> {
  const back = createRelay({
    url: `smtp://${deps.feedback.host}:${deps.feedback.port}?tls=off`,
    name: SANDBOX_HOST,
    maxConnections: 2,
  });
  const server = new SMTPServer({
    name: SANDBOX_HOST,
    banner: 'Sandmartin sandbox: mail is captured, not delivered',
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    hideENHANCEDSTATUSCODES: false,
    hideDSN: false,
    size: MOST_MAIL_BYTES,
    closeTimeout: 1000,
    logger: false,
    onData: (stream, session, done) => {
      take(deps, stream, session, back).then(
        (reply) => done(null, reply),
        (error: Error) => {
          deps.log.error({ err: error }, 'the sandbox could not capture a mail');
          done(Object.assign(new Error('could not store the mail'), { responseCode: 451 }));
        },
      );
    },
  });
  server.on('error', (error) => deps.log.debug({ err: error }, 'sandbox connection'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}?tls=off`,
    async stop() {
      await new Promise<void>((resolve) => server.close(resolve));
      await back.close(1000);
    },
  };
}

async function take(
  deps: SandboxDeps,
  stream: SMTPServerDataStream,
  session: SMTPServerSession,
  back: ReturnType<typeof createRelay>,
): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  const { mailFrom, rcptTo } = session.envelope;
  const from = mailFrom ? mailFrom.address : '';
  const recipients = rcptTo.map((recipient) => recipient.address);
  const envelopeId = envelopeIdOf(session);
  await capture(deps.database, { from, recipients, envelopeId, raw });
  // After our 250, as a relay does it: the report comes when the mail has left.
  if (from !== '')
    setImmediate(() => void report(deps, back, { from, recipients, envelopeId, raw }));
  return `Ok: queued as ${session.id}`;
}

async function report(
  deps: SandboxDeps,
  back: ReturnType<typeof createRelay>,
  mail: { from: string; recipients: string[]; envelopeId: string | null; raw: Buffer },
): Promise<void> {
  const dsn = composeDsn({
    reportingMta: SANDBOX_HOST,
    returnPath: mail.from,
    envelopeId: mail.envelopeId,
    original: mail.raw,
    date: new Date(),
    recipients: mail.recipients.map((address) => ({
      address,
      action: 'delivered',
      status: '2.0.0',
      diagnostic: '250 2.0.0 OK: captured by the sandbox',
      remoteMta: `mx.${address.slice(address.lastIndexOf('@') + 1)}`,
    })),
  });
  const handed = await back.hand(
    { from: '', recipients: [mail.from], envelopeId: '', smtputf8: false },
    [dsn],
  );
  const [outcome] = handed.recipients;
  if (outcome?.result !== 'accepted') {
    deps.log.warn({ response: outcome?.text }, 'the sandbox could not send its report');
  }
}

const envelopeIdOf = (session: SMTPServerSession): string | null =>
  session.envelope.dsn?.envid ?? null;
