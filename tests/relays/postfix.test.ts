// A real Postfix as one of two relays: it has its share and reports what it delivered; when it is
// gone the other takes everything, and nothing is refused.
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { showUuid } from '../../src/ids.ts';
import { emails, postBatch } from '../sending/batch-support.ts';
import { missingPostfix, type PostfixPair, startPostfixPair } from '../support/postfix.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { type SmtpSink, startSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { addRelay, haveRelays } from './support.ts';

const missing = missingPostfix();
if (missing !== undefined) {
  process.stderr.write(`\n*** POSTFIX AS A RELAY SKIPPED: ${missing}\n\n`);
}

const BOUNCES = 'bounces.test';
const COUNT = 60;

describe.skipIf(missing !== undefined)('Postfix beside another relay', () => {
  let postfix: PostfixPair;
  let other: SmtpSink;
  let service: TestService;
  let account: TestAccount;

  beforeAll(async () => {
    const feedbackPort = await freePort();
    const judge = () => 'DUNNO';
    postfix = await startPostfixPair({ feedbackPort, bounceDomain: BOUNCES, judge });
    other = await startSink();
    service = await startTestService({
      ...{ RELAY_URL: other.url, FEEDBACK_PORT: String(feedbackPort), BOUNCE_DOMAIN: BOUNCES },
    });
    account = await service.account();
    await addRelay(service, { name: 'postfix', url: postfix.relayUrl });
    await haveRelays(service, ['default', 'postfix']);
  });
  afterAll(async () => {
    await service?.stop();
    await other?.stop();
    await postfix?.stop();
  });

  const send = async (count: number): Promise<string[]> => {
    const batch = emails(count, { to: ['ok@sink.test'] });
    const { status, body } = await postBatch(service, account.key, { emails: batch });
    expect(status).toBe(202);
    return body.data.map(({ id }: { id: string }) => id);
  };
  const statuses = async (ids: readonly string[]) => {
    const all = await Promise.all(ids.map((id) => service.get(account.key, `/v1/messages/${id}`)));
    return all.map(({ body }) => body);
  };

  it('has its share, delivers it and reports it, and its name is kept', async () => {
    const ids = await send(COUNT);
    const byPostfix = () => readdirSync(postfix.emailFolder).length;
    await until(() => byPostfix() + other.emails.length === COUNT);
    expect(byPostfix()).toBeGreaterThan(10);
    expect(other.emails.length).toBeGreaterThan(10);
    const isReported = async () => {
      const all = await statuses(ids);
      const count = (wanted: string) => all.filter(({ status }) => status === wanted).length;
      const isWhole = count('sent') === other.emails.length && count('delivered') === byPostfix();
      return isWhole && all;
    };
    const all = await until(isReported);
    const named = await service.database.query<{ id: string; relay: string }>(
      `SELECT message_id AS id, detail ->> 'relay' AS relay FROM events WHERE kind = 'sent'`,
    );
    const relayOf = new Map(named.map(({ id, relay }) => [showUuid('msg_', id), relay]));
    for (const [at, { status }] of all.entries()) {
      expect(relayOf.get(ids[at]!)).toBe(status === 'delivered' ? 'postfix' : 'default');
    }
  });

  it('stopped: the other takes everything', async () => {
    await postfix.stop();
    const before = other.emails.length;
    await send(COUNT);
    await until(() => other.emails.length === before + COUNT);
  });
});
