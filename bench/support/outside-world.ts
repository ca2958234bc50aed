// What is around an installation, in a process of its own: the relay that takes its emails and
// reports each as delivered, and the program that gets its webhooks. end-to-end.ts drives it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { idTimeMs, readId } from '../../src/ids.ts';
import { composeDsn } from '../../src/sandbox/dsn.ts';
import { createRelay, type Relay } from '../../src/smtp/relay.ts';
import { listenSmtp, type Taken } from './lean-smtp.ts';
import { quantile } from './rounds.ts';

/** What came so far. */
export interface Seen {
  emails: number;
  /** Reports that the feedback listener took. */
  reports: number;
  /** Webhooks that tell of a delivery: the end of the way. */
  webhooks: number;
  /** From the send to that, ms. */
  p50: number;
  p99: number;
}

/** With a port reports go there, those that were kept first; without, they are kept. */
type Told = { feedbackPort: number } | 'count from zero' | 'tell';

if (process.argv[2] === 'outside-world') await runWorld();

export async function openWorld() {
  const child = fork(fileURLToPath(import.meta.url), ['outside-world'], {
    execArgv: process.execArgv,
  });
  const [{ smtpPort, httpPort }] = (await once(child, 'message')) as [
    { smtpPort: number; httpPort: number },
  ];
  const tell = (told: Told): boolean => child.send(told);
  return {
    smtpPort,
    httpPort,
    reportTo: (feedbackPort: number) => void tell({ feedbackPort }),
    countFromZero: () => void tell('count from zero'),
    async seen(): Promise<Seen> {
      tell('tell');
      const [seen] = (await once(child, 'message')) as [Seen];
      return seen;
    },
    close: () => void child.kill(),
  };
}

async function runWorld(): Promise<void> {
  let relay: Relay | undefined;
  const kept: Taken[] = [];
  let seen = { emails: 0, reports: 0, webhooks: 0 };
  let took: number[] = [];

  async function report({ from, to, envelopeId, raw }: Taken): Promise<void> {
    const dsn = composeDsn({
      ...{ reportingMta: 'relay.example', returnPath: from, envelopeId: envelopeId ?? null },
      ...{ original: raw, date: new Date() },
      recipients: to.map((address) => ({
        ...{ address, action: 'delivered', status: '2.0.0', remoteMta: 'mx.example.net' },
        diagnostic: '250 2.0.0 Ok: queued as 4XyZ12abcD',
      })),
    });
    const envelope = { from: '', recipients: [from], envelopeId: '', smtputf8: false };
    const [outcome] = (await relay!.hand(envelope, [dsn])).recipients;
    if (outcome?.result !== 'accepted') throw new Error(`a report was refused: ${outcome?.text}`);
    seen.reports++;
  }

  const smtpPort = await listenSmtp((email) => {
    seen.emails++;
    // Only the header is reported back.
    const taken = { ...email, raw: Buffer.from(email.raw.subarray(0, 2000)) };
    if (relay === undefined) kept.push(taken);
    else void report(taken);
    return 0;
  });
  const receiver = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      response.end('ok');
      const { event_type, payload } = JSON.parse(body);
      if (event_type !== 'delivery') return;
      seen.webhooks++;
      took.push(Date.now() - idTimeMs(readId('msg_', payload.sm_mail_id)!));
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');

  process.once('disconnect', () => process.exit());
  process.on('message', (told: Told) => {
    if (told === 'count from zero') {
      seen = { emails: 0, reports: 0, webhooks: 0 };
      took = [];
    } else if (told === 'tell') {
      took.sort((one, other) => one - other);
      const latencies = { p50: quantile(took, 0.5), p99: quantile(took, 0.99) };
      process.send!({ ...seen, ...latencies } satisfies Seen);
    } else {
      void relay?.close();
      relay = createRelay({
        ...{ url: `smtp://127.0.0.1:${told.feedbackPort}?tls=off`, name: 'relay.example' },
        maxEmailsPerConnection: 1e9,
      });
      for (const taken of kept.splice(0)) void report(taken);
    }
  });
  const httpPort = (receiver.address() as { port: number }).port;
  process.send!({ smtpPort, httpPort });
}
