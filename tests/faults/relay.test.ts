// A relay with every kind of trouble, with little and much email waiting: sends are refused soon,
// nobody floods it, and everything resumes when it is back. The service and its sockets are real,
// the relay is the test's.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyRelay, type RelayFault, startFaultyRelay } from '../support/faulty-relay.ts';
import { inFull } from '../support/longer.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

// Promised are 2 s to the first 502 and 5 s to the first 202; this machine may be busy with other
// tests.
const REFUSED_WITHIN_MS = 5_000;
const ACCEPTED_WITHIN_MS = 10_000;

let relay: FaultyRelay;
let service: TestService;
let account: TestAccount;
beforeAll(async () => {
  relay = await startFaultyRelay();
  service = await startTestService({ RELAY_URL: relay.url });
  account = await service.account();
});
afterAll(async () => {
  await service.stop();
  await relay.stop();
});

let firstRefusedAt = 0;
async function send() {
  const answer = await service.send(account.key, anEmail());
  if (answer.status === 502) firstRefusedAt ||= performance.now();
  return answer;
}
/** Twenty at a time, until they are refused. */
async function sendMany(emails: number): Promise<void> {
  let begun = 0;
  const client = async () => {
    while (begun++ < emails && firstRefusedAt === 0) await send();
  };
  await Promise.all(Array.from({ length: 20 }, client));
}
const answersWith = (status: number, withinMs: number) =>
  until(async () => (await send()).status === status, withinMs);
const left = async (): Promise<number> => {
  const [row] = await service.database.query<{ left: number }>(
    'SELECT count(*) AS left FROM due_messages',
  );
  return row!.left;
};
/** As if every lease and wait were over, until nothing is left. */
const drain = () =>
  until(async () => {
    await service.database.query('UPDATE due_messages SET due_at = now() WHERE lease IS NULL');
    return (await left()) === 0;
  });

const FAULTS: RelayFault[] = [
  'refuses',
  'closes',
  'greets with 421',
  'greets with 554',
  'silent',
  'breaks TLS',
  'refuses the login',
  'hangs at MAIL',
];
// One by one they were seen; with two and more waiting the circuit never opened.
const CASES = FAULTS.flatMap((fault) =>
  (fault === 'refuses' || fault === 'silent'
    ? inFull([1, 2, 20, 1000], [1, 2, 1000])
    : inFull([1, 20], [20])
  ).map((emails) => [fault, emails] as const),
);

describe('an outage', () => {
  it.each(CASES)(
    'the relay %s with %i emails waiting: 502, no storm, 202 again',
    async (fault, emails) => {
      await answersWith(202, ACCEPTED_WITHIN_MS);
      await relay.fail(fault);
      const beganAt = performance.now();
      firstRefusedAt = 0;
      await sendMany(emails);
      await answersWith(502, REFUSED_WITHIN_MS);
      const refused = await send();
      if (refused.status === 502)
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      const refusedMs = firstRefusedAt - beganAt;
      // 8 places, the probes, and for hangs one trial: far from the thousands a second that were
      // seen.
      expect(relay.connects()).toBeLessThan(20);
      await relay.heal();
      const healedAt = performance.now();
      await answersWith(202, ACCEPTED_WITHIN_MS);
      if (process.env.SHOW_TIMES) {
        const back = performance.now() - healedAt;
        console.log(`${fault} ${emails}: 502 ${refusedMs.toFixed()} ms, 202 ${back.toFixed()} ms`);
      }
      // What hangs on a session of before waits for its answer as long as RFC 5321 says.
      if (fault !== 'silent' && fault !== 'hangs at MAIL') await drain();
    },
  );

  it('that lasts: the probe alone knocks, ever more seldom', async () => {
    await answersWith(202, ACCEPTED_WITHIN_MS);
    await relay.fail('closes');
    await sendMany(20);
    await answersWith(502, REFUSED_WITHIN_MS);
    const atFirst = relay.connects();
    const beganAt = performance.now();
    await until(() => relay.connects() >= atFirst + 4);
    // Waits of 0.5, 1, 2 and 3 s, each shorter by a fifth at most.
    expect(performance.now() - beganAt).toBeGreaterThan(3_000);
    expect(relay.connects()).toBeLessThan(20);
    await relay.heal();
    await answersWith(202, ACCEPTED_WITHIN_MS);
  });
});
