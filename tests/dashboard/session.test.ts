// Signing in: cookies, rotation, throttling, passwords, the first owner, invitations. Over the real server and database.
import { createHash, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword, isPassword } from '../../src/accounts/passwords.ts';
import { captured } from '../support/captured.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type DashboardClient,
  makeUser,
  openClient,
  openSignedIn,
  PASSWORD,
} from './dashboard-client.ts';

let service: TestService;
let account: { id: number; key: string };

beforeAll(async () => {
  service = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' });
  account = await service.account();
});

afterAll(() => service.stop());

const tokenOf = (client: DashboardClient): string => client.cookie!.split('=')[1]!;
const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

async function signIn(email: string, password = PASSWORD, headers = {}) {
  const client = openClient(service.url);
  const answer = await client.try('signIn', { body: { email, password }, headers });
  return { client, answer };
}

describe('signing in', () => {
  it('gives a cookie that scripts cannot read, and keeps only its hash', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const { client, answer } = await signIn(email.toUpperCase());
    expect(answer.status).toBe(200);
    expect(answer.body.user.email).toBe(email);
    expect(answer.body.account).toMatchObject({ id: account.id, role: 'owner', plan: 'paid' });
    expect(answer.headers.get('set-cookie')).toMatch(
      /^sm_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    );
    const rows = await service.database.query('SELECT FROM sessions WHERE hash = $1', [
      hashOf(tokenOf(client)),
    ]);
    expect(rows).toHaveLength(1);
    const [kept] = await service.database.query<{ text: string }>(
      `SELECT string_agg(s::text, ' ') AS text FROM sessions s`,
    );
    expect(kept!.text).not.toContain(tokenOf(client));
    expect((await client.call('getSession', {})).state).toBe('signed-in');
  });

  it('is Secure and bound to the host with https', async () => {
    const port = await freePort();
    const secure = await startTestService({ PORT: String(port), BASE_URL: 'https://mail.example' });
    try {
      const { id } = await secure.account();
      const { email } = await makeUser(secure.database, { accountId: id });
      const answer = await openClient(`http://127.0.0.1:${port}`).try('signIn', {
        body: { email, password: PASSWORD },
        headers: { origin: 'https://mail.example' },
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('set-cookie')).toMatch(/^__Host-sm_session=.*; Secure$/);
      expect(answer.headers.get('strict-transport-security')).toMatch(/max-age=\d+/);
    } finally {
      await secure.stop();
    }
  });

  it('says the same about a wrong password and an unknown address', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const wrong = (await signIn(email, 'not the password')).answer;
    const unknown = (await signIn('nobody@people.example', 'not the password')).answer;
    expect([wrong.status, unknown.status]).toEqual([401, 401]);
    expect(wrong.body).toEqual(unknown.body);
    expect(wrong.headers.get('set-cookie')).toBeNull();
  });

  it('a sign-in ends the session that the browser had', async () => {
    const one = await openSignedIn(service, { accountId: account.id });
    const before = one.cookie!;
    const { email } = await makeUser(service.database, { accountId: account.id });
    await one.call('signIn', { body: { email, password: PASSWORD } });
    expect(one.cookie).not.toBe(before);
    expect((await openClient(service.url, before).try('getOverview')).status).toBe(401);
  });

  it('signing out ends the session and takes the cookie back', async () => {
    const client = await openSignedIn(service, { accountId: account.id });
    const before = client.cookie!;
    const answer = await client.try('signOut');
    expect(answer.headers.get('set-cookie')).toMatch(/^sm_session=;.*Max-Age=0/);
    expect((await openClient(service.url, before).try('getOverview')).status).toBe(401);
    expect((await openClient(service.url, before).call('getSession', {})).state).toBe('signed-out');
  });
});

describe('throttling', () => {
  it('an address: ten tries, counted exactly when they come at once', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, n) =>
        signIn(email, 'wrong', { 'x-forwarded-for': `192.0.2.${n}` }),
      ),
    );
    const statuses = answers.map(({ answer }) => answer.status).sort();
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);

    const right = (await signIn(email, PASSWORD, { 'x-forwarded-for': '192.0.2.99' })).answer;
    expect(right.status).toBe(429);
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(60);

    await service.database.query(
      `UPDATE sign_in_tries SET began_at = began_at - interval '16 minutes' WHERE subject = $1`,
      [`address ${email}`],
    );
    expect((await signIn(email, PASSWORD, { 'x-forwarded-for': '192.0.2.99' })).answer.status).toBe(
      200,
    );
  });

  it('a client: fifty tries over all addresses; a network of IPv6 is one client', async () => {
    await service.database.query(
      `INSERT INTO sign_in_tries (subject, tries, began_at) VALUES ('client 2001:db8:0:1', 49, now())`,
    );
    const from = (address: string) =>
      signIn('x@people.example', 'wrong', { 'x-forwarded-for': address });
    expect((await from('2001:db8::1:0:0:0:5')).answer.status).toBe(401);
    expect((await from('2001:db8:0:1:ffff::7')).answer.status).toBe(429);
    expect((await from('2001:db8:0:2::7')).answer.status).toBe(401);
  });

  it('the right password starts the address anew', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    await signIn(email, 'wrong');
    await signIn(email);
    const rows = await service.database.query('SELECT FROM sign_in_tries WHERE subject = $1', [
      `address ${email}`,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('a session', () => {
  it('changes its cookie every hour; requests under way still get through', async () => {
    const client = await openSignedIn(service, { accountId: account.id });
    const before = client.cookie!;
    await service.database.query(
      `UPDATE sessions SET rotated_at = now() - interval '61 minutes' WHERE hash = $1`,
      [hashOf(tokenOf(client))],
    );
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => openClient(service.url, before).try('getAccount')),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const renewed = answers.flatMap(({ headers }) => headers.get('set-cookie') ?? []);
    expect(renewed).toHaveLength(1);

    const after = renewed[0]!.split(';')[0]!;
    expect((await openClient(service.url, after).try('getAccount')).status).toBe(200);
    await service.database.query(`UPDATE sessions SET previous_until = now() WHERE hash = $1`, [
      hashOf(after.split('=')[1]!),
    ]);
    expect((await openClient(service.url, before).try('getAccount')).status).toBe(401);
  });

  it.each([
    ['idle for a week', `seen_at = now() - interval '8 days'`],
    ['a month old', `created_at = now() - interval '31 days'`],
  ])('is over when %s', async (_, change) => {
    const client = await openSignedIn(service, { accountId: account.id });
    await service.database.query(`UPDATE sessions SET ${change} WHERE hash = $1`, [
      hashOf(tokenOf(client)),
    ]);
    expect((await client.try('getAccount')).status).toBe(401);
  });

  it('a change of role holds at once, under another cookie', async () => {
    const owner = await openSignedIn(service, { accountId: account.id });
    const member = await openSignedIn(service, { accountId: account.id, role: 'developer' });
    const before = member.cookie!;
    await owner.call('changeMember', { params: { id: member.userId }, body: { role: 'viewer' } });
    const refused = await member.try('createKey', { body: { scopes: ['email:send'] } });
    expect(refused.status).toBe(403);
    expect(member.cookie).not.toBe(before);
  });

  it('a change of password ends the others and changes its own cookie', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const { client } = await signIn(email);
    const { client: other } = await signIn(email);
    const before = client.cookie!;
    const wrong = { current: 'no', password: 'another good password' };
    expect((await client.try('changePassword', { body: wrong })).status).toBe(403);
    const weak = { current: PASSWORD, password: 'short' };
    expect((await client.try('changePassword', { body: weak })).status).toBe(400);
    const right = { current: PASSWORD, password: 'another good password' };
    await client.call('changePassword', { body: right });
    expect((await client.try('getAccount')).status).toBe(200);
    expect((await openClient(service.url, before).try('getAccount')).status).toBe(401);
    expect((await other.try('getAccount')).status).toBe(401);
    expect((await signIn(email)).answer.status).toBe(401);
    expect((await signIn(email, 'another good password')).answer.status).toBe(200);
  });

  it('goes on in another account of the user, under another cookie', async () => {
    const second = await service.account();
    const client = await openSignedIn(service, { accountId: account.id });
    await service.database.query(
      `INSERT INTO members (account_id, user_id, role) SELECT $1, user_id, 'viewer' FROM sessions WHERE hash = $2`,
      [second.id, hashOf(tokenOf(client))],
    );
    const before = client.cookie!;
    const me = await client.call('switchAccount', { body: { accountId: second.id } });
    expect(me.account).toMatchObject({ id: second.id, role: 'viewer' });
    expect(me.accounts.map(({ id }) => id).sort()).toEqual([account.id, second.id].sort());
    expect((await client.call('getAccount', {})).id).toBe(second.id);
    expect((await openClient(service.url, before).try('getAccount')).status).toBe(401);
  });

  it('a user signs all their other sessions out', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const [one, two] = [(await signIn(email)).client, (await signIn(email)).client];
    expect(await one.call('signOutOthers', {})).toEqual({ ended: 1 });
    expect((await two.try('getAccount')).status).toBe(401);
    expect((await one.try('getAccount')).status).toBe(200);
  });
});

describe('passwords', () => {
  it('are kept as scrypt with salt and parameters', async () => {
    const [one, two] = [await hashPassword(PASSWORD), await hashPassword(PASSWORD)];
    expect(one).toMatch(/^scrypt\$32768\$8\$3\$[\w+/=]{24}\$[\w+/=]{44}$/);
    expect(one).not.toBe(two);
    expect(await isPassword(PASSWORD, one)).toBe(true);
    expect(await isPassword(`${PASSWORD} `, one)).toBe(false);
  });

  it('made with other parameters still open, and are made anew', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const hash = scryptSync(PASSWORD, 'salt', 32, { N: 16, r: 1, p: 1 }).toString('base64');
    const old = `scrypt$16$1$1$${Buffer.from('salt').toString('base64')}$${hash}`;
    await service.database.query('UPDATE users SET password = $2 WHERE email = $1', [email, old]);
    expect((await signIn(email)).answer.status).toBe(200);
    const [row] = await service.database.query<{ password: string }>(
      'SELECT password FROM users WHERE email = $1',
      [email],
    );
    expect(row!.password).toMatch(/^scrypt\$32768\$/);
    expect((await signIn(email)).answer.status).toBe(200);
  });
});

describe('invitations', () => {
  let owner: DashboardClient & { userId: string };

  beforeAll(async () => {
    owner = await openSignedIn(service, { accountId: account.id });
  });

  const tokenIn = (link: string): string => link.split('#')[1]!;

  it('are shown to who invites and mailed, and make a member once', async () => {
    const made = await owner.call('invite', {
      body: { email: 'Grace@People.example', role: 'developer' },
    });
    expect(made).toMatchObject({ mailed: true, note: null });
    expect(made.link).toMatch(new RegExp(`^${service.url}/invitation#[\\w-]{40}$`));
    const mailed = await until(async () => {
      const { items } = await owner.call('listSandbox', { query: {} });
      return items.find(({ recipients }) => recipients.includes('grace@people.example'));
    });
    const { mail } = await captured(service.database, mailed.messageId!);
    expect(mail.text).toContain(made.link);

    const token = tokenIn(made.link);
    const guest = openClient(service.url);
    expect(await guest.call('showInvitation', { body: { token } })).toMatchObject({
      email: 'grace@people.example',
      role: 'developer',
      known: false,
    });
    const weak = await guest.try('acceptInvitation', {
      body: { token, password: 'short', name: 'Grace' },
    });
    expect(weak.status).toBe(400);
    const me = await guest.call('acceptInvitation', {
      body: { token, password: PASSWORD, name: 'Grace' },
    });
    expect(me.account).toMatchObject({ id: account.id, role: 'developer' });
    expect((await guest.try('createKey', { body: { scopes: ['email:read'] } })).status).toBe(200);

    const again = { token, password: PASSWORD, name: 'Mallory' };
    expect((await openClient(service.url).try('acceptInvitation', { body: again })).status).toBe(
      404,
    );
    expect((await signIn('grace@people.example')).answer.status).toBe(200);
  });

  it('used twice at once, one wins', async () => {
    const made = await owner.call('invite', {
      body: { email: 'twice@people.example', role: 'viewer' },
    });
    const body = { token: tokenIn(made.link), password: PASSWORD, name: 'Twice' };
    const answers = await Promise.all([
      openClient(service.url).try('acceptInvitation', { body }),
      openClient(service.url).try('acceptInvitation', { body }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('for who has a login: they prove it with their password', async () => {
    const elsewhere = await service.account();
    const { email } = await makeUser(service.database, { accountId: elsewhere.id });
    const { link } = await owner.call('invite', { body: { email, role: 'viewer' } });
    const token = tokenIn(link);
    const guest = openClient(service.url);
    expect((await guest.call('showInvitation', { body: { token } })).known).toBe(true);
    const wrong = { token, password: 'somebody else’s guess' };
    expect((await guest.try('acceptInvitation', { body: wrong })).status).toBe(403);
    const me = await guest.call('acceptInvitation', { body: { token, password: PASSWORD } });
    expect(me.accounts.map(({ id }) => id).sort()).toEqual([account.id, elsewhere.id].sort());
  });

  it('replaced, withdrawn or a week old, they are not open', async () => {
    const invite = async (email: string) =>
      tokenIn((await owner.call('invite', { body: { email, role: 'viewer' } })).link);
    const status = async (token: string) =>
      (await openClient(service.url).try('showInvitation', { body: { token } })).status;

    const first = await invite('again@people.example');
    const second = await invite('again@people.example');
    expect([await status(first), await status(second)]).toEqual([404, 200]);

    const { invitations } = await owner.call('getTeam', {});
    const { id } = invitations.find(({ email }) => email === 'again@people.example')!;
    await owner.call('withdrawInvitation', { params: { id } });
    expect(await status(second)).toBe(404);

    const old = await invite('old@people.example');
    await service.database.query(
      `UPDATE invitations SET expires_at = now() WHERE email = 'old@people.example'`,
    );
    expect(await status(old)).toBe(404);
  });

  it('the last owner stays; a removed member is out at once', async () => {
    const team = await service.account();
    const last = await openSignedIn(service, { accountId: team.id });
    const leave = await last.try('removeMember', { params: { id: last.userId } });
    expect(leave.status).toBe(400);
    const fall = { params: { id: last.userId }, body: { role: 'viewer' } };
    expect((await last.try('changeMember', fall)).status).toBe(400);

    const member = await openSignedIn(service, { accountId: team.id, role: 'developer' });
    await last.call('removeMember', { params: { id: member.userId } });
    expect((await member.try('getAccount')).status).toBe(401);
    expect((await signIn(member.email)).answer.status).toBe(401);
  });
});

describe('the first owner', () => {
  it('sets the service up once, with the link that it prints', async () => {
    const fresh = await startTestService();
    try {
      const token = fresh.service.setUpUrl!.split('#')[1]!;
      expect(fresh.service.setUpUrl).toBe(`${fresh.url}/setup#${token}`);
      const client = openClient(fresh.url);
      expect((await client.call('getSession', {})).state).toBe('set-up');

      const body = {
        token,
        email: 'ada@people.example',
        name: 'Ada',
        password: PASSWORD,
        accountName: 'Engines',
      };
      const guess = await client.try('setUp', { body: { ...body, token: 'guessed' } });
      expect(guess.status).toBe(403);
      const both = await Promise.all([
        client.try('setUp', { body }),
        openClient(fresh.url).try('setUp', { body: { ...body, email: 'eve@people.example' } }),
      ]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 403]);
      const me = both.find(({ status }) => status === 200)!.body;
      expect(me.user.operator).toBe(true);
      expect(me.account).toMatchObject({ name: 'Engines', role: 'owner', plan: 'paid' });
      const later = await openClient(fresh.url).try('setUp', { body });
      expect(later.status).toBe(403);
      expect((await openClient(fresh.url).call('getSession', {})).state).toBe('signed-out');
    } finally {
      await fresh.stop();
    }
  });
});
