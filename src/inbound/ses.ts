// POST /inbound/ses: what Amazon SES reports through SNS, for accounts that relay through it.
// feedback/sns.ts checks who is calling and ses.ts what it says; here the certificate is fetched.
// provider.ts finds the email and records.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../errors.ts';
import { readSes } from '../feedback/ses.ts';
import { subscribeUrl, verifySns } from '../feedback/sns.ts';
import { answerPost, type PostDeps, recordEvent } from './provider.ts';

export interface SesDeps extends PostDeps {
  topics: readonly string[];
  /** Fetches the text at a URL that was checked to belong to SNS. */
  fetchText: (url: string) => Promise<string>;
}

/** SNS messages are at most 256 KB. */
const MOST_BYTES = 300 * 1024;

export async function answerSes(
  deps: SesDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await answerPost(deps, response, async () => {
    if (request.method !== 'POST') throw new Problem('invalid', 'Amazon SNS posts here.');
    if (deps.topics.length === 0) throw new Problem('forbidden', 'SES_TOPICS allows no topic.');
    const body = await deps.bodies.read(request, { key: undefined, mostBytes: MOST_BYTES });
    try {
      await take(deps, body.bytes.toString());
    } finally {
      body.release();
    }
  });
}

async function take(deps: SesDeps, body: string): Promise<void> {
  const message = await verifySns(
    {
      topics: deps.topics,
      fetchCertificate: deps.fetchText,
      nowMs: () => deps.clock.nowMs(),
    },
    body,
  );
  const confirm = subscribeUrl(message);
  if (confirm !== undefined) {
    await deps.fetchText(confirm);
    deps.log.info({ topic: message.TopicArn }, 'the subscription to an SNS topic is confirmed');
    return;
  }
  if (message.Type !== 'Notification') return;
  const event = readSes(message.Message);
  if (event !== undefined) await recordEvent(deps, 'Amazon SES', event);
}
