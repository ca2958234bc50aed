// Every address of the simulator gives the timeline that docs/sandbox.md promises, read from there.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCRIPTS } from '../../src/sandbox/scripts.ts';
import {
  anEmail,
  startTestService,
  type TestAccount,
  type TestService,
} from '../support/service.ts';
import { until } from '../support/until.ts';

interface Promised {
  name: string;
  events: string[];
  status: string;
}

const promised: Promised[] = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\| `[\w-]+@`/.test(line))
  .map((line) => {
    const [, address, timeline, status] = line.split('|');
    const words = (cell: string | undefined) =>
      [...(cell ?? '').matchAll(/`([\w-]+)@?`/g)].map((match) => match[1]!);
    return {
      name: words(address)[0]!,
      events: words(timeline),
      status: words(status)[0]!,
    };
  });

let service: TestService;
let account: TestAccount;

beforeAll(async () => {
  service = await startTestService();
  account = await service.account();
});
afterAll(() => service.stop());

interface Event {
  type: string;
  [field: string]: unknown;
}

const timeline = async (id: string): Promise<{ status: string; events: Event[] }> =>
  (await service.get(account.key, `/v1/messages/${id}`)).body;

async function send(to: string[], changes: Record<string, unknown> = {}): Promise<string> {
  const html = '<p>Hello! <a href="https://shop.example/">Shop</a></p>';
  return (await service.send(account.key, anEmail({ to, html, ...changes }))).body.id;
}

const seen = (id: string, { events, status }: Pick<Promised, 'events' | 'status'>) =>
  until(async () => {
    const now = await timeline(id);
    expect(now.events.map((event) => event.type)).toEqual(events);
    expect(now.status).toBe(status);
    return now;
  });

it('documents every script', () => {
  expect(promised.map((entry) => entry.name)).toEqual(Object.keys(SCRIPTS));
});

describe.concurrent.each([
  ['', ''],
  ['with a label', '+label.1'],
])('addresses %s', (_, label) => {
  it.each(promised.filter(({ name }) => !SCRIPTS[name]?.firstAttempt))('$name', async (entry) => {
    const id = await send([`${entry.name}${label}@simulator.test`]);
    await seen(id, entry);
  });
});

it.each([
  ['greylist', /^450 /],
  ['drop', /4\.4\.2|connection/i],
])('%s: the first attempt fails, the second is taken', async (name, response) => {
  const id = await send([`${name}@simulator.test`]);
  const [row] = await until(async () => {
    const rows = await service.database.query<{ last_response: string; attempts: number }>(
      'SELECT last_response, attempts FROM due_messages WHERE lease IS NULL AND attempts = 1',
    );
    return rows.length > 0 ? rows : undefined;
  });
  expect(row!.last_response).toMatch(response);
  expect((await timeline(id)).events).toEqual([]);
  await service.database.query(`UPDATE due_messages SET due_at = now() WHERE state = 'waiting'`);
  await seen(id, promised.find((entry) => entry.name === name)!);
});

describe('what the events say', () => {
  const eventOf = async (id: string, type: string) =>
    await until(async () => (await timeline(id)).events.find((event) => event.type === type));
  const suppressed = async () =>
    (await service.database.query<{ address: string }>('SELECT address FROM suppressions')).map(
      (row) => row.address,
    );

  it('bounce: permanent, user unknown, suppressed from then on', async () => {
    const to = 'bounce+says@simulator.test';
    expect(await eventOf(await send([to]), 'bounced')).toMatchObject({
      recipients: [to],
      bounce_type: 'permanent',
      reason: 'user-unknown',
      smtp_response: '550 5.1.1 User unknown',
      remote_mta: 'mx.simulator.test',
      suppressed: true,
    });
    expect(await suppressed()).toContain(to);
    // Written another way, it is the same address.
    const again = await send(['Bounce+SAYS@Simulator.Test']);
    expect(await eventOf(again, 'bounced')).toMatchObject({ bounce_type: 'suppressed' });
    expect((await timeline(again)).events).toHaveLength(1);
  });

  it('mailbox-full: transient, not suppressed', async () => {
    const to = 'mailbox-full+says@simulator.test';
    expect(await eventOf(await send([to]), 'bounced')).toMatchObject({
      bounce_type: 'transient',
      reason: 'mailbox-full',
    });
    expect(await suppressed()).not.toContain(to);
  });

  it('complaint: abuse, suppressed', async () => {
    const to = 'complaint+says@simulator.test';
    expect(await eventOf(await send([to]), 'complained')).toMatchObject({
      recipients: [to],
      feedback_type: 'abuse',
    });
    expect(await suppressed()).toContain(to);
  });

  it('opens: by a person, or by a machine', async () => {
    const person = await send(['opened+says@simulator.test']);
    expect(await eventOf(person, 'opened')).toMatchObject({ machine: false });
    const machine = await send(['machine-opened+says@simulator.test']);
    expect(await eventOf(machine, 'opened')).toMatchObject({ machine: true });
  });

  it('clicked: the link as written', async () => {
    const id = await send(['clicked+says@simulator.test']);
    expect(await eventOf(id, 'clicked')).toMatchObject({
      url: 'https://shop.example/',
      machine: false,
    });
  });

  it('delayed: kept on the message while it is under way', async () => {
    const id = await send(['delayed+says@simulator.test']);
    const [row] = await until(async () => {
      const rows = await service.database.query<{ last_delay: Record<string, unknown> }>(
        `SELECT last_delay FROM messages WHERE recipients = '{delayed+says@simulator.test}' AND last_delay IS NOT NULL`,
      );
      return rows.length > 0 ? rows : undefined;
    });
    expect(row!.last_delay).toMatchObject({ recipients: ['delayed+says@simulator.test'] });
    expect((await timeline(id)).status).toBe('sent');
  });
});

it('plays each recipient of one email their own part', async () => {
  const to = ['delivered+m@simulator.test', 'bounce+m@simulator.test', 'ada@example.net'];
  const id = await send(to);
  const { events, status } = await until(async () => {
    const now = await timeline(id);
    return now.events.length === 4 && now;
  });
  expect(status).toBe('bounced');
  const deliveredTo = events.filter((event) => event.type === 'delivered');
  // Each has a copy of their own, so their reports come in any order.
  expect(deliveredTo.flatMap((event) => event.recipients).sort()).toEqual([to[2], to[0]]);
  const bounced = events.find((event) => event.type === 'bounced');
  expect(bounced?.recipients).toEqual([to[1]]);
});

it('delivers what only looks like a part: unknown names, other domains, UTF-8', async () => {
  for (const to of ['bonce@simulator.test', 'bounce@example.net', 'jürgen@simulator.test']) {
    await seen(await send([to]), { events: ['sent', 'delivered'], status: 'delivered' });
  }
});
