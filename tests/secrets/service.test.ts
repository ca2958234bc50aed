// SECRET_KEY on a running service: when it is set late, email of a domain goes out signed, and
// reports about earlier email are still understood.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addDomain } from '../../src/accounts/domains.ts';
import { openSenders } from '../../src/mail/senders.ts';
import { openSecret, rotateSecret } from '../../src/roles/secrets.ts';
import { SecretChanged } from '../../src/store/vault.ts';
import { captured, hrefs } from '../support/captured.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const FIRST = 'the first secret of this service, long';
const SECOND = 'the second secret of this service, long';
const bounceDomain = 'bounces.test';

let test: TestDatabase;
let service: TestService | undefined;
beforeEach(async () => {
  test = await createTestDatabase();
});
afterEach(async () => {
  await stop();
  await test.drop();
});

async function start(secretKey?: string): Promise<TestService> {
  service = await startTestService(
    { BOUNCE_DOMAIN: bounceDomain, ...(secretKey === undefined ? {} : { SECRET_KEY: secretKey }) },
    { on: test },
  );
  return service;
}
async function stop(): Promise<void> {
  await service?.stop();
  service = undefined;
}

const letter = anEmail({
  from_email: 'a@signed.example',
  html: '<p><a href="https://example.com/target">Go</a></p>',
});

async function sendSigned({ send, database }: TestService, account: TestAccount) {
  const sent = await send(account.key, letter);
  expect(sent.status).toBe(202);
  const got = await captured(database, sent.body.id);
  expect(got.raw.toString()).toContain('d=signed.example;');
  return { id: sent.body.id as string, link: new URL(hrefs(got.email.html)[0]!).pathname };
}

async function clicked(
  on: TestService,
  account: TestAccount,
  before: { id: string; link: string },
) {
  const answer = await fetch(on.url + before.link, { redirect: 'manual' });
  expect(answer.headers.get('location')).toBe('https://example.com/target');
  await until(
    async () => (await on.get(account.key, `/v1/messages/${before.id}`)).body.status === 'clicked',
  );
}

it('set after a first start without it, and rotated later: email goes out signed, old links lead on', async () => {
  const without = await start();
  const account = await without.account({ identities: [] });
  const { vault } = await openSecret(test.database, undefined);
  const deps = { database: test.database, bounceDomain, vault };
  await addDomain(deps, account.id, 'signed.example', true);
  const before = await sendSigned(without, account);
  await stop();

  const withKey = await start(FIRST);
  const between = await sendSigned(withKey, account);
  await clicked(withKey, account, before);
  await stop();

  await expect(start(SECOND)).rejects.toThrow(/not the one this installation uses/);
  await expect(start()).rejects.toThrow(/SECRET_KEY is not set/);
  await rotateSecret(test.database, {
    ...{ to: SECOND, from: FIRST, lost: false, oldLinksDays: 30, dryRun: false },
  });
  const rotated = await start(SECOND);
  await sendSigned(rotated, account);
  await clicked(rotated, account, between);
});

it('a key that was sealed again under a running process is no fault of the email', async () => {
  const { vault } = await openSecret(test.database, FIRST);
  const { database } = test;
  const started = await start(FIRST);
  const account = await started.account({ identities: [] });
  await addDomain({ database, bounceDomain, vault }, account.id, 'signed.example', true);
  const senders = openSenders({ database, vault, bounceDomain, operatorDomain: undefined });
  await database.query('UPDATE domains SET rsa_private = ed25519_private');
  const ask = () => senders.of({ id: account.id, version: 1 }, 'signed.example');
  await expect(ask()).rejects.toThrow(/The DKIM key of signed.example .*with this SECRET_KEY/);
  await stop();
  await rotateSecret(database, {
    ...{ to: SECOND, from: FIRST, lost: true, oldLinksDays: 30, dryRun: false },
  });
  await expect(ask()).rejects.toBeInstanceOf(SecretChanged);
});
