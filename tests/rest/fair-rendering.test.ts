// Rendering is shared fairly, over HTTP: a caller that floods the service with slow or failing
// renders delays itself, gets 429 before anything is rendered, and takes next to nothing from
// others.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { systemClock } from '../../src/process/clock.ts';
import { createRenderBudget } from '../../src/templates/render-budget.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';
import { fromTemplate } from '../templates/support.ts';

let service: TestService;
// The buckets fill with time, so that a test which wants one empty lets none pass.
let stoppedAtMs: number | undefined;
const clock = { nowMs: () => stoppedAtMs ?? systemClock.nowMs() };
beforeAll(async () => {
  service = await startTestService({ RELAY_DOWN: 'queue' }, { clock });
});
afterAll(() => service.stop());

const VARIABLES = { name: 'Ada', action_url: 'https://example.com/' };
const ORDINARY = fromTemplate('welcome', VARIABLES);
/** Runs until the engine stops it, and is answered with 400. */
const SLOW = fromTemplate('welcome', VARIABLES, {
  subject: `{% for a in range(99999) %}{% for b in range(99999) %}{{ a.b }}{{ loop.index }}{% endfor %}{% endfor %}`,
});

/** Sends over so many connections until told to stop. */
function flood({ key }: TestAccount, connections: number) {
  const answers: { status: number; ms: number }[] = [];
  let stopped = false;
  const clients = Array.from({ length: connections }, async () => {
    while (!stopped) answers.push(await timed(key, SLOW));
  });
  return {
    answers,
    async stop() {
      stopped = true;
      await Promise.all(clients);
    },
  };
}

async function timed(key: string, email: Record<string, unknown>) {
  const startedMs = performance.now();
  const { status } = await service.send(key, email);
  return { status, ms: performance.now() - startedMs };
}

const mean = (values: { ms: number }[]): number =>
  values.reduce((sum, { ms }) => sum + ms, 0) / values.length;

describe('one send behind 100 of another tenant, all there at once', () => {
  /** How many of them were stored before it, or together with it. */
  async function countBefore(
    email: Record<string, unknown>,
    { manyKeys = false } = {},
  ): Promise<number> {
    const [flooding, other] = [await service.account(), await service.account()];
    const keys = Array<string>(100).fill(flooding.key);
    for (let n = 0; manyKeys && n < keys.length; n++) {
      const made = { accountId: flooding.id, scopes: ['email:send' as const] };
      keys[n] = (await createKey(service.database, systemClock, made)).key;
    }
    keys.push(other.key);
    const sockets = keys.map(() => connect(Number(new URL(service.url).port), '127.0.0.1'));
    /**
     * Written in one turn of the event loop, which the service shares: it finds them all at once.
     */
    const sendAll = (status: number, sent: object, keyOf: (n: number) => string) =>
      Promise.all(
        sockets.map(async (socket, n) => {
          socket.write(postOf(keyOf(n), sent));
          const [answer] = await once(socket, 'data');
          expect(String(answer)).toMatch(`HTTP/1.1 ${status} `);
        }),
      );
    // Connections are accepted one per turn: over new ones, they would come one by one.
    await sendAll(401, email, () => 'unknown');
    // Known keys and accounts, which have not to be read first.
    if (manyKeys) await sendAll(400, {}, (n) => keys[n]!);
    for (const { key } of [flooding, other]) await service.send(key, email);
    await sendAll(202, email, (n) => keys[n]!);
    for (const socket of sockets) socket.destroy();
    const [row] = await service.database.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM messages WHERE account_id = $1 AND xmin::text::bigint <=
         (SELECT max(xmin::text::bigint) FROM messages WHERE account_id = $2)`,
      [flooding.id, other.id],
    );
    return row!.count;
  }

  it.each([
    ['inline content', anEmail()],
    ['a template', ORDINARY],
  ])('with %s, it waits for a fraction of them', async (_, email) => {
    // In one line, all 100 are before it each time. Where the machine stops a thread or the server,
    // some pass it: then it is tried again.
    await until(async () => (await countBefore(email)) < 40);
  });

  it('each with a key of its own, it waits for a fraction of them too', async () => {
    await until(async () => (await countBefore(anEmail(), { manyKeys: true })) < 40);
  });
});

function postOf(key: string, email: object): string {
  const body = JSON.stringify(email);
  return `POST /v1/send HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

it('connections full of failing renders do not stand before another tenant’s sends', async () => {
  const [flooding, other] = [await service.account(), await service.account()];
  for (const { key } of [flooding, other]) await service.send(key, ORDINARY);
  const load = flood(flooding, 12);
  try {
    await until(() => load.answers.length > 12);
    const [templates, inlines]: [{ ms: number }[], { ms: number }[]] = [[], []];
    for (let n = 0; n < 8; n++) {
      for (const [emails, kept] of [
        [ORDINARY, templates],
        [anEmail(), inlines],
      ] as const) {
        const answer = await timed(other.key, emails);
        expect(answer.status).toBe(202);
        kept.push(answer);
      }
    }
    // Stopped, or on a slow machine refused after waiting behind its own kind.
    expect(load.answers.every(({ status }) => status === 400 || status === 503)).toBe(true);
    // In one line with them, rendering would make the other wait as long as they wait.
    expect(mean(templates) - mean(inlines)).toBeLessThan(mean(load.answers) / 2);
  } finally {
    await load.stop();
  }
});

it('an account far over its time is told 429 with retry-after, before rendering; others are not', async () => {
  const flooding = await service.account({ ratePerSecond: 1 });
  const other = await service.account();
  stoppedAtMs = systemClock.nowMs();
  const load = flood(flooding, 4);
  try {
    const refused = await until(async () => {
      const answer = await service.send(flooding.key, SLOW);
      return answer.status === 429 && answer;
    });
    expect(refused.body.detail).toMatch(
      /^Rendering this account's templates took more than 100 ms/,
    );
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    expect((await service.send(other.key, ORDINARY)).status).toBe(202);
  } finally {
    await load.stop();
    stoppedAtMs = undefined;
  }
});

describe('the budget', () => {
  const setUp = () => {
    let nowMs = 0;
    const budget = createRenderBudget({ nowMs: () => nowMs });
    const whose = { share: 'a', ratePerSecond: 100 };
    return { budget, whose, pass: (ms: number) => (nowMs += ms) };
  };

  it('lets five seconds’ worth through at once, then what comes back with time', () => {
    const { budget, whose, pass } = setUp();
    for (let n = 0; n < 25; n++) budget.enter(whose)(100);
    expect(() => budget.enter(whose)).toThrow('took more than 500 ms a second');
    pass(200);
    budget.enter(whose)(100);
    expect(() => budget.enter(whose)).toThrow(/500 ms/);
  });

  it('counts calls that come to nothing', () => {
    const { budget, whose } = setUp();
    for (let n = 0; n < 2500; n++) budget.enter(whose);
    expect(() => budget.enter(whose)).toThrow(/500 ms/);
  });

  it('says when to come back, and is whole again after at most twice the burst', () => {
    const { budget, whose, pass } = setUp();
    budget.enter(whose)(60_000);
    expect(() => budget.enter(whose)).toThrow(
      expect.objectContaining({ code: 'over-limit', retryAfterSeconds: 5 }),
    );
    pass(10_001);
    for (let n = 0; n < 24; n++) budget.enter(whose)(100);
  });

  it('keeps shares apart', () => {
    const { budget, whose } = setUp();
    budget.enter(whose)(60_000);
    budget.enter({ ...whose, share: 'b' });
  });
});
