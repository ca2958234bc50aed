// npm run bench drain: emails that wait in the queue are claimed, loaded, composed, signed, handed
// over and recorded, by one delivery process into a sink of its own. Unsigned; signed as domains
// are, by RSA and Ed25519; and by RSA alone, as an operator signs for domains without keys (nothing
// is ever signed by Ed25519 alone: handoff.ts has what that costs). Beside it, in turns:
// - a queue in the same PostgreSQL that is worked off through nodemailer's pool, as one would write
//   it; goal: 4 times its rate
// - a client that only writes the same bytes; goal: 0.4 of it, unsigned
// - the signatures and nothing else, on all cores, by Node and by openssl speed; goal: 0.85 of them
// EMAILS (20,000) and ROUNDS (5) are read from the environment.
import { execFileSync, spawnSync } from 'node:child_process';
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
import { judge, skip } from './support/results.ts';
import { show, summarise } from './support/rounds.ts';
import { startSink } from './support/timing-sink.ts';

const EMAILS = Number(process.env.EMAILS ?? 20_000);
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SIGNED_FROM = 'signed.example';
const OPERATOR = 'operator.example';
const CORES = availableParallelism();
const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0;
const MICROSECONDS = { unit: 'µs', better: 'lower', digits: 0 } as const;

const installation = await openInstallation();
const { database } = installation;
const sink = await startSink();
try {
  const [unsigned, signed, owner] = [
    await installation.account(),
    await installation.account(),
    await installation.account(),
  ];
  const { vault } = await openSecret(database, undefined);
  const keys = { database, vault, bounceDomain: 'b.example' };
  await addDomain(keys, signed.id, SIGNED_FROM, true);
  await addDomain(keys, owner.id, OPERATOR, true);
  const queue = await openPlainQueue();

  /** Signing takes four times as long: a quarter of the emails tell as much. */
  const first = await takeTurns({}, (drain) => ({
    unsigned: () => drain(unsigned.id, EMAILS, 'a@example.com'),
    signed: () => drain(signed.id, EMAILS / 4, `a@${SIGNED_FROM}`),
    nodemailer: () => only(queue.drain(EMAILS / 4)),
    bare: () => only(bareBytes(EMAILS * 2)),
    signatures: () => only(signatures(600, ['rsa', 'ed25519'])),
  }));
  queue.close();
  const byRsa = await takeTurns({ OPERATOR_DOMAIN: OPERATOR }, (drain) => ({
    'signed by RSA': () => drain(unsigned.id, EMAILS / 4, 'a@example.com'),
    'RSA alone': () => only(signatures(600, ['rsa'])),
    ...(HAS_OPENSSL && { openssl: () => only(Promise.resolve(opensslSignatures())) }),
  }));
  const found: Record<string, Figures[]> = { ...first, ...byRsa };

  console.log('a second                         CPU a piece, µs: Node, PostgreSQL');
  for (const [name, rounds] of Object.entries(found)) {
    const of = (pick: keyof Figures) => summarise(rounds.map((it) => it[pick]));
    const cpu = of('nodeUs').median > 0;
    console.log(
      `  ${name.padEnd(14)} ${show(of('perSecond'), 0).padEnd(24)} ${cpu ? `${show(of('nodeUs'), 0)}, ${show(of('postgresUs'), 0)}` : ''}`,
    );
  }
  const ratio = (one: string, other: string) =>
    summarise(found[one]!.map((it, n) => it.perSecond / found[other]![n]!.perSecond));
  judge('unsigned : a queue and nodemailer’s pool', ratio('unsigned', 'nodemailer'), { goal: 4 });
  judge('unsigned : a client that only writes the bytes', ratio('unsigned', 'bare'), { goal: 0.4 });
  judge('signed : the signatures alone, on all cores', ratio('signed', 'signatures'), {
    goal: 0.85,
  });
  judge(
    'signed by RSA : these signatures alone, on all cores',
    ratio('signed by RSA', 'RSA alone'),
    {
      goal: 0.85,
    },
  );
  if (HAS_OPENSSL) {
    const share = ratio('signed by RSA', 'openssl');
    judge(`signed by RSA : openssl speed -multi ${CORES}`, share, { goal: 0.85 });
  } else skip('openssl is not installed', 'openssl speed');
  const cpu = (pick: 'nodeUs' | 'postgresUs') => summarise(found.unsigned!.map((it) => it[pick]));
  judge('CPU of the service, an unsigned email', cpu('nodeUs'), MICROSECONDS);
  judge('CPU of PostgreSQL, an unsigned email', cpu('postgresUs'), MICROSECONDS);
} finally {
  sink.child.kill();
  await installation.close();
}

interface Figures {
  perSecond: number;
  nodeUs: number;
  postgresUs: number;
}

type Drain = (accountId: number, count: number, from: string) => Promise<Figures>;

/** By one delivery process that is there for all rounds. */
async function takeTurns(
  env: Record<string, string>,
  waysOver: (drain: Drain) => Record<string, () => Promise<Figures>>,
): Promise<Record<string, Figures[]>> {
  const RELAY_URL = `smtp://127.0.0.1:${sink.port}?tls=off`;
  const service = await installation.serve('delivery', { RELAY_URL, ...env });
  const ways = waysOver(async (accountId, count, from) => {
    await installation.hold(accountId, count, from);
    await database.query('VACUUM ANALYZE due_messages');
    const used = installation.meter(service);
    const rate = sink.drained(count);
    await installation.release(accountId);
    const perSecond = await rate;
    await installation.drained();
    const { node, postgres } = used();
    return { perSecond, nodeUs: node / count, postgresUs: postgres / count };
  });
  const found = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as Figures[]]));
  // The first round is for the compilers and the caches.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const figures = await way();
      if (round > 0) found[name]!.push(figures);
    }
  }
  await service.stop();
  return found;
}

async function only(perSecond: Promise<number>): Promise<Figures> {
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

/** So many times one of each kind, as many at a time as OpenSSL has threads for here. */
async function signatures(times: number, kinds: readonly ('rsa' | 'ed25519')[]): Promise<number> {
  const keyOf = {
    rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
    ed25519: () => generateKeyPairSync('ed25519').privateKey,
  };
  const keys = kinds.map((kind) => ({
    algorithm: kind === 'rsa' ? 'sha256' : undefined,
    key: keyOf[kind](),
  }));
  const signing = promisify(sign);
  const header = Buffer.alloc(600, 'header');
  const startedAt = performance.now();
  let begun = 0;
  const thread = async () => {
    while (begun++ < times) {
      for (const { algorithm, key } of keys) await signing(algorithm, header, key);
    }
  };
  await Promise.all(Array.from({ length: CORES * 2 }, thread));
  return (times * 1000) / (performance.now() - startedAt);
}

/** What OpenSSL itself says of RSA with 2048 bits, a process for each core. */
function opensslSignatures(): number {
  const words = ['speed', '-seconds', '1', '-multi', String(CORES), 'rsa2048'];
  const said = execFileSync('openssl', words, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return Number(/^rsa +2048 bits +\S+ +\S+ +([\d.]+)/m.exec(said)?.[1]);
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
