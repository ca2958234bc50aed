// Second factors over HTTP: apps, passkeys, recovery codes, accounts that ask for one, sessions.
// What is right opens, once; what is wrong, late, repeated or someone else's does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerUser } from '../../src/cli/user.ts';
import type { SecondFactorNeeded } from '../../src/dashboard/views/session.ts';
import { codeOf, stepAt, stepOfCode } from '../../src/people/totp.ts';
import { runInProcess } from '../support/command.ts';
import { mailedInvitation } from '../support/invitation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { codeNext, codeNow, fromBase32 } from './app-codes.ts';
import { makeAuthenticator } from './authenticator.ts';
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

type Person = DashboardClient & { userId: string; email: string };

const signedIn = (wish = {}): Promise<Person> =>
  openSignedIn(service, { accountId: account.id, ...wish });

/** With an app; answers its secret and the recovery codes. */
async function withApp(person: Person): Promise<{ secret: Buffer; codes: string[] }> {
  const started = await person.call('startApp', {});
  const secret = fromBase32(started.secret);
  const { codes } = await person.call('confirmApp', { body: { code: codeNow(secret) } });
  return { secret, codes: codes! };
}

async function withPasskey(person: Person, name = 'Laptop') {
  const key = makeAuthenticator(service.url);
  const { challenge } = await person.call('startPasskey', {});
  const { codes } = await person.call('addPasskey', {
    body: { name, response: key.create(challenge) },
  });
  return { key, codes };
}

const signIn = (email: string, client = openClient(service.url), headers = {}) =>
  client.try('signIn', { body: { email, password: PASSWORD }, headers });

/** The password alone leads to a ticket and no cookie. */
async function ticketOf(email: string, headers = {}): Promise<SecondFactorNeeded['secondFactor']> {
  const answer = await signIn(email, openClient(service.url), headers);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('set-cookie')).toBeNull();
  return (answer.body as unknown as SecondFactorNeeded).secondFactor;
}

const stale = (person: Person) =>
  service.database.query(
    `UPDATE sessions SET proved_at = now() - interval '11 minutes' WHERE user_id = (SELECT id FROM users WHERE email = $1)`,
    [person.email],
  );

describe('codes of an app', () => {
  it('are those of RFC 6238', () => {
    const secret = Buffer.from('12345678901234567890');
    // Appendix B has eight digits; apps show the last six.
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ] as const) {
      expect(codeOf(secret, stepAt(seconds * 1000))).toBe(code);
    }
    const now = 1_234_567_890_000;
    const at = (step: number) => stepOfCode(secret, codeOf(secret, stepAt(now) + step), now);
    expect([at(-1), at(0), at(1)]).toEqual([-1, 0, 1].map((drift) => stepAt(now) + drift));
    expect([at(-2), at(2)]).toEqual([undefined, undefined]);
  });

  it('a password alone opens nothing any more; a code does, once', async () => {
    const person = await signedIn();
    const { secret } = await withApp(person);
    const { ticket, app, passkey } = await ticketOf(person.email);
    expect([app, passkey]).toEqual([true, false]);
    const code = codeNext(secret);
    const [one, other] = await Promise.all(
      [openClient(service.url), openClient(service.url)].map((client) =>
        client.try('signInWithCode', { body: { ticket, code } }),
      ),
    );
    expect([one!.status, other!.status].sort()).toEqual([200, 401]);
    const again = await openClient(service.url).try('signInWithCode', { body: { ticket, code } });
    expect(again.status).toBe(401);
    expect(again.body.detail).toMatch(/already used/);
    // One from before the last one is no better.
    const before = codeNow(secret);
    expect(
      (await openClient(service.url).try('signInWithCode', { body: { ticket, code: before } }))
        .status,
    ).toBe(401);
  });

  it('guesses wait longer and longer, and nobody elsewhere is kept out', async () => {
    const person = await signedIn();
    const { secret } = await withApp(person);
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const { ticket } = await ticketOf(person.email, from('192.0.2.1'));
    const startedMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () =>
        openClient(service.url).try('signInWithCode', {
          body: { ticket, code: '000000' },
          headers: from('192.0.2.1'),
        }),
      ),
    );
    const most = mostTriesSince(startedMs);
    const tried = answers.filter(({ status }) => status === 401).length;
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(12 - tried);
    expect(tried).toBeGreaterThanOrEqual(5);
    expect(tried).toBeLessThanOrEqual(most);
    const right = await openClient(service.url).try('signInWithCode', {
      body: { ticket, code: codeNext(secret) },
      headers: from('198.51.100.1'),
    });
    expect(right.status).toBe(200);
  });

  it('a ticket is void when it is forged, old, or the password has changed', async () => {
    const person = await signedIn();
    const { secret } = await withApp(person);
    const other = await signedIn();
    const { ticket } = await ticketOf(person.email);
    const withTicket = (text: string) =>
      openClient(service.url).try('signInWithCode', {
        body: { ticket: text, code: codeNext(secret) },
      });
    const [, , until, signature] = ticket.split('.');
    for (const forged of [
      [other.userId, '', until, signature].join('.'),
      [person.userId, String(account.id), until, signature].join('.'),
      [person.userId, '', Number(until) + 60_000, signature].join('.'),
      '...',
    ]) {
      expect((await withTicket(forged)).status).toBe(401);
    }
    await person.call('changePassword', {
      body: { current: PASSWORD, password: 'another four plain words' },
    });
    expect((await withTicket(ticket)).status).toBe(401);
  });

  it('the secret lies sealed, and codes only as hashes', async () => {
    const person = await signedIn();
    const { secret, codes } = await withApp(person);
    const [row] = await service.database.query<{ secret: Buffer; all: string }>(
      `SELECT a.secret, (SELECT string_agg(c::text, ' ') FROM recovery_codes c) AS all
       FROM authenticator_apps a JOIN users u ON u.id = a.user_id WHERE u.email = $1`,
      [person.email],
    );
    expect(row!.secret.includes(secret)).toBe(false);
    expect(codes).toHaveLength(10);
    for (const code of codes) expect(row!.all).not.toContain(code.replaceAll('-', ''));
  });

  it('one that was never confirmed is no factor, and a wrong first code makes none', async () => {
    const person = await signedIn();
    await person.call('startApp', {});
    expect((await person.try('confirmApp', { body: { code: '000000' } })).status).toBe(400);
    expect((await signIn(person.email)).body.user.email).toBe(person.email);
  });

  it('a second app is refused until the first is removed', async () => {
    const person = await signedIn();
    await withApp(person);
    const again = await person.try('startApp');
    expect(again.status).toBe(400);
    await person.call('removeApp', {});
    await person.call('startApp', {});
  });
});

describe('recovery codes', () => {
  it('open once, in whatever spelling, and are told by email', async () => {
    const person = await signedIn();
    const { codes } = await withApp(person);
    const { ticket } = await ticketOf(person.email);
    const code = ` ${codes[0]!.toUpperCase().replaceAll('-', ' ')} `;
    const client = openClient(service.url);
    expect((await client.try('signInWithCode', { body: { ticket, code } })).status).toBe(200);
    expect((await client.try('signInWithCode', { body: { ticket, code } })).status).toBe(401);
    expect((await client.call('getFactors', {})).recoveryCodes).toBe(9);
    const subjects = await mailed(person.email, 2);
    expect(subjects).toContain('A recovery code was used to sign in');
    expect(subjects).toContain('Two-factor sign-in is on');
  });

  it('of someone else open nothing, and new ones replace the old', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const { codes } = await withApp(one);
    await withApp(other);
    const { ticket } = await ticketOf(other.email);
    const tryCode = (code: string) =>
      openClient(service.url).try('signInWithCode', { body: { ticket, code } });
    expect((await tryCode(codes[0]!)).status).toBe(401);
    const fresh = await other.call('makeRecoveryCodes', {});
    expect((await tryCode(fresh.codes![3]!)).status).toBe(200);
  });
});

describe('passkeys', () => {
  it.each(['es256', 'ed25519', 'rs256'] as const)(
    '%s: added, then signs in alone',
    async (kind) => {
      const person = await signedIn();
      const key = makeAuthenticator(service.url, kind);
      const options = await person.call('startPasskey', {});
      const added = await person.call('addPasskey', {
        body: { name: 'Phone', response: key.create(options.challenge) },
      });
      expect(added.codes).toHaveLength(10);
      const client = openClient(service.url);
      const { challenge, host } = await client.call('askPasskey', {});
      expect(host).toBe(new URL(service.url).hostname);
      const assertion = key.get(challenge);
      const me = await client.call('signInWithPasskey', { body: { assertion } });
      expect(me.user.email).toBe(person.email);
      // The password alone does not, any more.
      expect((await ticketOf(person.email)).passkey).toBe(true);
      // The same assertion is not good twice, whoever sends it.
      const replayed = await openClient(service.url).try('signInWithPasskey', {
        body: { assertion },
      });
      expect(replayed.status).toBe(403);
      const { passkeys } = await client.call('getFactors', {});
      expect(passkeys).toMatchObject([{ name: 'Phone', lastUsedAt: expect.any(String) }]);
    },
  );

  it('is refused for another page, host, kind of answer, without a check of the person, or changed', async () => {
    const person = await signedIn();
    const { key } = await withPasskey(person);
    const client = openClient(service.url);
    const ask = async () => (await client.call('askPasskey', {})).challenge;
    const send = async (assertion: ReturnType<typeof key.get>) =>
      (await client.try('signInWithPasskey', { body: { assertion } })).status;
    expect(await send(key.get(await ask(), { origin: 'https://evil.example' }))).toBe(403);
    expect(await send(key.get(await ask(), { host: 'evil.example' }))).toBe(403);
    expect(await send(key.get(await ask(), { type: 'webauthn.create' }))).toBe(403);
    expect(await send(key.get(await ask(), { flags: 0x01 }))).toBe(403);
    expect(await send(key.get(await ask(), { flags: 0x04 }))).toBe(403);
    expect(await send(key.get('bm90IG91cnM'))).toBe(403);
    const good = key.get(await ask());
    const other = makeAuthenticator(service.url).get(await ask());
    expect(await send({ ...good, signature: other.signature })).toBe(403);
    expect(await send(other)).toBe(401);
    // A challenge for adding one is none for signing in.
    const { challenge } = await person.call('startPasskey', {});
    expect(await send(key.get(challenge))).toBe(403);
    expect(await send(key.get(await ask(), { counter: 1 }))).toBe(403);
    expect(await send(key.get(await ask()))).toBe(200);
  });

  it('cannot be added by someone else’s challenge, twice, or with rubbish for a key', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const key = makeAuthenticator(service.url);
    const { challenge } = await one.call('startPasskey', {});
    const response = key.create(challenge);
    const add = (person: Person, given = response) =>
      person.try('addPasskey', { body: { name: 'x', response: given } });
    expect((await add(other)).status).toBe(403);
    const cut = Buffer.from(response.authenticatorData, 'base64url').subarray(0, -20);
    const rubbish = { ...response, authenticatorData: cut.toString('base64url') };
    expect((await add(one, rubbish)).status).toBe(403);
    expect((await add(one)).status).toBe(200);
    expect((await add(one)).status).toBe(403);
    const { challenge: next } = await one.call('startPasskey', {});
    expect((await add(one, key.create(next))).status).toBe(400);
  });

  it('of someone else is not removed', async () => {
    const [one, other] = [await signedIn(), await signedIn()];
    const { key } = await withPasskey(one);
    expect((await other.try('removePasskey', { params: { id: key.id } })).status).toBe(404);
    await one.call('removePasskey', { params: { id: key.id } });
    expect((await signIn(one.email)).body.user.email).toBe(one.email);
    expect(await mailed(one.email, 2)).toContain('Removed from your sign-in: passkey “Laptop”');
    const rows = await one.api.audit.list({ target: one.email });
    expect(rows.data.map(({ action }) => action)).toEqual([
      'remove_second_factor',
      'add_second_factor',
    ]);
  });
});

describe('other ways in', () => {
  it('a link for a new password does not step around it', async () => {
    const person = await signedIn();
    const { codes } = await withApp(person);
    await openClient(service.url).call('askForReset', { body: { email: person.email } });
    const token = await until(() => resetToken(person.email));
    const client = openClient(service.url);
    const answer = await client.try('resetPassword', {
      body: { token, password: 'brand new plain words' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('set-cookie')).toBeNull();
    const { ticket } = (answer.body as unknown as SecondFactorNeeded).secondFactor;
    await client.call('signInWithCode', { body: { ticket, code: codes[0]! } });
  });

  it('nor does an invitation; after the code one is in the account one was invited to', async () => {
    const person = await signedIn();
    const { codes } = await withApp(person);
    const theirs = await service.account();
    const owner = await openSignedIn(service, { accountId: theirs.id });
    await owner.api.team.invite({ email: person.email, role: 'viewer' });
    const { token } = await mailedInvitation(service.database, person.email);
    const client = openClient(service.url);
    const answer = await client.try('acceptInvitation', { body: { token, password: PASSWORD } });
    expect(answer.headers.get('set-cookie')).toBeNull();
    const { ticket } = (answer.body as unknown as SecondFactorNeeded).secondFactor;
    const me = await client.call('signInWithCode', { body: { ticket, code: codes[0]! } });
    expect(me.account).toMatchObject({ id: theirs.id, role: 'viewer' });
  });

  it('what changes how one signs in asks again after ten minutes; password or passkey will do', async () => {
    const person = await signedIn();
    const { key } = await withPasskey(person);
    await stale(person);
    const grave = [
      () => person.try('startApp'),
      () => person.try('confirmApp', { body: { code: '000000' } }),
      () => person.try('removeApp'),
      () => person.try('startPasskey'),
      () =>
        person.try('addPasskey', {
          body: { name: 'x', response: makeAuthenticator(service.url).create('eA') },
        }),
      () => person.try('removePasskey', { params: { id: key.id } }),
      () => person.try('makeRecoveryCodes'),
      () => person.try('requireFactor', { body: { required: true } }),
    ];
    for (const one of grave) {
      const { status, body } = await one();
      expect(status).toBe(403);
      expect(body.detail).toMatch(/First confirm who you are/);
    }
    expect((await person.try('prove', { body: { password: 'wrong' } })).status).toBe(403);
    expect((await person.call('getFactors', {})).fresh).toBe(false);
    const { challenge } = await person.call('askProof', {});
    await person.call('prove', { body: { passkey: key.get(challenge) } });
    expect((await person.call('getFactors', {})).fresh).toBe(true);
    await stale(person);
    await person.call('prove', { body: { password: PASSWORD } });
    await person.call('startPasskey', {});
    // Someone else's passkey proves nothing about me.
    const other = await signedIn();
    const theirs = await withPasskey(other);
    const asked = await person.call('askProof', {});
    const borrowed = await person.try('prove', {
      body: { passkey: theirs.key.get(asked.challenge) },
    });
    expect(borrowed.status).toBe(403);
  });
});

describe('an account that asks for one', () => {
  it('lets nobody in without, and lets them set one up', async () => {
    const strict = await service.account();
    const owner = await openSignedIn(service, { accountId: strict.id });
    const member = await openSignedIn(service, { accountId: strict.id, role: 'developer' });
    const first = await owner.try('requireFactor', { body: { required: true } });
    expect(first.status).toBe(403);
    expect(first.body.detail).toMatch(/of your own first/);
    await withPasskey(owner);
    const { account: now } = await owner.call('requireFactor', { body: { required: true } });
    expect(now).toMatchObject({ secondFactorRequired: true });
    expect(await statusOf(owner.api.messages.list())).toBe(200);
    expect(await statusOf(member.api.messages.list())).toBe(403);
    expect(await statusOf(member.api.templates.list())).toBe(403);
    expect((await member.try('live')).status).toBe(403);
    const { me } = await member.call('getSession', {});
    expect(me).toMatchObject({ locked: true });
    // Programs have keys.
    expect((await service.get(strict.key, '/v1/templates')).status).toBe(200);
    const team = await owner.api.team.list();
    expect(team.data.map(({ second_factor }) => second_factor).sort()).toEqual([false, true]);
    await withApp(member);
    expect(await statusOf(member.api.messages.list())).toBe(200);
    await member.call('removeApp', {});
    expect(await statusOf(member.api.messages.list())).toBe(403);
    const rows = await owner.api.audit.list({ action: 'require_second_factor' });
    expect(rows.data).toMatchObject([{ after: { second_factor_required: true } }]);
  });

  it('nobody steps in by switching to it', async () => {
    const [open, strict] = [await service.account(), await service.account()];
    const person = await openSignedIn(service, { accountId: open.id });
    await service.database.query(
      `INSERT INTO members (account_id, user_id, role) SELECT $2, user_id, 'owner' FROM members WHERE account_id = $1`,
      [open.id, strict.id],
    );
    await service.database.query(
      'UPDATE accounts SET second_factor_required = true WHERE id = $1',
      [strict.id],
    );
    await person.call('switchAccount', { body: { accountId: strict.id } });
    expect(await statusOf(person.api.messages.list())).toBe(403);
    expect(await statusOf(person.api.keys.create({ name: 'x', scopes: ['email:send'] }))).toBe(403);
    await person.call('switchAccount', { body: { accountId: open.id } });
    expect(await statusOf(person.api.messages.list())).toBe(200);
  });
});

describe('when all is lost', () => {
  it('the operator’s command takes every factor away, ends sessions, and tells', async () => {
    const person = await signedIn();
    await withApp(person);
    await withPasskey(person);
    const { code, stdout } = await runInProcess(
      registerUser,
      ['user', 'reset-factors', person.email],
      { DATABASE_URL: service.databaseUrl },
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('with the password alone')]);
    expect((await person.call('getSession', {})).state).toBe('signed-out');
    expect((await signIn(person.email)).body.user.email).toBe(person.email);
    expect(await mailed(person.email, 3)).toContain(
      'Removed from your sign-in: every second factor',
    );
  });
});

describe('sessions', () => {
  it('are listed with device and place, and ended one by one', async () => {
    const { email } = await makeUser(service.database, { accountId: account.id });
    const open = async (userAgent: string) => {
      const client = openClient(service.url);
      await signIn(email, client, { 'user-agent': userAgent, 'x-forwarded-for': '192.0.2.77' });
      return client;
    };
    const here = await open('Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0');
    const there = await open('Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) Safari/604.1');
    const { sessions } = await here.call('listSessions', {});
    expect(sessions.map(({ device, current }) => [device, current]).sort()).toEqual([
      ['Firefox on Linux', true],
      ['Safari on iOS', false],
    ]);
    expect(sessions[0]!.ipAddress).toBe('192.0.2.77');
    const other = sessions.find(({ current }) => !current)!;
    const stranger = await signedIn();
    expect((await stranger.try('endOwnSession', { params: { id: other.id } })).status).toBe(404);
    await here.call('endOwnSession', { params: { id: other.id } });
    expect((await there.call('getSession', {})).state).toBe('signed-out');
    expect((await here.call('getSession', {})).state).toBe('signed-in');
    expect((await here.try('endOwnSession', { params: { id: 'no id' } })).status).toBe(404);
  });
});

/** Subjects of what the service wrote to them, once there are that many. */
const mailed = (email: string, least: number): Promise<string[]> =>
  until(async () => {
    const rows = await service.database.query<{ subject: string }>(
      'SELECT subject FROM messages WHERE $1 = ANY (recipients)',
      [email],
    );
    return rows.length >= least && rows.map(({ subject }) => subject);
  });

async function resetToken(email: string): Promise<string | undefined> {
  const inbox = await openSignedIn(service, { accountId: account.id, operator: true });
  const { data } = await inbox.api.sandbox.list();
  const found = data.find(
    ({ recipients, subject }) => recipients.includes(email) && /password/i.test(subject ?? ''),
  );
  const text = found && (await inbox.api.sandbox.get({ id: found.id })).text;
  return /\/new-password#(\S+)/.exec(text ?? '')?.[1];
}
