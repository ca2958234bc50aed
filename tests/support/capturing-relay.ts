// A relay for tests that takes every mail and keeps it: what RELAY_URL would lead to.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { until } from './until.ts';

export interface RelayedMail {
  from: string;
  recipients: string[];
  raw: Buffer;
}

export interface CapturingRelay {
  url: string;
  mails: RelayedMail[];
  /** Waits for so many in all. */
  took(count: number): Promise<RelayedMail[]>;
  close(): Promise<void>;
}

export async function startCapturingRelay(): Promise<CapturingRelay> {
  const mails: RelayedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mails.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          recipients: envelope.rcptTo.map((recipient) => recipient.address),
          raw: Buffer.concat(chunks),
        });
        done(null, `queued as Q${mails.length}`);
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}?tls=off`,
    mails,
    took: (count) => until(() => mails.length >= count && mails),
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
