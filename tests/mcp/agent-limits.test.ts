// The rules a key can carry hold for REST as for MCP, are exact across processes, and cost a key without rules nothing.
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey, listKeys } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { mail, startTestService, type TestAccount, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let test: TestDatabase;
let one: TestService;
let two: TestService;

beforeAll(async () => {
  test = await createTestDatabase();
  one = await startTestService({}, { on: test });
  two = await startTestService({ ROLES: 'api' }, { on: test });
});
afterAll(async () => {
  await two.stop();
  await one.stop();
  await test.drop();
});

async function keyWith(account: TestAccount, limits: Partial<AgentLimits>): Promise<string> {
  const { key } = await createKey(one.database, systemClock, {
    accountId: account.id,
    scopes: ['email:send', 'email:read'],
    limits,
  });
  return key;
}

describe('a rule that is broken answers 403 and names itself', () => {
  const cases: [rule: string, limits: Partial<AgentLimits>, sent: object, detail: RegExp][] = [
    [
      'allowed_recipients',
      { allowedRecipients: ['ada@example.net', 'Friends.Example'] },
      { to: ['ada@example.net'], cc: ['eve@evil.example'] },
      /allowed_recipients.*may not write to eve@evil\.example.*ada@example\.net, friends\.example/,
    ],
    ['no_bcc', { noBcc: true }, { bcc: ['eve@evil.example'] }, /no_bcc.*Leave bcc out/],
    ['templates_only', { templatesOnly: true }, {}, /templates_only.*Name a template/],
    [
      'templates_only, with words of its own',
      { templatesOnly: true },
      { template: 'welcome', html: undefined, subject: undefined, text: 'psst' },
      /templates_only.*Leave text out/,
    ],
  ];
  it.each(cases)('%s', async (_rule, limits, sent, detail) => {
    const key = await keyWith(await one.account(), limits);
    const answer = await one.send(key, mail(sent as Record<string, unknown>));
    expect(answer.status).toBe(403);
    expect(answer.body.detail).toMatch(detail);
  });
});

it('what the rules allow is accepted', async () => {
  const key = await keyWith(await one.account(), {
    allowedRecipients: ['ada@example.net', 'friends.example'],
    noBcc: true,
    dailyCap: 10,
  });
  const answer = await one.send(
    key,
    mail({ to: ['ADA@example.net', 'Bob <bob@Friends.example>'] }),
  );
  expect(answer).toMatchObject({ status: 202, body: { status: 'queued' } });
});

it('a body that is not valid comes first: 400', async () => {
  const key = await keyWith(await one.account(), { noBcc: true });
  expect((await one.send(key, mail({ to: ['nobody'], bcc: ['a@b.example'] }))).status).toBe(400);
});

it('a daily cap is exact while two processes take sends of several recipients at once', async () => {
  const account = await one.account();
  const capped = await keyWith(account, { dailyCap: 20 });
  const to = ['a@example.net', 'b@example.net', 'c@example.net'];
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => (n % 2 ? one : two).send(capped, mail({ to }))),
  );
  const statuses = answers.map((answer) => answer.status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(6);
  expect(statuses.filter((status) => status === 403)).toHaveLength(24);
  expect(answers.find((answer) => answer.status === 403)?.body.detail).toMatch(
    /daily_cap.*20 recipients a day and has \d+ left/,
  );
  // Two are left, and the account's other keys are not concerned.
  expect((await one.send(capped, mail({ to: to.slice(1) }))).status).toBe(202);
  expect((await one.send(capped, mail())).status).toBe(403);
  expect((await one.send(account.key, mail({ to }))).status).toBe(202);
});

it('what the account refuses does not count toward the cap', async () => {
  const account = await one.account({ dailyQuota: 3 });
  const capped = await keyWith(account, { dailyCap: 2 });
  expect(
    (await one.send(account.key, mail({ to: ['a@example.net', 'b@example.net'] }))).status,
  ).toBe(202);
  expect((await one.send(capped, mail({ to: ['a@example.net', 'b@example.net'] }))).status).toBe(
    429,
  );
  expect((await one.send(capped, mail())).status).toBe(202);
});

it('a cap must be below the quota of the account', async () => {
  const account = await one.account({ dailyQuota: 5 });
  await expect(keyWith(account, { dailyCap: 5 })).rejects.toThrow(/below the account's quota of 5/);
});

it('limits are listed with the key', async () => {
  const account = await one.account();
  await keyWith(account, { allowedRecipients: ['Example.NET', 'example.net'], sandboxOnly: true });
  const [plain, limited] = await listKeys(one.database, account.id);
  expect(plain?.limits).toBeNull();
  expect(limited?.limits).toEqual({
    allowedRecipients: ['example.net'],
    templatesOnly: false,
    noBcc: false,
    dailyCap: null,
    sandboxOnly: true,
  });
});

it('mail of a sandbox-only key never reaches the relay that is configured', async () => {
  const relayed: string[] = [];
  const relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      relayed.push(...session.envelope.rcptTo.map((recipient) => recipient.address));
      stream.on('end', () => done()).resume();
    },
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const { port } = relay.server.address() as { port: number };
  const service = await startTestService({ RELAY_URL: `smtp://127.0.0.1:${port}?tls=off` });
  try {
    const account = await service.account();
    const { key } = await createKey(service.database, systemClock, {
      accountId: account.id,
      scopes: ['email:send', 'email:read'],
      limits: { sandboxOnly: true },
    });
    const captured = await service.send(key, mail({ to: ['agent@example.net'] }));
    const real = await service.send(account.key, mail({ to: ['real@example.net'] }));
    const statusOf = async (id: string) =>
      (await service.get(account.key, `/v1/messages/${id}`)).body.status;
    // The sandbox reports back as a relay would; the relay of this test reports nothing, so its mail stays sent.
    await until(async () => (await statusOf(captured.body.id)) === 'delivered');
    await until(async () => (await statusOf(real.body.id)) === 'sent');
    expect(relayed).toEqual(['real@example.net']);
    const inbox = await service.database.query<{ recipients: string[] }>(
      'SELECT recipients FROM sandbox_mails',
    );
    expect(inbox).toEqual([{ recipients: ['agent@example.net'] }]);
  } finally {
    await service.stop();
    await new Promise<void>((resolve) => relay.close(() => resolve()));
  }
});
