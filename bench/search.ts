// npm run bench search: how long a search takes in an account with a million messages, four fifths
// of them of today, and what the indexes it goes by cost accepting. The messages are made inside
// the server, a statement for each stretch of the day, and indexed in between as maintenance does
// it. The goal is a p95 below 200 ms, for a page of 50.
// Run: npm run bench search [-- --messages 1000000 --searches 200]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bytesToUuid, newIdBytes } from '../src/ids.ts';
import { type MessageFilter, searchMessages } from '../src/messages/search.ts';
import { listIndexedRanges } from '../src/messages/search-index.ts';
import { openEmbedded } from '../src/store/embedded/open.ts';
import { migrate } from '../src/store/migrate.ts';
import { makePartitions } from '../src/store/partitions.ts';
import { openDatabase } from '../src/store/pool.ts';
import { makeAccount } from '../tests/support/service.ts';
import { DAY_MS, loadQuickly, makeMessages, TODAY } from './support/many-messages.ts';
import { quantile, show, summarise } from './support/rounds.ts';

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== '--'),
  options: {
    messages: { type: 'string', default: '1000000' },
    searches: { type: 'string', default: '200' },
  },
});
const messages = Number(values.messages);
const searches = Number(values.searches);

type Kind = (n: number) => Omit<MessageFilter, 'limit'>;

const kinds: Record<string, Kind> = {
  'to:': (n) => ({ recipient: `person${(n * 7919) % 100000}@mail${n % 50}.example` }),
  'to: nobody': (n) => ({ recipient: `nobody${n}@mail.example` }),
  'from: and to: a domain': (n) => ({
    from: `@shop${n % 5}.example`,
    recipient: `person${(n * 7919) % 100000}@mail${n % 50}.example`,
  }),
  'subject:': (n) => ({ words: `order ${Math.floor((n * 104_729) % messages)}` }),
  'tag:': (n) => ({ tag: `batch-${(n * 31) % Math.floor(messages / 1000)}` }),
  'tag: and status:': (n) => ({ tag: `batch-${(n * 31) % 200}`, status: 'bounced' }),
  'template:': (n) => ({ template: `template-${n % 40}` }),
  'template: and subject:': (n) => ({
    template: `template-${n % 40}`,
    words: `${Math.floor((n * 104_729) % messages)}`,
  }),
  'status:': () => ({ status: 'bounced' }),
  'after: and tag:': (n) => ({ tag: `batch-${n % 200}`, fromMs: (TODAY - 1) * DAY_MS + n * 1000 }),
};

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-bench-'));
const embedded = await openEmbedded(folder, { as: 'owner', log: () => undefined });
const database = openDatabase(embedded.url, { connections: 4, onIdleError: () => undefined });
try {
  await migrate(database);
  await loadQuickly(database);
  await makePartitions(database, Date.now());
  const { id: accountId } = await makeAccount(database);
  const bare = await insertTimes(accountId);
  const startedAt = performance.now();
  await makeMessages(database, accountId, { until: messages, events: false });
  const sliced = await insertTimes(accountId);
  const ranges = (await listIndexedRanges(database)).length;
  console.log(
    `${messages} messages, ${ranges} indexed ranges; loaded and indexed in ${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`,
  );
  for (const [name, filter] of Object.entries(kinds)) await measure(accountId, name, filter);
  console.log(
    `\na batch of 32 into messages, beside all slices against none: ${show(summarise(sliced.map((ms, round) => ms / bare[round]!)))}`,
  );
} finally {
  await database.close();
  await embedded.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** All pages are asked for until the search is through, or has filled one: as people see it. */
async function measure(accountId: number, name: string, filter: Kind): Promise<void> {
  const times: number[] = [];
  let calls = 0;
  for (let n = 1; n <= searches; n++) {
    const startedAt = performance.now();
    let found = 0;
    for (let beforeUuid: string | null | undefined; beforeUuid !== null && found < 50; calls++) {
      const wish = { ...filter(n), limit: 50, ...(beforeUuid && { beforeUuid }) };
      const hits = await searchMessages(database, accountId, wish);
      found += hits.messages.length;
      beforeUuid = hits.beforeUuid;
    }
    times.push(performance.now() - startedAt);
  }
  times.sort((one, other) => one - other);
  const [p50, p95] = [0.5, 0.95].map((q) => quantile(times, q).toFixed(0).padStart(4));
  console.log(
    `${name.padEnd(26)} p50 ${p50} ms   p95 ${p95} ms   ${(calls / searches).toFixed(2)} calls each`,
  );
}

/** Batches as accept_sends writes them, into the messages of today. */
async function insertTimes(accountId: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    const startedAt = performance.now();
    for (let batch = 0; batch < 10; batch++) {
      const ids = Array.from({ length: 32 }, () => bytesToUuid(newIdBytes(Date.now())));
      await database.query(
        `INSERT INTO messages (account_id, id, from_email, recipients, subject, tags, door)
         SELECT $1, id, 'hello@example.com', ARRAY['ada@example.net'], 'Hello', NULL, 'rest' FROM unnest($2::uuid[]) id`,
        [accountId, ids],
      );
    }
    times.push(performance.now() - startedAt);
  }
  return times;
}
