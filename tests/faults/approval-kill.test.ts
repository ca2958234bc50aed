// Approving, declining, expiring, moving and recalling race while their process is killed (kill
// -9): each email leaves exactly as it was approved, or not at all. RACES=200 for the long form.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { lapseApprovals } from '../../src/approvals/approvals.ts';
import { readUuid } from '../../src/ids.ts';
import { systemClock } from '../../src/process/clock.ts';
import { captured } from '../support/captured.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import {
  anEmail,
  request,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

const RACES = Number(process.env.RACES ?? 20);
const AT_ONCE = 10;

let test: TestDatabase;
let service: TestService;
let account: TestAccount;
let agent: string;
let approver: string;
beforeAll(async () => {
  test = await createTestDatabase();
  service = await startTestService({}, { on: test });
  account = await service.account();
  const make = async (wish: object) =>
    (await createKey(test.database, systemClock, { accountId: account.id, ...wish } as never)).key;
  agent = await make({ scopes: ['email:send', 'email:read'], limits: { approval: 'always' } });
  approver = await make({ scopes: ['approvals:write', 'messages:read', 'email:read'] });
});
afterAll(async () => {
  await service.stop();
  await test.drop();
});

const call = (url: string, key: string, method: string, path: string, body?: unknown) =>
  request(`${url}${path}`, {
    method,
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });

const seen = async (id: string): Promise<string> =>
  (await service.get(approver, `/v1/approvals/${id}`)).body.sha256;

interface Race {
  id: string;
  sha256: string;
  /** What was answered before the end; undefined: nothing came back. */
  approved: Promise<number | undefined>;
}

async function hold(round: number): Promise<Pick<Race, 'id' | 'sha256'>[]> {
  const ids = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const { body } = await service.send(agent, anEmail({ text: `Race ${round}.${index}.` }));
      return body.id as string;
    }),
  );
  return await Promise.all(ids.map(async (id) => ({ id, sha256: await seen(id) })));
}

/** Two wishes for each email, in the process that dies as soon as some were answered. */
async function raceAndKill(victim: ServiceProcess, round: number): Promise<Race[]> {
  const held = await hold(round);
  let answered = 0;
  const answer = (path: string, key: string, method: string, body?: unknown) =>
    call(victim.url, key, method, path, body).then(
      ({ status }) => {
        answered++;
        return status;
      },
      () => undefined,
    );
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const others: Promise<unknown>[] = [];
  const races = held.map(({ id, sha256 }, index) => {
    const approved = answer(`/v1/approvals/${id}/approve`, approver, 'POST', { sha256 });
    const rivals = [
      () => answer(`/v1/approvals/${id}/decline`, approver, 'POST', { sha256 }),
      () => answer(`/v1/messages/${id}/cancel`, agent, 'POST'),
      () => answer(`/v1/messages/${id}`, agent, 'PATCH', { scheduled_at: later }),
      () => answer(`/v1/approvals/${id}/approve`, approver, 'POST', { sha256 }),
      () => lapse(id),
    ];
    others.push(rivals[(index + round) % rivals.length]!());
    return { id, sha256, approved };
  });
  // Another moment in each round, from the very first answer on.
  await until(() => answered >= (round * 3) % AT_ONCE || victim.child.exitCode !== null);
  await victim.end('SIGKILL');
  await Promise.all([...others, ...races.map(({ approved }) => approved)]);
  return races;
}

async function lapse(id: string): Promise<void> {
  await test.database.query(
    `UPDATE approvals SET expires_at = now() WHERE message_id = $1 AND state = 'waiting'`,
    [readUuid('msg_', id)],
  );
  await lapseApprovals(test.database);
}

async function leaving(id: string) {
  const [row] = await test.database.query<{ due: number; sent: number; captured: number }>(
    `SELECT (SELECT count(*)::int FROM due_messages WHERE message_id = $1) AS due,
            (SELECT count(*)::int FROM events WHERE message_id = $1 AND kind = 'sent') AS sent,
            (SELECT count(*)::int FROM sandbox_mails WHERE envelope_id = $2) AS captured`,
    [readUuid('msg_', id), id],
  );
  return row!;
}

async function judge({ id, sha256, approved }: Race, text: string): Promise<string> {
  const { approval, cancelled_at, scheduled_at, held } = (
    await service.get(approver, `/v1/messages/${id}`)
  ).body;
  if (approval?.state !== 'approved') {
    // Whoever was told that it is approved can rely on it.
    expect(await approved).not.toBe(200);
    expect(held !== undefined || cancelled_at !== undefined).toBe(true);
    expect(await leaving(id)).toEqual({ due: 0, sent: 0, captured: 0 });
    return held === undefined ? approval.state : 'waiting';
  }
  // Moved and called back after it was approved is as with any other email.
  if (cancelled_at !== undefined) return 'recalled';
  if (scheduled_at !== undefined) {
    expect(await leaving(id)).toEqual({ due: 1, sent: 0, captured: 0 });
    return 'scheduled';
  }
  const { email: left } = await captured(test.database, id);
  expect(left.text?.trim()).toBe(text);
  await until(async () => (await leaving(id)).sent === 1);
  expect(await leaving(id)).toEqual({ due: 0, sent: 1, captured: 1 });
  const [row] = await test.database.query<{ sha256: string }>(
    `SELECT encode(sha256, 'hex') AS sha256 FROM approvals WHERE message_id = $1`,
    [readUuid('msg_', id)],
  );
  expect(row!.sha256).toBe(sha256);
  return 'sent';
}

it(`${RACES} races with kill -9: it left as approved, or not at all`, async () => {
  const outcomes: Record<string, number> = {};
  for (let round = 0; round * AT_ONCE < RACES; round++) {
    const victim = await startProcess({ DATABASE_URL: test.url, ROLES: 'api' });
    const races = await raceAndKill(victim, round);
    for (const [index, race] of races.entries()) {
      const outcome = await judge(race, `Race ${round}.${index}.`);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (outcome !== 'waiting') continue;
      // What still waits can be decided, by what it is now.
      const path = `/v1/approvals/${race.id}/decline`;
      const answer = await call(service.url, approver, 'POST', path, {
        sha256: await seen(race.id),
      });
      expect(answer.status).toBe(200);
    }
  }
  const count = Object.values(outcomes).reduce((sum, n) => sum + n, 0);
  expect(count).toBeGreaterThanOrEqual(RACES);
}, 900_000);
