// The short campaign: under a minute of random troubles with a fixed seed. `npm run test:faults` is
// the long one.
import { expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';
import { describe, judge, type Ledger, type Trouble } from './campaign-ledger.ts';

it('nothing that was accepted is lost, and every repeat has its cause', async () => {
  const lines: string[] = [];
  // This seed begins with the database and the workers, so that a slow machine meets them, too.
  const ledger = await runCampaign({ seed: 12, seconds: 35, say: (it) => lines.push(it) });
  const verdict = judge(ledger);
  const story = [...lines, ...describe(ledger, verdict)].join('\n');
  console.log(story);
  expect(ledger.accepted.size).toBeGreaterThan(300);
  expect(ledger.troubles.length).toBeGreaterThan(5);
  expect(verdict.lost, story).toEqual([]);
  expect(verdict.unexplained, story).toEqual([]);
  expect(ledger.leftInQueue).toBe(0);
}, 300_000);

it('the ledger sees what is lost, and believes no excuse that is not one', () => {
  const arrival = (id: string, atMs: number, answered = true) => ({
    ...{ id, by: 'delivery-1', begunAtMs: atMs - 5, atMs, answered, cut: false },
  });
  const trouble = (kind: Trouble['kind'], concerned: string, fromMs: number): Trouble => ({
    ...{ kind, what: kind, concerns: [concerned], fromMs, untilMs: fromMs + 1_000 },
  });
  const ledger: Ledger = {
    ...{ seed: 0, refused: new Map(), leftOut: [], leftInQueue: 0, setAside: 0 },
    accepted: new Map(['gone', 'hung', 'killed', 'cut', 'twice'].map((id, n) => [id, n * 100])),
    arrivals: [
      arrival('hung', 300, false),
      ...[arrival('killed', 19_999), arrival('killed', 26_000)],
      ...[arrival('cut', 500, false), arrival('cut', 9_000)],
      ...[arrival('twice', 50_000), arrival('twice', 60_000)],
    ],
    troubles: [
      trouble('killed', 'delivery-1', 20_000),
      // Another worker's, the relay's and the clock's troubles are none of its.
      trouble('killed', 'delivery-2', 50_000),
      trouble('relay', 'relay', 50_000),
      trouble('wrong clock', 'delivery-1', 50_000),
    ],
  };
  const verdict = judge(ledger);
  expect(verdict.lost).toEqual(['gone', 'hung']);
  expect([...verdict.repeats.values()]).toEqual([1, 1]);
  expect(verdict.unexplained).toHaveLength(1);
  expect(verdict.unexplained[0]).toContain('twice');
  expect(verdict.longestToHandOverMs).toBe(50_000 - 400);
});
