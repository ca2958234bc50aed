// The role that accepts email from other mail servers: bounces, complaints, replies to return
// paths.
import { readFileSync } from 'node:fs';
import { isReturnPathOf } from '../accounts/return-path-proof.ts';
import type { Config } from '../config/config.ts';
import type { Stopped } from '../feedback/received.ts';
import { createReporters } from '../feedback/reporters.ts';
import { startFeedbackListener } from '../inbound/feedback-smtp.ts';
import { JobStopped } from '../process/job-stopped.ts';
import { type Player, startPlayer } from '../sandbox/player.ts';
import type { Shared } from './shared.ts';

export interface Feedback {
  /** On which it listens. */
  port: number;
  /** Reports about what the sandbox captured come from here. */
  player: Player;
}

export async function startFeedback(shared: Shared): Promise<Feedback> {
  const { config, database, clock, log, recorder, matcher, secret, threads, dns } = shared;
  const listener = await startFeedbackListener(
    {
      ...{ database, clock, log, recorder, matcher },
      reporters: createReporters({
        trusted: config.trustedReporters,
        lookUp: async (name) => {
          const { values, unknown } = await dns.txt(name);
          return unknown ? undefined : values;
        },
        verify: (input) => orStopped(threads.run('verify-report', input, { share: 'reports' })),
        nowMs: () => clock.nowMs(),
      }),
      read: (input, network) => {
        const { length: size } = input.raw;
        return orStopped(threads.run('read-report', input, { share: `reports ${network}`, size }));
      },
      returnPathKeys: secret.tokenKeys('return-path'),
      bounceDomain: config.bounceDomain,
      isReturnPathOf: (accountId, host) => isReturnPathOf(database, accountId, host),
    },
    { host: config.feedbackHost, port: config.feedbackPort, ...readTls(config) },
  );
  shared.opened(listener, (it) => it.stop());
  shared.health.require({
    name: 'feedback listener',
    check: async () => {
      if (!listener.isListening()) throw new Error('it is not listening; restart the process');
    },
  });
  const { port } = listener;
  const player = startPlayer({
    ...{ database, log, bounceDomain: config.bounceDomain },
    feedback: { host: config.feedbackHost.replace(/^(0\.0\.0\.0|::)$/, '127.0.0.1'), port },
    trackingUrl: shared.making.tracker.url,
  });
  return { port, player: shared.opened(player, (it) => it.stop()) };
}

/** Features know nothing of threads: a stopped one is a result like any other. */
const orStopped = <Output>(output: Promise<Output>): Promise<Output | Stopped> =>
  output.catch((error: unknown) => {
    if (error instanceof JobStopped) return { stopped: error.reason };
    throw error;
  });

function readTls({ feedbackTls }: Config): { tls?: { cert: string; key: string } } {
  if (feedbackTls === undefined) return {};
  const cert = readFileSync(feedbackTls.certFile, 'utf8');
  const key = readFileSync(feedbackTls.keyFile, 'utf8');
  return { tls: { cert, key } };
}
