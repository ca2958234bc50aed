// npm run bench growth: what an email and a question cost when millions of emails are there
// already. Installations take turns: one with the first of SIZES, and one with each of the others.
// Goals:
// - CPU of an email accepted, and of one handed over: at most 1.2 times that of the small one
// - a timeline by GET /v1/messages/{id}, and a search by GET /v1/messages: 0.5 of the same queries
//   by pgbench, and at most 1.3 times as long as in the small one
// - a search, until it is through or has filled a page: p95 below 200 ms, for ten kinds of them
// SIZES (10000,1000000) and ROUNDS (5) are read from the environment.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EMAIL_SCOPES } from '../src/accounts/scopes.ts';
import { showUuid } from '../src/ids.ts';
import type { TestAccount } from '../tests/support/service.ts';
import { type Installation, openInstallation } from './support/installation.ts';
import { getRequest, openLoad, sendRequest } from './support/loads.ts';
import { loadQuickly, makeMessages } from './support/many-messages.ts';
import { HTML, TEXT } from './support/packed-email.ts';
import { asStatement, findPgbench, NO_PGBENCH, runPgbench } from './support/pgbench.ts';
import type { Served } from './support/processes.ts';
import { judge, skip } from './support/results.ts';
import { type Summary, summarise } from './support/rounds.ts';
import {
  KINDS,
  ordinarySearches,
  p95OfSearches,
  pathOf,
  statementsOf,
} from './support/searches.ts';
import { startSink } from './support/timing-sink.ts';

const [SMALL = 0, ...SIZES] = (process.env.SIZES ?? '10000,1000000').split(',').map(Number);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = 1;
const DRAINED = 1000;
/** As many as pgbench takes scripts. */
const ASKED = 100;
/** Each of so many people looks for all of so many things. */
const SEARCHERS = 4;
const SEARCHES = 10;
const SEARCHES_OF_A_KIND = 15;
const SIDES = ['small', 'large'] as const;
/** The rest is judged by itself, or beside pgbench. */
const JUDGED_BESIDE_SMALL: readonly string[] = ['accept', 'timeline', 'search', 'drain'];

/** What a timeline says, as one would ask for a single one: account $1, message $2. */
const READ_TIMELINE = `SELECT m.status, m.scheduled_at AS "scheduledAt", m.cancelled_at AS "cancelledAt",
  EXISTS (SELECT FROM approvals a WHERE a.account_id = $1 AND a.message_id = $2) AS "neededApproval",
  e.kind, to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS timestamp, e.recipients, e.detail
  FROM messages m LEFT JOIN events e ON e.account_id = m.account_id AND e.message_id = m.id AND e.message_id = $2
  WHERE m.account_id = $1 AND m.id = $2
  ORDER BY e.at, e.sequence NULLS FIRST`;

const pgbench = findPgbench();
const sink = await startSink();
const open = new Set<Installation>();
try {
  const small = await openSide(SMALL);
  for (const size of SIZES) {
    const large = await openSide(size);
    await compare(small, large, `${size.toLocaleString('en')} messages`);
    await large.close();
  }
} finally {
  sink.child.kill();
  for (const installation of open) await installation.close();
}

async function compare(small: Side, large: Side, what: string): Promise<void> {
  const found = { small: await small.begin(), large: await large.begin() };
  const taken = { small: new Map<string, number[]>(), large: new Map<string, number[]>() };
  for (const figure of Object.keys(found.large.measures)) {
    if (figure === 'drain') {
      await Promise.all([found.small.beginDelivery(), found.large.beginDelivery()]);
    }
    const sides = JUDGED_BESIDE_SMALL.includes(figure) ? SIDES : (['large'] as const);
    for (let round = 0; round <= ROUNDS; round++) {
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const value = await found[side].measures[figure]!();
        // The first round is for the compilers and the caches.
        if (round > 0) taken[side].set(figure, [...(taken[side].get(figure) ?? []), value]);
      }
    }
  }
  await Promise.all([found.small.end(), found.large.end()]);

  const ratio = (figure: string): Summary =>
    summarise(taken.large.get(figure)!.map((it, n) => it / taken.small.get(figure)![n]!));
  const lower = { better: 'lower' } as const;
  const than = `beside ${SMALL.toLocaleString('en')}`;
  judge(`CPU of an accepted email, ${what} ${than}`, ratio('accept'), { ...lower, goal: 1.2 });
  judge(`CPU of a drained email, ${what} ${than}`, ratio('drain'), { ...lower, goal: 1.2 });
  for (const [figure, all] of [
    ['timeline', 'timelines'],
    ['search', 'searches'],
  ] as const) {
    judge(`time of a ${figure}, ${what} ${than}`, ratio(figure), { ...lower, goal: 1.3 });
    if (pgbench === undefined) continue;
    const own = taken.large.get(figure)!;
    const same = taken.large.get(`${figure} by pgbench`)!.map((it, n) => it / own[n]!);
    judge(`${all} : the same query by pgbench, ${what}`, summarise(same), { goal: 0.5 });
  }
  if (pgbench === undefined) skip(NO_PGBENCH, 'by pgbench');
  for (const kind of Object.keys(KINDS)) {
    const times = summarise(taken.large.get(p95Of(kind))!);
    judge(`${p95Of(kind)}, ${what}`, times, { ...lower, goal: 200, unit: 'ms', digits: 0 });
  }
}

function p95Of(kind: string): string {
  return `p95 of a search by ${kind}`;
}

interface Side {
  begin(): Promise<{
    /** What one costs: µs of CPU, or seconds of the clock; for p95 ms. */
    measures: Record<string, () => Promise<number>>;
    /** Not before: what was accepted would be handed over meanwhile. */
    beginDelivery(): Promise<void>;
    end(): Promise<void>;
  }>;
  close(): Promise<void>;
}

async function openSide(size: number): Promise<Side> {
  const installation = await openInstallation();
  open.add(installation);
  const { database, url } = installation;
  await loadQuickly(database);
  const [owner, sender, queued] = [
    await installation.account([...EMAIL_SCOPES, 'messages:read']),
    await installation.account(),
    await installation.account(),
  ];
  const startedAt = performance.now();
  await makeMessages({ url, database, accountId: owner.id }, size);
  await database.query('VACUUM ANALYZE');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  process.stdout.write(
    `${size.toLocaleString('en')} messages loaded and indexed in ${seconds} s\n`,
  );
  return {
    async begin() {
      const api = await installation.serve('api');
      let delivery: Served | undefined;
      const loads = await openLoads(installation, api.port, { owner, sender });
      const searches = await openSearches(installation, api.port, { owner, size });
      return {
        measures: {
          async accept() {
            const used = installation.meter(api);
            const { answered } = await loads.sends.round(SECONDS);
            const { node, postgres } = used();
            return (node + postgres) / answered;
          },
          timeline: async () => SECONDS / (await loads.timelines.round(SECONDS)).answered,
          ...(pgbench && { 'timeline by pgbench': async () => 1 / loads.queries() }),
          search: searches.asked,
          ...(pgbench && { 'search by pgbench': searches.queried }),
          ...searches.kinds,
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
    async close() {
      open.delete(installation);
      await installation.close();
    },
  };
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
    writeFileSync(file, asStatement(READ_TIMELINE, [owner.id, id]));
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

async function openSearches(
  { database, folder, url }: Installation,
  port: number,
  { owner, size }: { owner: TestAccount; size: number },
) {
  const wishes = ordinarySearches(SEARCHES, size);
  const file = join(folder, 'searches.sql');
  const statements: string[] = [];
  for (const wish of wishes) statements.push(...(await statementsOf(database, owner.id, wish)));
  writeFileSync(file, statements.join(''));
  const ask = async () => {
    for (const wish of wishes) {
      const answer = await fetch(`http://127.0.0.1:${port}${pathOf(wish)}`, {
        headers: { 'x-api-key': owner.key },
      });
      if (answer.status !== 200) throw new Error(await answer.text());
      await answer.arrayBuffer();
    }
  };
  const kinds = Object.entries(KINDS).map(([kind, make]) => {
    const ofKind = Array.from({ length: SEARCHES_OF_A_KIND }, (_, n) => make(n + 1, size));
    return [p95Of(kind), () => p95OfSearches(database, owner.id, ofKind)] as const;
  });
  return {
    /** Seconds of the clock for a search, of as many people at once as cores are busy. */
    async asked() {
      const startedAt = performance.now();
      await Promise.all(Array.from({ length: SEARCHERS }, ask));
      return (performance.now() - startedAt) / 1000 / SEARCHERS / SEARCHES;
    },
    async queried() {
      const rate = runPgbench(pgbench!, url, { scripts: [file], clients: SEARCHERS, once: true });
      return 1 / rate / SEARCHES;
    },
    kinds: Object.fromEntries(kinds),
  };
}
