// A forgotten password: the emailed link works once, for an hour, and tells nobody who has a
// login.
// And the emails of the service itself: their links are for their readers, not for the people of
// the account that sent them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { Sandmartin } from '../../src/client/sandmartin.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { captured } from '../support/captured.ts';
import { mailedInvitation } from '../support/invitation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { makeUser, openClient, openSignedIn, PASSWORD } from './dashboard-client.ts';

const NEW_PASSWORD = 'another good password';
let aheadMs = 0;
let service: TestService;
let account: { id: number; key: string };

beforeAll(async () => {
  service = await startTestService(
    { TRUSTED_PROXIES: '127.0.0.1' },
    { clock: { nowMs: () => Date.now() + aheadMs } },
  );
  account = await service.account();
});

afterAll(() => service.stop());

const ask = (email: string, from = '192.0.2.1') =>
  openClient(service.url).try('askForReset', {
    body: { email },
    headers: { 'x-forwarded-for': from },
  });

const resetEmailsTo = (email: string) =>
  service.database.query(
    `SELECT FROM messages WHERE tags = '{password-reset}' AND recipients = $1`,
    [[email]],
  );

/** The token of the link in the newest email. */
async function mailedToken(email: string): Promise<string> {
  const inbox = await openSignedIn(service, { accountId: account.id, operator: true });
  const { id } = await until(async () => {
    const { data } = await inbox.api.sandbox.list();
    return data.find(({ recipients }) => recipients.includes(email));
  });
  const { text } = await inbox.api.sandbox.get({ id });
  return /\/new-password#(\S+)/.exec(text!)![1]!;
}

describe('a forgotten password', () => {
  it('is replaced by the link in the email, once; all other sessions end', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const elsewhere = openClient(service.url);
    await elsewhere.call('signIn', { body: { email, password: PASSWORD } });
    expect((await ask(email.toUpperCase())).body).toEqual({ captured: true });
    const token = await mailedToken(email);

    const client = openClient(service.url);
    expect(await client.call('showReset', { body: { token } })).toEqual({ email });
    const weak = await client.try('resetPassword', { body: { token, password: 'short' } });
    expect(weak.status).toBe(400);
    const both = await Promise.all([
      client.try('resetPassword', { body: { token, password: NEW_PASSWORD } }),
      openClient(service.url).try('resetPassword', { body: { token, password: NEW_PASSWORD } }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await elsewhere.get('/v1/account')).status).toBe(401);
    expect((await client.try('showReset', { body: { token } })).status).toBe(404);

    const old = await client.try('signIn', { body: { email, password: PASSWORD } });
    const fresh = await client.try('signIn', { body: { email, password: NEW_PASSWORD } });
    expect([old.status, fresh.status]).toEqual([401, 200]);
  });

  it('the link signs in who used it', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    await ask(email);
    const client = openClient(service.url);
    const body = { token: await mailedToken(email), password: NEW_PASSWORD };
    expect((await client.call('resetPassword', { body })).user.email).toBe(email);
    expect((await client.get('/v1/account')).status).toBe(200);
  });

  it('works for an hour, and only as it was emailed', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    await ask(email);
    const token = await mailedToken(email);
    const show = async (it: string) =>
      (await openClient(service.url).try('showReset', { body: { token: it } })).status;
    const [id, hour, signature] = token.split('.');
    expect(await show(`${id}.${Number(hour) + 1}.${signature}`)).toBe(404);
    const other = await makeUser(service.database, { accountId: account.id });
    expect(await show(`${other.id}.${hour}.${signature}`)).toBe(404);
    expect(await show('nonsense')).toBe(404);
    aheadMs = 59 * 60_000;
    expect(await show(token)).toBe(200);
    aheadMs = 61 * 60_000;
    expect(await show(token)).toBe(404);
    aheadMs = 0;
  });

  it('answers the same whether or not anyone has the address', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const known = await ask(email);
    const unknown = await ask('nobody@people.example');
    const wrong = await ask('no address');
    expect([known.status, unknown.status, wrong.status]).toEqual([200, 200, 200]);
    expect([unknown.body, wrong.body]).toEqual([known.body, known.body]);
    await until(async () => (await resetEmailsTo(email)).length === 1);
    expect(await resetEmailsTo('nobody@people.example')).toEqual([]);
  });

  it('three that others asked for do not block the fourth of the owner', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    for (let n = 0; n < 3; n += 1) expect((await ask(email, '198.51.100.66')).status).toBe(200);
    expect((await ask(email, '192.0.2.44')).status).toBe(200);
    await until(async () => (await resetEmailsTo(email)).length === 4);
  });

  it('fills nobody’s mailbox: five links for an address and a network, twenty for a network', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    for (const address of [email, 'stranger@people.example']) {
      const statuses: number[] = [];
      for (let n = 0; n < 7; n += 1) statuses.push((await ask(address, '198.51.100.5')).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
      // From many networks nobody is refused, but only six emails come: their links are good for an
      // hour.
      for (let n = 0; n < 5; n += 1) expect((await ask(address, `192.0.2.${n}`)).status).toBe(200);
    }
    await until(async () => (await resetEmailsTo(email)).length === 6);
    const client: number[] = [];
    for (let n = 0; n < 21; n += 1) {
      client.push((await ask(`x${n}@people.example`, '203.0.113.7')).status);
    }
    expect(client.filter((status) => status === 200)).toHaveLength(20);
    // Tries to sign in are counted apart.
    const signIn = await openClient(service.url).try('signIn', {
      body: { email, password: PASSWORD },
    });
    expect(signIn.status).toBe(200);
  });
});

describe('emails of the service itself', () => {
  it('are listed, but their links are for their readers only', async () => {
    const owner = await openSignedIn(service, { accountId: account.id });
    const operator = await openSignedIn(service, { accountId: account.id, operator: true });
    await owner.api.team.invite({ email: 'new@people.example', role: 'owner' });
    const { data } = await owner.api.messages.list({ recipient: 'new@people.example' });
    const { id } = data[0]!;
    const which = { sm_mail_id: id };
    expect(data[0]).toMatchObject({ door: 'system' });
    await captured(service.database, id);

    expect((await owner.api.messages.details(which)).sealed).toBe(true);
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ALL_SCOPES,
    });
    const program = new Sandmartin({ baseUrl: service.url, apiKey: key, retries: 0 });
    for (const { messages, sandbox } of [owner.api, program]) {
      for (const call of [
        () => messages.content(which),
        () => messages.source(which),
        () => messages.attachment({ ...which, index: 0 }),
        () => messages.sendAgain(which),
        () => sandbox.get({ id }),
      ]) {
        await expect(call()).rejects.toMatchObject({ status: 403 });
      }
    }
    // Handed over, it is nowhere but with its reader.
    const kept = 'SELECT FROM contents WHERE account_id = $1 AND message_id = $2';
    const uuid = readUuid('msg_', id)!;
    await until(async () => (await service.database.query(kept, [account.id, uuid])).length === 0);
    await expect(operator.api.messages.content(which)).rejects.toMatchObject({ status: 404 });
    expect((await operator.api.sandbox.get({ id })).text).toContain('/invitation#');
    // A copy would be the account's own email, open to all its people.
    await expect(operator.api.messages.sendAgain(which)).rejects.toMatchObject({ status: 403 });
  });

  it('are written by the catalogue’s templates, and their links lead straight to the page', async () => {
    const own = await service.account();
    const owner = await openSignedIn(service, { accountId: own.id });
    const slug = 'team-invitation';
    const html = '<img src="https://elsewhere.example/?{{ accept_url }}">';
    await owner.api.templates.put({ slug, subject: 'Changed', html, publish: true });
    await owner.api.team.invite({ email: 'bo@people.example', role: 'viewer' });
    const { link } = await mailedInvitation(service.database, 'bo@people.example');
    const { data } = await owner.api.messages.list();
    const { email } = await captured(service.database, data[0]!.id);
    expect(email.subject).not.toBe('Changed');
    expect(email.html).toContain(`href="${link}"`);
    expect(email.html).not.toContain('elsewhere.example');
  });

  it('are no first email: the quickstart goes on waiting', async () => {
    const own = await service.account();
    const owner = await openSignedIn(service, { accountId: own.id });
    await owner.api.team.invite({ email: 'cy@people.example', role: 'viewer' });
    const waiting = async () => !(await owner.api.usage.get()).has_sent;
    expect(await waiting()).toBe(true);
    const sent = await service.send(own.key, {
      from_email: 'a@example.com',
      to: ['b@example.net'],
      subject: 'First',
      text: 'First',
    });
    expect(sent.status).toBe(202);
    expect(await waiting()).toBe(false);
  });
});
