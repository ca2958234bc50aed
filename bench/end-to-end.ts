// npm run bench end-to-end: the whole way of an email, accept → relay → its report → timeline →
// webhook, at a steady rate. First each stage works off the same emails alone, as a process of its
// own; the slowest sets the rate: 0.72 of it. Then all stages run at once for SECONDS (60). Goals:
// 0.7 of the slowest stage all the way, and a p99 below one second from the send to the hand-over.
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../src/process/clock.ts';
import { openSecret } from '../src/roles/secrets.ts';
import { addressGuard } from '../src/webhooks/address-guard.ts';
import { createEndpoint } from '../src/webhooks/endpoint.ts';
import { freePort } from '../tests/support/process.ts';
import { openInstallation } from './support/installation.ts';
import { openLoad, sendRequest } from './support/loads.ts';
import { openWorld, type Seen } from './support/outside-world.ts';
import { HTML, TEXT } from './support/packed-email.ts';
import { judge, single } from './support/results.ts';
import { summarise } from './support/rounds.ts';

const SECONDS = Number(process.env.SECONDS ?? 60);
const OFFERED = 0.72;
/** Four services at once keep two cores' compilers busy for this long. */
const SETTLES_SECONDS = 15;
const ROLES = ['api', 'delivery', 'feedback', 'webhooks'] as const;

const installation = await openInstallation();
const { database, folder } = installation;
const world = await openWorld();
try {
  const account = await installation.account();
  const guard = addressGuard(['127.0.0.0/8']);
  const { vault } = await openSecret(database, undefined);
  const url = `http://127.0.0.1:${world.httpPort}/`;
  await createEndpoint(database, account.id, { url }, { guard, vault, clock: systemClock });
  const request = sendRequest(account.key, {
    ...{ from_email: 'hello@example.com', to: ['ada@example.net'], subject: 'Along the way' },
    ...{ html: HTML, text: TEXT },
  });
  const feedbackPort = await freePort();
  const env = {
    RELAY_URL: `smtp://127.0.0.1:${world.smtpPort}?tls=off`,
    WEBHOOK_ALLOW: '127.0.0.0/8',
    FEEDBACK_PORT: String(feedbackPort),
  };

  const slowest = Math.min(...Object.values(await stagesAlone()));
  await together(slowest);

  /** Emails a second of each, when nothing else runs. */
  async function stagesAlone(): Promise<Record<(typeof ROLES)[number], number>> {
    const api = await installation.serve('api', env);
    const load = openLoad(api.port, [request], { connections: 64, folder });
    await load.round(2);
    await emptied();
    const { answered: emails } = await load.round(1);
    await load.close();
    await api.stop();
    world.countFromZero();
    const rates = {
      api: emails,
      delivery: await alone('delivery', (seen) => seen.emails, emails),
      feedback: await alone('feedback', (seen) => seen.reports, emails),
      webhooks: await alone('webhooks', (seen) => seen.webhooks, emails),
    };
    for (const [role, rate] of Object.entries(rates)) {
      judge(`${role} alone`, single(rate), { unit: 'emails a second', digits: 0 });
    }
    return rates;
  }

  /** From the first that it did to the last. */
  async function alone(role: string, done: (seen: Seen) => number, emails: number) {
    const service = await installation.serve(role, env);
    if (role === 'feedback') world.reportTo(feedbackPort);
    const first = await reached(done, 1);
    const last = await reached(done, emails);
    await service.stop();
    return ((last.count - first.count) * 1000) / (last.atMs - first.atMs);
  }

  async function reached(done: (seen: Seen) => number, wanted: number) {
    for (;;) {
      const count = done(await world.seen());
      if (count >= wanted) return { count, atMs: performance.now() };
      await wait(5);
    }
  }

  /** What a round for the compilers left in the queue. */
  async function emptied(): Promise<void> {
    await database.query('DELETE FROM due_messages');
    await database.query('VACUUM ANALYZE due_messages');
  }

  async function together(slowest: number): Promise<void> {
    const services = [];
    for (const role of ROLES) services.push(await installation.serve(role, env));
    world.reportTo(feedbackPort);
    const load = openLoad(services[0]!.port, [request], { connections: 64, folder });
    const rate = slowest * OFFERED;
    const began = await idOfNow();
    await load.round(SETTLES_SECONDS, rate);
    await everythingArrived(began);
    const since = await idOfNow();
    world.countFromZero();
    const used = installation.meter(...services);
    const running = load.round(SECONDS, rate);
    const shares: number[] = [];
    for (let before = 0, window = 0; window < 6; window++) {
      const startedAt = performance.now();
      await wait((SECONDS * 1000) / 6 - 20);
      const { webhooks } = await world.seen();
      shares.push(((webhooks - before) * 1000) / (performance.now() - startedAt) / slowest);
      before = webhooks;
    }
    const { answered } = await running;
    const { node, postgres } = used();
    await everythingArrived(began);
    const { p50, p99 } = await world.seen();

    judge('the whole way : the slowest stage alone', summarise(shares), { goal: 0.7 });
    const lower = { better: 'lower', unit: 'ms', digits: 0 } as const;
    judge('age in the queue, p99', single(await ageInQueue(since)), { ...lower, goal: 1000 });
    judge('from the send to the webhook of its delivery, p50', single(p50), lower);
    judge('from the send to the webhook of its delivery, p99', single(p99), lower);
    const cost = { ...lower, unit: 'µs' };
    judge('CPU of all services, an email all the way', single(node / answered), cost);
    judge('CPU of PostgreSQL, an email all the way', single(postgres / answered), cost);
    await load.close();
    for (const service of services) await service.stop();
  }

  async function idOfNow(): Promise<string> {
    const [row] = await database.query<{ id: string }>('SELECT uuid_at(clock_timestamp()) AS id');
    return row!.id;
  }

  /** Nothing is lost: every email that was accepted comes to its end. */
  async function everythingArrived(since: string): Promise<void> {
    const underWay = () =>
      database.query(
        `SELECT FROM messages WHERE account_id = $1 AND id > $2 AND status < 'delivered'
         UNION ALL SELECT FROM webhook_due LIMIT 1`,
        [account.id, since],
      );
    while ((await underWay()).length > 0) await wait(50);
  }

  /** p99, from the id, which has the time of the send in it, to the relay's answer. */
  async function ageInQueue(sinceId: string): Promise<number> {
    const [row] = await database.query<{ p99: number }>(
      `SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM at) * 1000
                - ('x' || left(replace(message_id::text, '-', ''), 12))::bit(48)::bigint)::float8 AS p99
       FROM events WHERE account_id = $1 AND kind = 'sent' AND message_id > $2`,
      [account.id, sinceId],
    );
    return row!.p99;
  }
} finally {
  world.close();
  await installation.close();
}
