// The searches that growth.ts measures: by what people look for, in the messages of
// many-messages.ts. As calls of the API, as the statements behind such a call, for pgbench, and as
// people see them: page after page.
import { type MessageFilter, searchMessages } from '../../src/messages/search.ts';
import type { Database } from '../../src/store/pool.ts';
import { DAY_MS, personOf, TODAY } from './many-messages.ts';
import { asStatement } from './pgbench.ts';
import { quantile } from './rounds.ts';

type Wish = Omit<MessageFilter, 'limit'>;

const PAGE = 50;

/** The nth search of each kind, among so many messages. */
export const KINDS: Record<string, (n: number, size: number) => Wish> = {
  recipient: (n) => ({ recipient: personOf(n) }),
  'a recipient without any': (n) => ({ recipient: `nobody${n}@mail.example` }),
  'a sender’s domain and recipient': (n) => ({
    from: `@shop${n % 5}.example`,
    recipient: personOf(n),
  }),
  'words of the subject': (n, size) => ({ words: `order ${(n * 104_729) % size}` }),
  tag: (n, size) => ({ tag: `batch-${(n * 31) % Math.ceil(size / 1000)}` }),
  'tag and status': (n, size) => ({
    tag: `batch-${(n * 31) % Math.ceil(size / 1000)}`,
    status: 'bounced',
  }),
  template: (n) => ({ template: `template-${n % 40}` }),
  'template and words of the subject': (n, size) => ({
    template: `template-${n % 40}`,
    words: `${(n * 104_729) % size}`,
  }),
  status: () => ({ status: 'bounced' }),
  'time and tag': (n, size) => ({
    tag: `batch-${n % Math.ceil(size / 1000)}`,
    fromMs: (TODAY - 1) * DAY_MS + n * 1000,
  }),
};

/** What people look for most, in turns. */
export const ordinarySearches = (count: number, size: number): Wish[] =>
  Array.from({ length: count }, (_, n) =>
    KINDS[n % 2 === 0 ? 'recipient' : 'words of the subject']!(n + 1, size),
  );

/** A page of it. */
export const pathOf = ({ recipient, words }: Wish): string =>
  `/v1/messages?${new URLSearchParams({ limit: String(PAGE), ...(recipient && { recipient }), ...(words && { words }) })}`;

/** What the service asks for such a page, written out. */
export async function statementsOf(
  database: Database,
  accountId: number,
  wish: Wish,
): Promise<string[]> {
  const asked: string[] = [];
  const listening: Database = {
    ...database,
    query(text, values = []) {
      asked.push(asStatement(text, values));
      return database.query(text, values);
    },
  };
  await searchMessages(listening, accountId, { ...wish, limit: PAGE });
  return asked;
}

/** Of so many: all pages until the search is through, or has filled one. */
export async function p95OfSearches(
  database: Database,
  accountId: number,
  searches: readonly Wish[],
): Promise<number> {
  const times: number[] = [];
  for (const wish of searches) {
    const startedAt = performance.now();
    let found = 0;
    for (let beforeUuid: string | null | undefined; beforeUuid !== null && found < PAGE; ) {
      const page = { ...wish, limit: PAGE, ...(beforeUuid && { beforeUuid }) };
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
