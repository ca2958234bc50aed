// npm run bench drain: emails that wait in the queue are claimed, loaded, composed, signed, handed
// over and recorded, by one delivery process into a sink of its own. Unsigned, and signed as
// domains are: by RSA and Ed25519. Beside it, in turns:
// - a queue in the same PostgreSQL that is worked off through nodemailer's pool, as one would write
//   it; goal: 4 times its rate
// - a client that only writes the same bytes; goal: 0.4 of it, unsigned
// - the two signatures and nothing else, on all cores; goal: 0.85 of them, signed
// EMAILS (20,000) and ROUNDS (5) are read from the environment.
import { generateKeyPairSync, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { createTransport } from 'nodemailer';
import { addDomain } from '../src/accounts/domains.ts';
import { composeEmail, emailChunks } from '../src/mail/compose.ts';
import { openSecret } from '../src/roles/secrets.ts';
import { handBareBytes } from './support/bare-smtp-client.ts';
import { openInstallation } from './support/installation.ts';
import { HTML, mailbox, TEXT } from './support/packed-email.ts';
import { judge } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';
import { startSink } from './support/timing-sink.ts';

const EMAILS = Number(process.env.EMAILS ?? 20_000);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SIGNED_FROM = 'signed.example';
const MICROSECONDS = { unit: 'µs', better: 'lower', digits: 0 } as const;

const installation = await openInstallation();
const { database } = installation;
const sink = await startSink();
try {
  const service = await installation.serve('delivery', {
    RELAY_URL: `smtp://127.0.0.1:${sink.port}?tls=off`,
  });
  const unsigned = await installation.account();
  const signed = await installation.account();
  const { vault } = await openSecret(database, undefined);
  await addDomain({ database, vault, bounceDomain: 'b.example' }, signed.id, SIGNED_FROM, true);
  const queue = await openPlainQueue();

  /** Signing takes four times as long: a quarter of the emails tell as much. */
  const drain = async (accountId: number, count: number, from: string) => {
    await installation.hold(accountId, count, from);
    await database.query('VACUUM ANALYZE due_messages');
    const used = installation.meter(service);
    const rate = sink.drained(count);
    await installation.release(accountId);
    const perSecond = await rate;
    await installation.drained();
    const { node, postgres } = used();
    return { perSecond, nodeUs: node / count, postgresUs: postgres / count };
  };
  const ways = {
    unsigned: () => drain(unsigned.id, EMAILS, 'a@example.com'),
    signed: () => drain(signed.id, EMAILS / 4, `a@${SIGNED_FROM}`),
    nodemailer: () => only(queue.drain(EMAILS / 4)),
    bare: () => only(bareBytes(EMAILS * 2)),
    signatures: () => only(signatures(1000)),
  };
  const found = Object.fromEntries(
    Object.keys(ways).map((name) => [name, [] as Awaited<ReturnType<typeof drain>>[]]),
  ) as Record<keyof typeof ways, Awaited<ReturnType<typeof drain>>[]>;
  // The first round is for the compilers and the caches.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const figures = await way();
      if (round > 0) found[name as keyof typeof ways].push(figures);
    }
  }
  await service.stop();
  queue.close();

  console.log('a second                         CPU a piece, µs: Node, PostgreSQL');
  for (const [name, rounds] of Object.entries(found)) {
    const of = (pick: keyof (typeof rounds)[0]) => summarise(rounds.map((it) => it[pick]));
    const cpu = name === 'unsigned' || name === 'signed';
    console.log(
      `  ${name.padEnd(12)} ${show(of('perSecond'), 0).padEnd(24)} ${cpu ? `${show(of('nodeUs'), 0)}, ${show(of('postgresUs'), 0)}` : ''}`,
    );
  }
  const ratio = (one: keyof typeof ways, other: keyof typeof ways) =>
    summarise(found[one].map((it, n) => it.perSecond / found[other][n]!.perSecond));
  judge('unsigned : a queue and nodemailer’s pool', ratio('unsigned', 'nodemailer'), { goal: 4 });
  judge('unsigned : a client that only writes the bytes', ratio('unsigned', 'bare'), { goal: 0.4 });
  judge('signed : the signatures alone, on all cores', ratio('signed', 'signatures'), {
    goal: 0.85,
  });
  const cpu = (pick: 'nodeUs' | 'postgresUs') => summarise(found.unsigned.map((it) => it[pick]));
  judge('CPU of the service, an unsigned email', cpu('nodeUs'), MICROSECONDS);
  judge('CPU of PostgreSQL, an unsigned email', cpu('postgresUs'), MICROSECONDS);
} finally {
  sink.child.kill();
  await installation.close();
}

async function only(perSecond: Promise<number>) {
  return { perSecond: await perSecond, nodeUs: 0, postgresUs: 0 };
}

async function bareBytes(count: number): Promise<number> {
  const email = composeEmail({
    messageId: '<01JABCDEFGHJKMNPQRSTVW@mail.example>',
    date: new Date(),
    from: mailbox('a@example.com'),
    to: [mailbox('a@example.net')],
    cc: [],
    subject: 'Many emails',
    text: TEXT,
    html: HTML,
    ownHeaders: [],
    headers: [],
    attachments: [],
  });
  const rate = sink.drained(count);
  let left = count;
  const more = () => left-- > 0;
  await handBareBytes(sink.port, Buffer.concat(emailChunks(email)), { connections: 10, more });
  return await rate;
}

/** Of both kinds a pair, as many at a time as OpenSSL has threads for here. */
async function signatures(pairs: number): Promise<number> {
  const keys = [
    { algorithm: 'sha256', key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
    { algorithm: undefined, key: generateKeyPairSync('ed25519').privateKey },
  ];
  const signing = promisify(sign);
  const header = Buffer.alloc(600, 'header');
  const startedAt = performance.now();
  let begun = 0;
  const thread = async () => {
    while (begun++ < pairs) {
      for (const { algorithm, key } of keys) await signing(algorithm, header, key);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() * 2 }, thread));
  return (pairs * 1000) / (performance.now() - startedAt);
}

/**
 * The same work as one would write it with nodemailer: claims of a hundred, outcomes one by one.
 */
async function openPlainQueue() {
  await database.query(
    `CREATE TABLE bench_queue (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, taken_at timestamptz,
       sender text NOT NULL, recipient text NOT NULL, subject text NOT NULL, html text, text text)`,
  );
  await database.query('CREATE INDEX ON bench_queue (id) WHERE taken_at IS NULL');
  await database.query(
    'CREATE TABLE bench_sent (id bigint PRIMARY KEY, at timestamptz, response text)',
  );
  const pool = createTransport({
    host: '127.0.0.1',
    port: sink.port,
    ignoreTLS: true,
    pool: true,
    maxConnections: 10,
    maxMessages: Infinity,
  });
  type Row = {
    id: number;
    sender: string;
    recipient: string;
    subject: string;
    html: string;
    text: string;
  };
  const claim = () =>
    database.prepared<Row>(
      'bench-claim',
      `UPDATE bench_queue SET taken_at = now() WHERE id IN (
         SELECT id FROM bench_queue WHERE taken_at IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)
       RETURNING id, sender, recipient, subject, html, text`,
      [],
    );
  const hand = async ({ id, sender, recipient, ...content }: Row) => {
    const { response } = await pool.sendMail({ from: sender, to: recipient, ...content });
    await database.prepared(
      'bench-sent',
      `WITH sent AS (INSERT INTO bench_sent VALUES ($1, now(), $2)) DELETE FROM bench_queue WHERE id = $1`,
      [id, response],
    );
  };
  return {
    async drain(count: number): Promise<number> {
      await database.query(
        `INSERT INTO bench_queue (sender, recipient, subject, html, text)
         SELECT 'a@example.com', 'a@example.net', 'Many emails', $2, $3 FROM generate_series(1, $1::integer)`,
        [count, HTML, TEXT],
      );
      await database.query('VACUUM ANALYZE bench_queue');
      const rate = sink.drained(count);
      // Four claims at a time, so that the pool never waits for one.
      const worker = async () => {
        for (let rows = await claim(); rows.length > 0; rows = await claim()) {
          await Promise.all(rows.map(hand));
        }
      };
      await Promise.all(Array.from({ length: 4 }, worker));
      return await rate;
    },
    close: () => pool.close(),
  };
}
