// Signing in: cookies, rotation, throttling, passwords, the first owner, invitations. Over the real
// server and database.
import { createHash, scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword, isPassword } from '../../src/people/passwords.ts';
import { countTry } from '../../src/people/sign-in-throttle.ts';
import { mailedInvitation } from '../support/invitation.ts';
import { freePort } from '../support/process.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  type DashboardClient,
  makeUser,
  mostTriesSince,
  openClient,
  openSignedIn,
  PASSWORD,
  statusOf,
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
    const rest = 'Path=\\/; HttpOnly; SameSite=Lax; Max-Age=';
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(RegExp(`^sm_session=[\\w-]{43}; ${rest}2592000$`)),
      expect.stringMatching(RegExp(`^sm_browser=[\\w.-]+; ${rest}15552000$`)),
    ]);
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
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(/^__Host-sm_session=.*; Secure$/),
        expect.stringMatching(/^__Host-sm_browser=.*; Secure$/),
      ]);
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
    const old = openClient(service.url, before);
    await expect(old.api.usage.get()).rejects.toMatchObject({ status: 401 });
  });

  it('signing out ends the session and takes the cookie back', async () => {
    const client = await openSignedIn(service, { accountId: account.id });
    const before = client.cookie!;
    const answer = await client.try('signOut');
    expect(answer.headers.get('set-cookie')).toMatch(/^sm_session=;.*Max-Age=0/);
    const old = openClient(service.url, before);
    await expect(old.api.usage.get()).rejects.toMatchObject({ status: 401 });
    expect((await openClient(service.url, before).call('getSession', {})).state).toBe('signed-out');
  });
});

describe('throttling', () => {
  const from = (email: string, address: string, password = 'wrong') =>
    signIn(email, password, { 'x-forwarded-for': address }).then(({ answer }) => answer);

  it('wrong passwords from elsewhere lock nobody out', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    // As the route counts them, without the time that each password takes to be looked at.
    for (let n = 0; n < 10; n += 1) {
      await countTry(service.database, { email, client: `192.0.2.${n}` });
    }
    expect((await from(email, '192.0.2.99', PASSWORD)).status).toBe(200);
  });

  it('an address from one network: five tries, counted exactly when they come at once', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const startedMs = performance.now();
    const answers = await Promise.all(Array.from({ length: 12 }, () => from(email, '192.0.2.1')));
    const most = mostTriesSince(startedMs);
    const tried = answers.filter(({ status }) => status === 401).length;
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12 - tried);
    expect(tried).toBeGreaterThanOrEqual(5);
    expect(tried).toBeLessThanOrEqual(most);
    // Those that came too early made the wait no longer: ten wrong ones cost the right person a
    // moment.
    const right = await until(async () => {
      const answer = await from(email, '192.0.2.1', PASSWORD);
      return answer.status === 429 ? undefined : answer;
    });
    expect(right.status).toBe(200);
  });

  it('each further try waits twice as long, up to a quarter of an hour', async () => {
    const attempt = { email: 'slow@people.example', client: '192.0.2.2' };
    const subject = 'place 192.0.2.2 slow@people.example';
    const waits: unknown[] = [];
    for (let n = 0; n < 17; n += 1) {
      await service.database.query(
        `UPDATE sign_in_tries SET free_at = now() - interval '1 second' WHERE subject = $1`,
        [subject],
      );
      await countTry(service.database, attempt);
      if (n < 4) continue;
      const early = await countTry(service.database, attempt).catch((problem) => problem);
      waits.push(early.retryAfterSeconds);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]);
  });

  const tried = (subject: string, tries: number, waitSeconds: number) =>
    service.database.query(
      `INSERT INTO sign_in_tries VALUES ($1, $2, now(), now() + $3 * interval '1 second')
       ON CONFLICT (subject) DO UPDATE SET tries = excluded.tries, free_at = excluded.free_at`,
      [subject, tries, waitSeconds],
    );

  it('many networks that guess together are slowed down; where the person is known they are not', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    expect((await from(email, '198.51.100.1', PASSWORD)).status).toBe(200);
    await tried(`address ${email}`, 150, 60);
    expect((await from(email, '198.51.100.2', PASSWORD)).status).toBe(429);
    expect((await from(email, '198.51.100.1', PASSWORD)).status).toBe(200);
  });

  it('a client: fifty tries over all addresses; a network of IPv6 is one client', async () => {
    await tried('client 2001:db8:0:1', 60, 0);
    expect((await from('x@people.example', '2001:db8::1:0:0:0:5')).status).toBe(401);
    expect((await from('x@people.example', '2001:db8:0:1:ffff::7')).status).toBe(429);
    expect((await from('x@people.example', '2001:db8:0:2::7')).status).toBe(401);
  });

  it('who guesses behind the same network keeps out nobody who signed in from there before', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    expect((await from(email, '198.51.100.7', PASSWORD)).status).toBe(200);
    await tried('client 198.51.100.7', 60, 600);
    expect((await from('x@people.example', '198.51.100.7')).status).toBe(429);
    expect((await from(email, '198.51.100.7', PASSWORD)).status).toBe(200);
    // And whoever has a login there does not free the network for guesses by signing in.
    expect((await from('x@people.example', '198.51.100.7')).status).toBe(429);
    const guesses = await Promise.all(Array.from({ length: 8 }, () => from(email, '198.51.100.7')));
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
  });

  it('nor out of a browser in which its person signed in, whoever guesses at their own address', async () => {
    const ada = await makeUser(service.database, { accountId: account.id });
    const eve = await makeUser(service.database, { accountId: account.id });
    const markOf = async ({ email }: { email: string }): Promise<string> => {
      const [, mark] = (await from(email, '198.51.100.8', PASSWORD)).headers.getSetCookie();
      return mark!.split(';')[0]!;
    };
    const marks = { ada: await markOf(ada), eve: await markOf(eve) };
    for (const kind of ['place 198.51.100.8', 'place 198.51.100.9', 'address']) {
      await tried(`${kind} ${ada.email}`, 150, 600);
    }
    const status = async (cookie: string, address: string, password = PASSWORD) => {
      const headers = { 'x-forwarded-for': address, cookie };
      return (await signIn(ada.email, password, headers)).answer.status;
    };
    for (const address of ['198.51.100.8', '198.51.100.9', '198.51.100.10']) {
      // That of someone else, or one that was made up, is worth nothing.
      expect(await status(marks.eve, address)).toBe(429);
      const [user, id, until] = marks.ada.split('.');
      expect(await status(`${user}.${id}0.${until}.${marks.ada.split('.')[3]}`, address)).toBe(429);
      expect(await status([user, id, until].join('.'), address)).toBe(429);
      expect(await status(marks.ada, address)).toBe(200);
    }
    // And who sits down at that browser has no more tries than anyone.
    const guesses = Array.from({ length: 8 }, () => status(marks.ada, '198.51.100.11', 'wrong'));
    expect((await Promise.all(guesses)).filter((it) => it === 401)).toHaveLength(5);
  });

  it('the right password starts the place again', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    await signIn(email, 'wrong');
    await signIn(email);
    const rows = await service.database.query('SELECT FROM sign_in_tries WHERE subject LIKE $1', [
      `place % ${email}`,
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
      Array.from({ length: 5 }, () => openClient(service.url, before).get('/v1/account')),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const renewed = answers.flatMap(({ headers }) => headers.get('set-cookie') ?? []);
    expect(renewed).toHaveLength(1);

    const after = renewed[0]!.split(';')[0]!;
    expect((await openClient(service.url, after).get('/v1/account')).status).toBe(200);
    await service.database.query(`UPDATE sessions SET previous_until = now() WHERE hash = $1`, [
      hashOf(after.split('=')[1]!),
    ]);
    expect((await openClient(service.url, before).get('/v1/account')).status).toBe(401);
  });

  it.each([
    ['idle for a week', `seen_at = now() - interval '8 days'`],
    ['a month old', `created_at = now() - interval '31 days'`],
  ])('is over when %s', async (_, change) => {
    const client = await openSignedIn(service, { accountId: account.id });
    await service.database.query(`UPDATE sessions SET ${change} WHERE hash = $1`, [
      hashOf(tokenOf(client)),
    ]);
    expect((await client.get('/v1/account')).status).toBe(401);
  });

  it('a change of role holds at once, under another cookie', async () => {
    const owner = await openSignedIn(service, { accountId: account.id });
    const member = await openSignedIn(service, { accountId: account.id, role: 'developer' });
    const before = member.cookie!;
    await owner.api.team.update({ id: member.userId, role: 'viewer' });
    expect(await statusOf(member.api.keys.create({ scopes: ['email:send'] }))).toBe(403);
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
    expect((await client.get('/v1/account')).status).toBe(200);
    expect((await openClient(service.url, before).get('/v1/account')).status).toBe(401);
    expect((await other.get('/v1/account')).status).toBe(401);
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
    expect((await client.api.account.get()).id).toBe(second.id);
    expect((await openClient(service.url, before).get('/v1/account')).status).toBe(401);
  });

  it('a user signs all their other sessions out', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const [one, two] = [(await signIn(email)).client, (await signIn(email)).client];
    expect(await one.call('signOutOthers', {})).toEqual({ ended: 1 });
    expect((await two.get('/v1/account')).status).toBe(401);
    expect((await one.get('/v1/account')).status).toBe(200);
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

  it('made with other parameters still open, and are made again', async () => {
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

  const tokenFor = async (email: string): Promise<string> =>
    (await mailedInvitation(service.database, email)).token;

  it('are mailed, never shown to who invites, and make a member once', async () => {
    const made = await owner.api.team.invite({ email: 'Grace@People.example', role: 'developer' });
    const { link, token } = await mailedInvitation(service.database, 'grace@people.example');
    expect(link).toBe(`${service.url}/invitation#${token}`);
    expect(made).toMatchObject({ email: 'grace@people.example', captured: true });
    const { data } = await owner.api.team.listInvitations();
    expect(JSON.stringify([made, data])).not.toContain(token);
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
    expect(await statusOf(guest.api.keys.create({ scopes: ['email:read'] }))).toBe(200);

    const again = { token, password: PASSWORD, name: 'Mallory' };
    expect((await openClient(service.url).try('acceptInvitation', { body: again })).status).toBe(
      404,
    );
    expect((await signIn('grace@people.example')).answer.status).toBe(200);
  });

  it('used twice at once, one wins', async () => {
    await owner.api.team.invite({ email: 'twice@people.example', role: 'viewer' });
    const token = await tokenFor('twice@people.example');
    const body = { token, password: PASSWORD, name: 'Twice' };
    const answers = await Promise.all([
      openClient(service.url).try('acceptInvitation', { body }),
      openClient(service.url).try('acceptInvitation', { body }),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('for someone who has a login: they prove it with their password', async () => {
    const elsewhere = await service.account();
    const { email } = await makeUser(service.database, { accountId: elsewhere.id });
    const stranger = await owner.api.team.invite({
      email: 'no-login@people.example',
      role: 'viewer',
    });
    const known = await owner.api.team.invite({ email, role: 'viewer' });
    // Who invites learns nothing about who has a login.
    expect(Object.keys(known)).toEqual(Object.keys(stranger));
    const token = await tokenFor(email);
    const guest = openClient(service.url);
    expect((await guest.call('showInvitation', { body: { token } })).known).toBe(true);
    const wrong = { token, password: 'somebody else’s guess' };
    expect((await guest.try('acceptInvitation', { body: wrong })).status).toBe(403);
    const me = await guest.call('acceptInvitation', { body: { token, password: PASSWORD } });
    expect(me.accounts.map(({ id }) => id).sort()).toEqual([account.id, elsewhere.id].sort());
  });

  it('replaced, withdrawn or a week old, they are not open', async () => {
    const invite = async (email: string) => {
      await owner.api.team.invite({ email, role: 'viewer' });
      return await tokenFor(email);
    };
    const status = async (token: string) =>
      (await openClient(service.url).try('showInvitation', { body: { token } })).status;

    const first = await invite('again@people.example');
    const second = await invite('again@people.example');
    expect([await status(first), await status(second)]).toEqual([404, 200]);

    const { data } = await owner.api.team.listInvitations();
    const { id } = data.find(({ email }) => email === 'again@people.example')!;
    await owner.api.team.withdrawInvitation({ id });
    expect(await status(second)).toBe(404);

    const old = await invite('old@people.example');
    await service.database.query(
      `UPDATE invitations SET expires_at = now() WHERE email = 'old@people.example'`,
    );
    expect(await status(old)).toBe(404);
  });

  it('without an email there is none: an owner gets no link', async () => {
    const bare = await startTestService({ RELAY_URL: 'smtp://127.0.0.1:1', RELAY_DOWN: 'queue' });
    try {
      const { id } = await bare.account({ identities: [] });
      const alone = await openSignedIn(bare, { accountId: id });
      await expect(
        alone.api.team.invite({ email: 'eve@people.example', role: 'owner' }),
      ).rejects.toMatchObject({
        status: 503,
        message: expect.stringContaining('was not invited'),
      });
      expect((await alone.api.team.listInvitations()).data).toEqual([]);
      // An operator, who could make the login by command, gets it.
      const operator = await openSignedIn(bare, { operator: true });
      const { invited } = await operator.api.accounts.create({
        ...{ name: 'New', plan: 'free', owner_email: 'first@people.example' },
      });
      expect(invited!.link).toMatch(/\/invitation#[\w-]{40}$/);
    } finally {
      await bare.stop();
    }
  });

  it('the last owner stays; a removed member is out at once', async () => {
    const team = await service.account();
    const last = await openSignedIn(service, { accountId: team.id });
    const { team: people } = last.api;
    expect(await statusOf(people.remove({ id: last.userId }))).toBe(400);
    expect(await statusOf(people.update({ id: last.userId, role: 'viewer' }))).toBe(400);

    const member = await openSignedIn(service, { accountId: team.id, role: 'developer' });
    await people.remove({ id: member.userId });
    expect((await member.get('/v1/account')).status).toBe(401);
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
