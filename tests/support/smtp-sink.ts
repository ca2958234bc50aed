// A relay for tests: a real SMTP server that takes email and remembers who handed what over.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface TakenEmail {
  /** ENVID: the message id. */
  envelopeId: string;
  from: string;
  recipients: string[];
  raw: string;
}

export interface SmtpSink {
  url: string;
  emails: TakenEmail[];
  stop(): Promise<void>;
}

export async function startSink(
  options: Pick<SMTPServerOptions, 'onRcptTo' | 'onMailFrom' | 'hideDSN'> & {
    /** Called when an email is complete; a rejection is answered with its responseCode. */
    onEmail?: (email: TakenEmail) => Promise<void> | void;
    port?: number;
  } = {},
): Promise<SmtpSink> {
  const { onEmail, port = 0, ...rest } = options;
  const emails: TakenEmail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    hideDSN: false,
    closeTimeout: 100,
    ...rest,
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const email = {
          envelopeId: session.envelope.dsn?.envid ?? '',
          from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
          recipients: session.envelope.rcptTo.map((recipient) => recipient.address),
          raw: Buffer.concat(chunks).toString('utf8'),
        };
        Promise.resolve(onEmail?.(email)).then(
          () => {
            emails.push(email);
            done(null, `Ok: queued as ${session.id}`);
          },
          (error) => done(error),
        );
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  return {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}?tls=off`,
    emails,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

/** An SMTP reply for onRcptTo, onMailFrom and onEmail. */
export function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
