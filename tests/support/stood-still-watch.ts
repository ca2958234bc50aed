// A process beside the tests that asks their PostgreSQL to write something four times a second, and
// notes in a file when that took longer than it ever should: the disk, the processors or the whole
// machine stood still. Before it: global-setup.ts; the notes are read by stood-still.ts.
import { appendFileSync } from 'node:fs';
import pg from 'pg';

const [url, file] = process.argv.slice(2);
const EVERY_MS = 250;
/** What is taken for hanging soonest, a relay, is so after this long. */
const STOOD_STILL_MS = 1000;

const client = new pg.Client(url);
client.on('error', () => process.exit());
await client.connect();
process.stdout.write('watching\n');

let lastMs = Date.now();
for (;;) {
  // Written to the log and nowhere else.
  await client.query('SELECT pg_logical_emit_message(true, $1, $2)', ['beat', '']);
  const nowMs = Date.now();
  if (nowMs - lastMs > STOOD_STILL_MS) appendFileSync(file!, `${lastMs} ${nowMs}\n`);
  lastMs = nowMs;
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
