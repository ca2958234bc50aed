// The short campaign: under a minute of random troubles with a fixed seed. `npm run test:faults` is the long one.
import { expect, it } from 'vitest';
import { runCampaign } from './campaign.ts';
import { describe, judge } from './campaign-ledger.ts';

it('nothing that was accepted is lost, and every repeat has its cause', async () => {
  const lines: string[] = [];
  const ledger = await runCampaign({ seed: 20_260_713, seconds: 35, say: (it) => lines.push(it) });
  const verdict = judge(ledger);
  const story = [...lines, ...describe(ledger, verdict)].join('\n');
  console.log(story);
  expect(ledger.accepted.size).toBeGreaterThan(300);
  expect(ledger.troubles.length).toBeGreaterThan(8);
  expect(verdict.lost, story).toEqual([]);
  expect(verdict.unexplained, story).toEqual([]);
  expect(ledger.leftInQueue).toBe(0);
}, 300_000);
