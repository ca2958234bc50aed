// Approval: what a key under the rule sends is stored and leaves only when someone else has
// approved exactly these bytes, once.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLimits } from '../../src/accounts/agent-limits.ts';
import { createKey } from '../../src/accounts/keys.ts';
import type { Scope } from '../../src/accounts/scopes.ts';
import { lapseApprovals } from '../../src/approvals/approvals.ts';
import { readUuid } from '../../src/ids.ts';
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

let test: TestDatabase;
let one: TestService;
let two: TestService;
let account: TestAccount;
let agent: string;
let person: string;

beforeAll(async () => {
  test = await createTestDatabase();
  one = await startTestService({}, { on: test });
  two = await startTestService({ ROLES: 'api' }, { on: test });
  account = await one.account();
  agent = await keyWith({ approval: 'always' });
  person = await keyWith({}, ['approvals:write', 'messages:read', 'email:read', 'audit:read']);
});
afterAll(async () => {
  await two.stop();
  await one.stop();
  await test.drop();
});

async function keyWith(
  limits: Partial<AgentLimits>,
  scopes: Scope[] = ['email:send', 'email:read'],
  whose = account,
): Promise<string> {
  const { key } = await createKey(one.database, systemClock, {
    accountId: whose.id,
    ...{ scopes, limits },
  });
  return key;
}

const call = (
  key: string,
  method: string,
  path: string,
  body?: unknown,
  service: TestService = one,
) =>
  request(`${service.url}${path}`, {
    method,
    headers: {
      'x-api-key': key,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const status = async (id: string) => (await call(person, 'GET', `/v1/messages/${id}`)).body;
const seen = async (id: string) => (await call(person, 'GET', `/v1/approvals/${id}`)).body;

async function hold(changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await one.send(agent, anEmail(changes));
  expect({ status, body }).toMatchObject({ status: 202, body: { status: 'queued' } });
  return body.id;
}

/** How many due rows and hand-overs there are of it. */
async function leaving(id: string): Promise<{ due: number; sent: number }> {
  const [row] = await one.database.query<{ due: number; sent: number }>(
    `SELECT (SELECT count(*)::int FROM due_messages WHERE message_id = $1) AS due,
            (SELECT count(*)::int FROM events WHERE message_id = $1 AND kind = 'sent') AS sent`,
    [readUuid('msg_', id)],
  );
  return row!;
}

describe('a held email', () => {
  it('is accepted as the contract says, and says what it waits for', async () => {
    const id = await hold({ subject: 'Held' });
    const message = await status(id);
    expect(message).toMatchObject({ status: 'queued', events: [] });
    expect(message.held).toMatchObject({
      reason: 'always',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const hours = (Date.parse(message.held.expires_at) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24.1);
    expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
    const { body } = await call(person, 'GET', '/v1/approvals?limit=100');
    expect(body.data.map((it: { sm_mail_id: string }) => it.sm_mail_id)).toContain(id);
    expect(await seen(id)).toMatchObject({ subject: 'Held', state: 'waiting', suppressed: [] });
  });

  it('is found among what is queued', async () => {
    const id = await hold({ subject: 'Found while it waits' });
    const found = await call(person, 'GET', '/v1/messages?status=queued&subject=Found%20while');
    expect(found.body.data.map((it: { id: string }) => it.id)).toContain(id);
  });

  it('leaves when someone approves these bytes, and says who did', async () => {
    const id = await hold();
    const { sha256 } = await seen(id);
    const answer = await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 }, two);
    expect(answer).toMatchObject({ status: 200, body: { state: 'approved' } });
    const again = await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 });
    expect(again.body).toEqual(answer.body);
    await until(async () => (await leaving(id)).sent === 1);
    const message = await status(id);
    expect(message.held).toBeUndefined();
    expect(message.approval).toMatchObject({
      state: 'approved',
      by: expect.stringMatching(/^key_/),
    });
    const audit = await call(person, 'GET', `/v1/audit?target=${id}`);
    expect(audit.body.data[0]).toMatchObject({ action: 'approve_email' });
  });

  it('leaves for nobody when it is declined, and the quota is whole again', async () => {
    const used = async () =>
      (
        await one.database.query<{ n: number }>(
          'SELECT recipients AS n FROM account_usage WHERE account_id = $1',
          [account.id],
        )
      )[0]!.n;
    const before = await used();
    const id = await hold();
    expect(await used()).toBe(before + 1);
    const { sha256 } = await seen(id);
    await call(person, 'POST', `/v1/approvals/${id}/decline`, { sha256 });
    expect(await used()).toBe(before);
    const late = await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 });
    expect(late.status).toBe(409);
    expect(late.body.detail).toMatch(/was declined/);
    expect(await status(id)).toMatchObject({ approval: { state: 'declined' } });
    expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
  });

  it('is not approved by another hash, by its own key, or by a key without the scope', async () => {
    const id = await hold();
    const { sha256 } = await seen(id);
    const other = await call(person, 'POST', `/v1/approvals/${id}/approve`, {
      sha256: 'a'.repeat(64),
    });
    expect(other.status).toBe(409);
    expect((await call(agent, 'POST', `/v1/approvals/${id}/approve`, { sha256 })).status).toBe(403);
    const both = await keyWith({ approval: 'always' }, [
      'email:send',
      'approvals:write',
      'messages:read',
    ]);
    const sent = await one.send(both, anEmail());
    const own = await call(both, 'POST', `/v1/approvals/${sent.body.id}/approve`, {
      sha256: (await seen(sent.body.id)).sha256,
    });
    expect(own.status).toBe(403);
    expect(own.body.detail).toMatch(/cannot decide on an email it sent itself/);
    const admin = await keyWith({}, ['admin']);
    expect((await call(admin, 'POST', `/v1/approvals/${id}/approve`, { sha256 })).status).toBe(403);
    expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
  });

  it('gets another hash with another time: who saw the old one approves nothing', async () => {
    const id = await hold();
    const { sha256 } = await seen(id);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const moved = await call(agent, 'PATCH', `/v1/messages/${id}`, { scheduled_at: at });
    expect(moved.status).toBe(200);
    expect((await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 })).status).toBe(
      409,
    );
    expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
    const now = await seen(id);
    expect(now.sha256).not.toBe(sha256);
    const late = await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256: now.sha256 });
    expect(late.status).toBe(200);
    expect(await leaving(id)).toEqual({ due: 1, sent: 0 });
  });

  it('is not sent when what is stored was changed under it', async () => {
    const id = await hold();
    const { sha256 } = await seen(id);
    await one.database.query('UPDATE contents SET html = $2 WHERE message_id = $1', [
      readUuid('msg_', id),
      Buffer.from('<p>other</p>'),
    ]);
    const answer = await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 });
    expect(answer.status).toBe(409);
    expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
  });

  it('lapses after its day, whether or not someone noted it', async () => {
    const [first, second] = [await hold(), await hold()];
    const { sha256 } = await seen(first!);
    for (const id of [first, second]) {
      await one.database.query(
        `UPDATE approvals SET expires_at = now() - interval '1 second' WHERE message_id = $1`,
        [readUuid('msg_', id!)],
      );
    }
    const late = await call(person, 'POST', `/v1/approvals/${first}/approve`, { sha256 });
    expect(late.status).toBe(409);
    expect(late.body.detail).toMatch(/expired/);
    expect(await status(first!)).toMatchObject({ approval: { state: 'expired', by: null } });
    await lapseApprovals(one.database);
    expect(await status(second!)).toMatchObject({
      approval: { state: 'expired', by: null },
      cancelled_at: expect.any(String),
    });
    expect(await leaving(first!)).toEqual({ due: 0, sent: 0 });
  });

  it('can be called back by its own key, and then nobody can approve it', async () => {
    const id = await hold();
    const { sha256 } = await seen(id);
    expect((await call(agent, 'POST', `/v1/messages/${id}/cancel`)).status).toBe(200);
    expect((await call(person, 'POST', `/v1/approvals/${id}/approve`, { sha256 })).status).toBe(
      409,
    );
    expect(await status(id)).toMatchObject({ approval: { state: 'cancelled' } });
  });

  it('tells what differs from the last email of its template', async () => {
    const from = {
      subject: undefined,
      html: undefined,
      text: undefined,
      template: 'one-time-code',
    };
    const first = await one.send(account.key, anEmail({ ...from, variables: { code: '111111' } }));
    await until(async () => (await leaving(first.body.id)).sent === 1);
    const id = await hold({ ...from, variables: { code: '222222' } });
    const { compared_with } = await seen(id);
    expect(compared_with.sm_mail_id).toBe(first.body.id);
    expect(compared_with.added.join()).toContain('222222');
    expect(compared_with.removed.join()).toContain('111111');
  });
});

describe('what holds an email', () => {
  it('outside_domain: any recipient outside the account’s senders', async () => {
    const key = await keyWith({ approval: 'outside_domain' });
    const inside = await one.send(key, anEmail({ to: ['a@example.com'] }));
    expect((await status(inside.body.id)).held).toBeUndefined();
    for (const to of [['b@example.net'], ['a@example.com', 'b@sub.example.com']]) {
      const held = await one.send(key, anEmail({ to }));
      expect((await status(held.body.id)).held).toMatchObject({ reason: 'outside_domain' });
    }
    const hidden = await one.send(key, anEmail({ to: ['a@example.com'], bcc: ['b@example.net'] }));
    expect((await status(hidden.body.id)).held).toMatchObject({ reason: 'outside_domain' });
  });

  it('first_contact: whom the account has not mailed with success', async () => {
    const key = await keyWith({ approval: 'first_contact' });
    const first = await one.send(key, anEmail({ to: ['new@example.net'] }));
    expect((await status(first.body.id)).held).toMatchObject({ reason: 'first_contact' });
    const own = await one.send(account.key, anEmail({ to: ['New@example.net'] }));
    await until(async () => (await leaving(own.body.id)).sent === 1);
    const known = await one.send(key, anEmail({ to: ['new@example.net'] }));
    expect((await status(known.body.id)).held).toBeUndefined();
    // What the sandbox took reached nobody.
    const tester = await keyWith({ sandboxOnly: true });
    const tested = await one.send(tester, anEmail({ to: ['tested@example.net'] }));
    await until(async () => (await leaving(tested.body.id)).sent === 1);
    const still = await one.send(key, anEmail({ to: ['tested@example.net'] }));
    expect((await status(still.body.id)).held).toMatchObject({ reason: 'first_contact' });
  });

  it('a batch holds each email by itself', async () => {
    const key = await keyWith({ approval: 'outside_domain' });
    const { body } = await call(key, 'POST', '/v1/send/batch', [
      anEmail({ to: ['a@example.com'] }),
      anEmail({ to: ['b@example.net'] }),
    ]);
    expect((await status(body.data[0].id)).held).toBeUndefined();
    expect((await status(body.data[1].id)).held).toMatchObject({ reason: 'outside_domain' });
  });
});

it('no sequence of calls through its own key makes a held email leave', async () => {
  const key = await keyWith({ approval: 'always' }, [
    ...([
      'email:send',
      'email:read',
      'messages:read',
      'messages:write',
      'keys:write',
      'admin',
      'approvals:write',
    ] as const),
  ]);
  const ids: string[] = [];
  const pick = (at: number) => ids[at % ids.length] ?? 'msg_00000000000000000000000000';
  const CALLS: ((at: number) => Promise<unknown>)[] = [
    async () => {
      const { body } = await one.send(key, anEmail());
      if (body.id) ids.push(body.id);
    },
    (at) => call(key, 'PATCH', `/v1/messages/${pick(at)}`, { scheduled_at: 'now' }),
    (at) => call(key, 'POST', `/v1/messages/${pick(at)}/resolve`, { as: 'again' }),
    async (at) => {
      const { body } = await call(key, 'POST', `/v1/messages/${pick(at)}/send-again`, {});
      if (body.id) ids.push(body.id);
    },
    async (at) => {
      const { sha256 } = await seen(pick(at));
      await call(key, 'POST', `/v1/approvals/${pick(at)}/approve`, { sha256 });
    },
    (at) => call(key, 'POST', `/v1/messages/${pick(at)}/cancel`),
    () => call(key, 'POST', '/v1/keys', { scopes: ['email:send'] }),
  ];
  const step = fc.record({ call: fc.nat(CALLS.length - 1), at: fc.nat(20) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      for (const { call, at } of steps) await CALLS[call]!(at);
      for (const id of ids) expect(await leaving(id)).toEqual({ due: 0, sent: 0 });
    }),
    { numRuns: 10 },
  );
  expect(ids.length).toBeGreaterThan(3);
});

it('200 races of approving, declining, lapsing, moving and calling back: it left once as approved, or not at all', async () => {
  for (let round = 0; round < 40; round++) {
    const ids = await Promise.all(Array.from({ length: 5 }, () => hold()));
    await Promise.all(
      ids.map(async (id, index) => {
        const { sha256 } = await seen(id);
        const decide = (what: string, on: TestService) =>
          call(person, 'POST', `/v1/approvals/${id}/${what}`, { sha256 }, on);
        const at = new Date(Date.now() + 3_600_000).toISOString();
        const rivals = [
          () => decide('decline', two),
          () => decide('approve', two),
          () => call(agent, 'POST', `/v1/messages/${id}/cancel`, undefined, two),
          () => call(agent, 'PATCH', `/v1/messages/${id}`, { scheduled_at: at }, two),
          async () => {
            await one.database.query(
              'UPDATE approvals SET expires_at = now() WHERE message_id = $1 AND state = $2',
              [readUuid('msg_', id), 'waiting'],
            );
            await lapseApprovals(one.database);
          },
        ];
        await Promise.all([decide('approve', one), rivals[(round + index) % 5]!()]);
      }),
    );
    for (const id of ids) {
      const { approval, held, cancelled_at, scheduled_at } = await status(id);
      const { due, sent } = await leaving(id);
      if (approval?.state === 'approved') {
        // Called back after the approval is a recall as of any other email.
        if (cancelled_at === undefined) expect(due + sent).toBeGreaterThanOrEqual(1);
        expect(sent).toBeLessThanOrEqual(1);
      } else {
        expect(held !== undefined || approval !== undefined).toBe(true);
        expect({ due, sent, scheduled_at }).toMatchObject({ due: 0, sent: 0 });
      }
    }
  }
}, 240_000);
