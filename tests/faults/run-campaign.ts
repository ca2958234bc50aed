// npm run test:faults [seed] [minutes]: the long campaign, ten minutes of troubles. The same seed
// draws the same troubles again.
import { randomInt } from 'node:crypto';
import { buildWhenStale } from '../support/global-setup.ts';
import { runCampaign } from './campaign.ts';
import { describe, judge } from './campaign-ledger.ts';

const seed = Number(process.argv[2] ?? randomInt(2 ** 31));
const minutes = Number(process.argv[3] ?? 10);
if (!Number.isInteger(seed) || !(minutes > 0)) {
  console.error('usage: npm run test:faults [seed] [minutes], where the seed is a whole number');
  process.exit(2);
}
buildWhenStale();
console.log(`seed ${seed}, ${minutes} minutes`);
const ledger = await runCampaign({ seed, seconds: minutes * 60, long: true, say: console.log });
const verdict = judge(ledger);
for (const line of describe(ledger, verdict)) console.log(line);
for (const id of verdict.lost) console.log(`lost: ${id}`);
for (const repeat of verdict.unexplained) console.log(`unexplained: ${repeat}`);
if (verdict.lost.length + verdict.unexplained.length + ledger.leftInQueue > 0) process.exitCode = 1;
