// The rules a key can carry hold for REST as for MCP, are exact across processes, and cost a key
// without rules nothing.
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey, listKeys } from '../../src/accounts/keys.ts';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { callTool } from './support.ts';

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
    const answer = await one.send(key, anEmail(sent as Record<string, unknown>));
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
    anEmail({ to: ['ADA@example.net', 'Bob <bob@Friends.example>'] }),
  );
  expect(answer).toMatchObject({ status: 202, body: { status: 'queued' } });
});

it('a body that is not valid comes first: 400', async () => {
  const key = await keyWith(await one.account(), { noBcc: true });
  expect((await one.send(key, anEmail({ to: ['nobody'], bcc: ['a@b.example'] }))).status).toBe(400);
});

it('a daily cap is exact while two processes take sends of several recipients at once', async () => {
  const account = await one.account();
  const capped = await keyWith(account, { dailyCap: 20 });
  const to = ['a@example.net', 'b@example.net', 'c@example.net'];
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) => (n % 2 ? one : two).send(capped, anEmail({ to }))),
  );
  const statuses = answers.map((answer) => answer.status);
  expect(statuses.filter((status) => status === 202)).toHaveLength(6);
  expect(statuses.filter((status) => status === 403)).toHaveLength(24);
  expect(answers.find((answer) => answer.status === 403)?.body.detail).toMatch(
    /daily_cap.*20 recipients a day and has \d+ left/,
  );
  // Two are left, and the account's other keys are not concerned.
  expect((await one.send(capped, anEmail({ to: to.slice(1) }))).status).toBe(202);
  expect((await one.send(capped, anEmail())).status).toBe(403);
  expect((await one.send(account.key, anEmail({ to }))).status).toBe(202);
});

it('what the account refuses does not count toward the cap', async () => {
  const account = await one.account({ dailyQuota: 3 });
  const capped = await keyWith(account, { dailyCap: 2 });
  expect(
    (await one.send(account.key, anEmail({ to: ['a@example.net', 'b@example.net'] }))).status,
  ).toBe(202);
  expect((await one.send(capped, anEmail({ to: ['a@example.net', 'b@example.net'] }))).status).toBe(
    429,
  );
  expect((await one.send(capped, anEmail())).status).toBe(202);
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
    approval: 'never',
    ownMessages: false,
    senders: null,
    replyTo: null,
    linkHosts: null,
  });
});

/**
 * Emails that a sandbox-only key has accepted by every door, with all that might choose a way out.
 */
async function triesToLeave(
  service: TestService,
  account: TestAccount,
  key: string,
  realId: string,
): Promise<string[]> {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) =>
    await request(`${service.url}${path}`, {
      method: 'POST',
      headers: {
        ...{ 'x-api-key': key, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...headers,
      },
      body: JSON.stringify(body),
    });
  const ids: string[] = [];
  const mustBeTaken = ({ status, body }: { status: number; body: { id: string } }) => {
    expect([status, body]).toEqual([202, expect.anything()]);
    ids.push(body.id);
  };
  const emails = [
    ...['X-Relay', 'X-Transport', 'X-Sandbox', 'X-MC-Subaccount', 'Priority', 'Importance'].map(
      (name) => ({ headers: { [name]: 'live' } }),
    ),
    ...[{}, { cc: ['a@example.net'] }, { bcc: ['a@example.net'] }, { tags: ['live'] }],
    ...[{ to: ['Live <live@example.net>'] }, { to: ['ops@example.com'] }],
    ...[{ template: 'password-reset', ...RESET }],
    ...[{ from_email: 'Live <live@example.com>' }, { reply_to: 'live@example.com' }],
    { scheduled_at: new Date(Date.now() + 1500).toISOString() },
  ].map((change, n) => ({ ...anEmail({ subject: `Try ${n}` }), ...change }));
  for (const email of emails) {
    for (const path of ['/v1/send', '/v1/send/batch']) {
      const { status, body } = await post(path, path.endsWith('batch') ? [email] : email);
      if (status === 202) ids.push(body.id ?? body.data[0].id);
      else expect([email, status]).toEqual([email, 400]);
    }
    const tool = await callTool(service, key, 'send_email', { ...email, allow_duplicate: true });
    if (!tool.isError) ids.push(tool.content.id);
  }
  mustBeTaken(await post(`/v1/messages/${realId}/send-again`, {}));
  mustBeTaken(await post('/v1/templates/welcome/test-send', { to: 'agent@example.net' }));
  // Nothing that would give it a way out of its own.
  for (const [path, body] of [
    ['/v1/keys', { scopes: ['email:send'] }],
    ['/v1/keys', { scopes: ['email:send'], rules: { sandbox_only: false } }],
    ['/v1/relays', { name: 'mine', url: 'smtp://127.0.0.1:25' }],
    ['/v1/team/invitations', { email: 'eve@evil.example', role: 'owner' }],
  ] as const) {
    const { status } = await post(path, body);
    expect([path, status >= 400]).toEqual([path, true]);
  }
  const stored = await service.database.query(
    `SELECT FROM api_keys WHERE account_id = $1 AND NOT sandbox_only`,
    [account.id],
  );
  expect(stored).toHaveLength(1);
  return ids;
}

const RESET = {
  ...{ subject: undefined, html: undefined, text: undefined },
  variables: { reset_url: 'https://example.com/reset' },
};

it('email of a sandbox-only key never reaches the relay that is configured', async () => {
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
      scopes: ALL_SCOPES,
      limits: { sandboxOnly: true },
    });
    const real = await service.send(account.key, anEmail({ to: ['real@example.net'] }));
    const statusOf = async (id: string) =>
      (await service.get(account.key, `/v1/messages/${id}`)).body.status;
    await until(async () => (await statusOf(real.body.id)) === 'sent');

    const accepted = await triesToLeave(service, account, key, real.body.id);
    expect(accepted.length).toBeGreaterThanOrEqual(40);
    // The sandbox reports back as a relay would; the relay of this test reports nothing, so its
    // email stays sent.
    await until(async () => {
      const statuses = await Promise.all(accepted.map(statusOf));
      return statuses.every((status) => status === 'delivered');
    });
    expect(relayed).toEqual(['real@example.net']);
    // Whoever reads what happened to them is told beside each status.
    const said = async (tool: string, wanted: object) =>
      (await callTool(service, key, tool, { ...wanted })).content;
    const played = { sm_mail_id: accepted[0]!, status: 'delivered' };
    for (const tool of ['wait_for_event', 'explain_delivery', 'get_email_status']) {
      const about = tool === 'wait_for_event' ? played : { sm_mail_id: accepted[0]! };
      expect([tool, await said(tool, about)]).toMatchObject([tool, { sandbox: true }]);
      const gone = await said(tool, {
        ...about,
        sm_mail_id: real.body.id,
        ...(tool === 'wait_for_event' && { status: 'sent' }),
      });
      expect([tool, gone.sandbox]).toEqual([tool, undefined]);
    }
    const { messages } = await said('search_messages', { limit: 100 });
    const captured = messages.filter((it: { sandbox?: true }) => it.sandbox);
    expect(captured.length).toBe(messages.length - 1);
    const [inbox] = await service.database.query<{ count: string }>(
      'SELECT count(DISTINCT message_id) FROM sandbox_mails',
    );
    expect(Number(inbox!.count)).toBe(accepted.length);
  } finally {
    await service.stop();
    await new Promise<void>((resolve) => relay.close(() => resolve()));
  }
});
