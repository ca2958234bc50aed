// npm run bench growth: what an email and a question cost when millions of emails are there
// already. Two installations take turns: one with the first of SIZES, one that grows to each of the
// others. Goals:
// - CPU of an email accepted, and of one handed over: at most 1.2 times that of the small one
// - a timeline by GET /v1/messages/{id}: 0.5 of the same query by pgbench, and at most 1.3 times as
//   long as in the small one
// - a search for a recipient or a subject: p95 below 200 ms
// SIZES (10000,1000000) and ROUNDS (5) are read from the environment. SIZES=10000,1000000,5000000
// takes too long for a run of all.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { READ_TIMELINE } from '../src/events/timeline.ts';
import { showUuid } from '../src/ids.ts';
import { type MessageFilter, searchMessages } from '../src/messages/search.ts';
import type { TestAccount } from '../tests/support/service.ts';
import { getRequest, openLoad, sendRequest } from './support/http-rounds.ts';
import { type Installation, openInstallation, type Served } from './support/installation.ts';
import { loadQuickly, makeMessages } from './support/many-messages.ts';
import { HTML, TEXT } from './support/packed-email.ts';
import { findPgbench, runPgbench } from './support/pgbench.ts';
import { judge } from './support/results.ts';
import { quantile, type Summary, summarise } from './support/rounds.ts';
import { startSink } from './support/timing-sink.ts';

const [SMALL = 0, ...SIZES] = (process.env.SIZES ?? '10000,1000000').split(',').map(Number);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = 1;
const DRAINED = 1000;
const SEARCHES = 60;
/** As many as pgbench takes scripts. */
const ASKED = 100;
const SIDES = ['small', 'large'] as const;
/** The large one is judged by itself. */
const OF_LARGE_ONLY: readonly Figure[] = ['query', 'search'];

const pgbench = findPgbench();
const sink = await startSink();
const sides: Side[] = [];
try {
  const small = await openSide(SMALL);
  const large = await openSide(0);
  for (const size of SIZES) {
    await large.growTo(size);
    await compare(small, large, `${size.toLocaleString('en')} messages`);
  }
} finally {
  sink.child.kill();
  for (const { installation } of sides) await installation.close();
}

async function compare(small: Side, large: Side, what: string): Promise<void> {
  const found = { small: await small.begin(), large: await large.begin() };
  const figures = Object.keys(found.small.measures) as Figure[];
  const taken = { small: new Map<Figure, number[]>(), large: new Map<Figure, number[]>() };
  for (const figure of figures) {
    if (figure === 'drain') {
      await Promise.all([found.small.beginDelivery(), found.large.beginDelivery()]);
    }
    const sides = OF_LARGE_ONLY.includes(figure) ? (['large'] as const) : SIDES;
    for (let round = 0; round <= ROUNDS; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const value = await found[side].measures[figure]();
        // The first round is for the compilers and the caches.
        if (round > 0) taken[side].set(figure, [...(taken[side].get(figure) ?? []), value]);
      }
    }
  }
  await Promise.all([found.small.end(), found.large.end()]);

  const ratio = (figure: Figure): Summary =>
    summarise(taken.large.get(figure)!.map((it, n) => it / taken.small.get(figure)![n]!));
  const beside = { better: 'lower' } as const;
  const than = `beside ${SMALL.toLocaleString('en')}`;
  judge(`CPU of an accepted email, ${what} ${than}`, ratio('accept'), { ...beside, goal: 1.2 });
  judge(`CPU of a drained email, ${what} ${than}`, ratio('drain'), { ...beside, goal: 1.2 });
  judge(`time of a timeline, ${what} ${than}`, ratio('timeline'), { ...beside, goal: 1.3 });
  if (pgbench !== undefined) {
    const own = taken.large.get('timeline')!;
    const same = taken.large.get('query')!.map((seconds, n) => seconds / own[n]!);
    judge(`timelines : the same query by pgbench, ${what}`, summarise(same), { goal: 0.5 });
  }
  const search = summarise(taken.large.get('search')!);
  judge(`p95 of a search, ${what}`, search, { ...beside, goal: 200, unit: 'ms', digits: 0 });
}

type Figure = 'accept' | 'timeline' | 'query' | 'search' | 'drain';

interface Side {
  installation: Installation;
  growTo(size: number): Promise<void>;
  begin(): Promise<{
    /** What one costs: µs of CPU, or seconds of the clock; for searches ms at p95. */
    measures: Record<Figure, () => Promise<number>>;
    /** Not before: what was accepted would be handed over meanwhile. */
    beginDelivery(): Promise<void>;
    end(): Promise<void>;
  }>;
}

async function openSide(size: number): Promise<Side> {
  const installation = await openInstallation();
  const { database } = installation;
  await loadQuickly(database);
  const [owner, sender, queued] = [
    await installation.account(),
    await installation.account(),
    await installation.account(),
  ];
  let there = 0;
  const side: Side = {
    installation,
    async growTo(until) {
      if (until > there)
        await makeMessages(database, owner.id, { from: there, until, events: true });
      there = until;
      await database.query('VACUUM ANALYZE');
    },
    async begin() {
      const api = await installation.serve('api');
      let delivery: Served | undefined;
      const loads = await openLoads(installation, api.port, { owner, sender });
      return {
        measures: {
          async accept() {
            const used = installation.meter(api);
            const { answered } = await loads.sends.round(SECONDS);
            const { node, postgres } = used();
            return (node + postgres) / answered;
          },
          timeline: async () => SECONDS / (await loads.timelines.round(SECONDS)).answered,
          query: async () => (pgbench === undefined ? 0 : 1 / loads.queries()),
          search: () => p95OfSearches(installation, owner.id, there),
          async drain() {
            await installation.hold(queued.id, DRAINED);
            const used = installation.meter(delivery!);
            await installation.release(queued.id);
            await installation.drained();
            const { node, postgres } = used();
            return (node + postgres) / DRAINED;
          },
        },
        async beginDelivery() {
          await database.query('DELETE FROM due_messages');
          await database.query('VACUUM ANALYZE due_messages');
          const RELAY_URL = `smtp://127.0.0.1:${sink.port}?tls=off`;
          delivery = await installation.serve('delivery', { RELAY_URL });
        },
        async end() {
          await Promise.all([loads.sends.close(), loads.timelines.close()]);
          await Promise.all([api.stop(), delivery?.stop()]);
        },
      };
    },
  };
  sides.push(side);
  await side.growTo(size);
  return side;
}

async function openLoads(
  installation: Installation,
  port: number,
  { owner, sender }: Record<'owner' | 'sender', TestAccount>,
) {
  const { database, folder, url } = installation;
  const asked = await database.query<{ id: string }>(
    'SELECT id FROM messages WHERE account_id = $1 ORDER BY right(id::text, 12) LIMIT $2',
    [owner.id, ASKED],
  );
  const email = {
    ...{ from_email: 'hello@example.com', to: ['ada@example.net'], subject: 'An ordinary email' },
    ...{ html: HTML, text: TEXT },
  };
  const scripts = asked.map(({ id }, n) => {
    const file = join(folder, `timeline-${n}.sql`);
    const query = READ_TIMELINE.replaceAll('$1', String(owner.id)).replaceAll('$2', `'${id}'`);
    // A colon would be a variable of pgbench's, and an end of line the end of a command.
    const plain = query.replaceAll('HH24:MI:SS', 'HH24-MI-SS').replace(/\s+/g, ' ');
    writeFileSync(file, `${plain};\n`);
    return file;
  });
  return {
    sends: openLoad(port, [sendRequest(sender.key, email)], { connections: 64, folder }),
    timelines: openLoad(
      port,
      asked.map(({ id }) => getRequest(owner.key, `/v1/messages/${showUuid('msg_', id)}`)),
      { connections: 16, folder },
    ),
    queries: () => runPgbench(pgbench!, url, { scripts, clients: 16, seconds: SECONDS }),
  };
}

/** All pages until the search is through, or has filled one: as people see it. */
async function p95OfSearches(
  { database }: Installation,
  accountId: number,
  size: number,
): Promise<number> {
  const times: number[] = [];
  for (let n = 1; n <= SEARCHES; n++) {
    const wish: Omit<MessageFilter, 'limit'> =
      n % 2 === 0
        ? { recipient: `person${(n * 7919) % 100000}@mail${n % 50}.example` }
        : { words: `order ${(n * 104_729) % size}` };
    const startedAt = performance.now();
    let found = 0;
    for (let beforeUuid: string | null | undefined; beforeUuid !== null && found < 50; ) {
      const page = { ...wish, limit: 50, ...(beforeUuid && { beforeUuid }) };
      const hits = await searchMessages(database, accountId, page);
      found += hits.messages.length;
      beforeUuid = hits.beforeUuid;
    }
    times.push(performance.now() - startedAt);
  }
  return quantile(
    times.sort((one, other) => one - other),
    0.95,
  );
}
