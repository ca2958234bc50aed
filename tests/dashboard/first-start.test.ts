// The first start and the command `user`: who can sign in before anyone was invited.
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registerUser } from '../../src/cli/user.ts';
import { openWelcome } from '../../src/cli/welcome.ts';
import { readConfig } from '../../src/config/config.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { launchProcess, startProcess } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { openClient } from './dashboard-client.ts';

let test: TestDatabase;

beforeEach(async () => {
  test = await createTestDatabase();
});

afterEach(() => test.drop());

describe('the first start', () => {
  it('prints a login of the demo account that works', async () => {
    const service = await startProcess({ DATABASE_URL: test.url });
    try {
      const [, email, password] = await until(() =>
        /Login +(\S+) with the password (\S+)/.exec(service.output()),
      );
      const client = openClient(service.url);
      const me = await client.call('signIn', { body: { email: email!, password: password! } });
      expect(me).toMatchObject({
        user: { email: 'owner@demo.example', operator: true },
        account: { name: 'Demo', role: 'owner', plan: 'paid' },
      });
      expect(await client.api.usage.get()).toMatchObject({
        ...{ has_sent: false, sender: 'hello@demo.example', keys: 1 },
      });
      expect(service.output()).toContain(`Dashboard  ${service.url}/`);
      // In the sandbox a link is emailed although nobody set SYSTEM_SENDER.
      const asked = await client.api.addresses.put({ address: 'me@elsewhere.example' });
      expect(asked).toMatchObject({ note: null });
    } finally {
      await service.end('SIGTERM');
    }
  });

  it('with a relay leads to setting up, and speaks of no key: there is no account yet', async () => {
    const service = await startProcess({ DATABASE_URL: test.url, RELAY_URL: 'smtp://127.0.0.1:1' });
    try {
      const setUp = `${service.url}/setup#`;
      await until(() => service.output().includes(setUp));
      // The secret behind # may have any letters.
      const said = service.output().replace(/\/setup#\S+/, '');
      expect(said).not.toMatch(/key/i);
    } finally {
      await service.end('SIGTERM');
    }
  });

  it('that is stopped while it makes the demo account ends cleanly', async () => {
    let meanwhile!: () => void;
    const others = test.database.transaction(async (client) => {
      await client.query('SELECT pg_advisory_xact_lock(7263003)');
      await client.query(`INSERT INTO accounts (name, plan) VALUES ('Made meanwhile', 'paid')`);
      await new Promise<void>((resolve) => {
        meanwhile = resolve;
      });
    });
    const { child, url, output } = await launchProcess({ DATABASE_URL: test.url });
    const ended = once(child, 'close');
    await until(async () => {
      const waiting = await test.database.query(
        `SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()`,
      );
      return waiting.length > 0;
    });
    child.kill('SIGTERM');
    // It has heard the signal when it answers what was asked later, or answers nothing any more.
    for (let times = 0; times < 2; times++) await fetch(`${url}/healthz`).catch(() => undefined);
    meanwhile();
    await others;
    expect(await ended).toEqual([0, null]);
    expect(output()).not.toMatch(/error|after calling end/i);
    expect(output()).toContain('Sandmartin is running');
  });

  it('makes one demo account, also when several processes start at once, and never again', async () => {
    const config = readConfig({ DATABASE_URL: test.url });
    const welcomes = await Promise.all([
      openWelcome(config, test.database),
      openWelcome(config, test.database),
      openWelcome(config, test.database),
    ]);
    expect(welcomes.filter(({ demo }) => demo !== null)).toHaveLength(1);
    expect(await openWelcome(config, test.database)).toEqual({ demo: null, toBeSetUp: false });
  });

  it('with a relay there is no demo: the first owner sets it up', async () => {
    const config = readConfig({ DATABASE_URL: test.url, RELAY_URL: 'smtp://127.0.0.1:25' });
    expect(await openWelcome(config, test.database)).toEqual({ demo: null, toBeSetUp: true });
  });

  it('accounts made by command before belong to the first owner', async () => {
    const service = await startTestService({}, { on: test });
    try {
      const { id } = await service.account();
      const me = await openClient(service.url).call('setUp', {
        body: {
          token: service.service.setUpUrl!.split('#')[1]!,
          email: 'ada@people.example',
          name: 'Ada',
          password: 'three unrelated words',
          accountName: 'Not needed',
        },
      });
      expect(me.accounts).toEqual([{ id, name: 'Test', role: 'owner' }]);
    } finally {
      await service.stop();
    }
  });
});

describe('sandmartin user', () => {
  const run = (...args: string[]) =>
    runInProcess(registerUser, ['user', ...args, '--json'], { DATABASE_URL: test.url });

  it('makes, changes and removes logins', async () => {
    const service = await startTestService({}, { on: test });
    try {
      const { id } = await service.account();
      const signIn = (password: string) =>
        openClient(service.url).try('signIn', { body: { email: 'ada@people.example', password } });

      const created = await run('create', 'Ada@people.example', '--account', String(id));
      const { password, operator } = JSON.parse(created.stdout);
      expect(operator).toBe(false);
      const client = openClient(service.url);
      const body = { email: 'ada@people.example', password };
      expect((await client.call('signIn', { body })).account).toMatchObject({ id, role: 'owner' });

      await run('operator', 'ada@people.example');
      expect((await client.get('/v1/accounts')).status).toBe(200);
      await run('operator', 'ada@people.example', '--off');
      expect((await client.get('/v1/accounts')).status).toBe(403);

      const other = await service.account();
      await run('join', 'ada@people.example', '--account', String(other.id), '--role', 'viewer');
      const { me } = await client.call('getSession', {});
      expect(me!.accounts.map(({ role }) => role).sort()).toEqual(['owner', 'viewer']);

      const changed = JSON.parse((await run('password', 'ada@people.example')).stdout);
      expect((await client.get('/v1/account')).status).toBe(401);
      expect((await signIn(password)).status).toBe(401);
      expect((await signIn(changed.password)).status).toBe(200);

      const listed = JSON.parse((await run('list')).stdout);
      expect(listed).toMatchObject([{ email: 'ada@people.example' }]);
      expect(JSON.stringify(listed)).not.toContain('scrypt');
      await run('remove', 'ada@people.example');
      expect((await signIn(changed.password)).status).toBe(401);
    } finally {
      await service.stop();
    }
  });

  it('says what is wrong', async () => {
    expect((await run('create', 'ada@people.example')).stderr).toContain('--account, --operator');
    const lost = await run('create', 'ada@people.example', '--account', '999');
    expect(lost.stderr).toContain('no account 999');
    expect((await run('password', 'nobody@people.example')).stderr).toContain('has no login');
    const role = await run('create', 'a@b.example', '--account', '1', '--role', 'king');
    expect(role.stderr).toContain('viewer, developer, owner');
  });
});
