// Attacks that once stopped the service, through every door that takes templates or variables: the
// process survives, the event loop keeps running, another tenant is served in the meantime, and
// memory is freed. On the built program, as a process of its own.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandmartinError } from '../../src/client/calls.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { rpc } from '../mcp/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { makeAccount, request, type TestAccount } from '../support/service.ts';
import { until } from '../support/until.ts';
import { startWatched, type WatchedProcess } from '../support/watched-process.ts';
import { fromTemplate } from '../templates/support.ts';

/** What any single input may take. */
const MOST_MB = 64;

const manyNames = Array.from({ length: 900 }, (_, n) => `v${n}`);

/** A subject, or variables, that once took seconds or the process. */
const ATTACKS: Record<string, { subject?: string; variables?: Record<string, unknown> }> = {
  'copies by sort': { subject: "{{ (['A'*900000]*100000)|sort|length }}" },
  'copies by list': { subject: "{{ (['A'*900000]*100000)|list|length }}" },
  'copies by map': { subject: "{{ (['A'*900000]*100000)|map('upper')|list|length }}" },
  'copies by join': { subject: "{{ (['A'*900000]*100000)|join|length }}" },
  'lists of lists': {
    subject: '{% set a = range(200000)|list %}{{ ([a]*200000)|sum(start=[])|length }}',
  },
  find: { subject: "{{ ('a'*1000000).find('aab' ~ 'a'*10000) }}" },
  in: { subject: "{{ ('aab' ~ 'a'*10000) in ('a'*1000000) }}" },
  rfind: { subject: "{{ ('a'*1000000).rfind('a'*10000 ~ 'baa') }}" },
  count: { subject: "{{ ('a'*1000000).count('aab' ~ 'a'*10000) }}" },
  replace: { subject: "{{ ('a'*1000000).replace('aab' ~ 'a'*10000, 'x')|length }}" },
  split: { subject: "{{ ('a'*1000000).split('aab' ~ 'a'*10000)|length }}" },
  partition: { subject: "{{ ('a'*1000000).partition('aab' ~ 'a'*10000)|length }}" },
  'endless loops': {
    subject: '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
  },
  'control characters in the text': { variables: { name: '\u000b'.repeat(90_000) } },
  'spaces in the text': { variables: { name: `<pre>${' '.repeat(30_000)}` } },
  'a subject that reads many variables': {
    subject: `{{ '${'a '.repeat(100_000)}'|length }}${manyNames.map((name) => `{{ ${name} }}`).join('')}`,
    variables: Object.fromEntries(manyNames.map((name) => [name, 1])),
  },
  'very many values': { variables: { name: 'x', list: new Array(400_000).fill(1) } },
  'nested too deep': { variables: { name: 'x', deep: nested(3000) } },
  'a name that is a prototype': { variables: JSON.parse('{"name":"x","__proto__":{"a":1}}') },
};

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

let test: TestDatabase;
let service: WatchedProcess;
let attacker: TestAccount;
let bystander: TestAccount;
beforeAll(async () => {
  test = await createTestDatabase();
  service = await startWatched({ DATABASE_URL: test.url, ROLES: 'api' });
  attacker = await makeAccount(test.database);
  bystander = await makeAccount(test.database);
  for (const account of [attacker, bystander]) await send(account, welcome());
});
afterAll(async () => {
  await service.end('SIGTERM');
  await test.drop();
});

const welcome = (
  changes: { subject?: string; variables?: Record<string, unknown> } = {},
): Record<string, unknown> =>
  fromTemplate(
    'welcome',
    { name: 'Ada', action_url: 'https://example.com/', ...changes.variables },
    changes.subject === undefined ? {} : { subject: changes.subject },
  );

const send = (account: TestAccount, email: Record<string, unknown>) =>
  request(`${service.url}/v1/send`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify(email),
  });

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) /
  1024;

const DOORS: Record<string, (attack: (typeof ATTACKS)[string]) => Promise<number>> = {
  'POST /v1/send': async (attack) => (await send(attacker, welcome(attack))).status,
  'MCP send_email': async (attack) => {
    const email = JSON.parse(JSON.stringify(welcome(attack))) as Record<string, unknown>;
    const call = rpc('modern', 'tools/call', { name: 'send_email', arguments: email });
    const { status } = await request(`${service.url}/mcp`, {
      method: 'POST',
      headers: { ...call.headers, 'x-api-key': attacker.key },
      body: JSON.stringify(call.body),
    });
    return status;
  },
  'the preview of a viewer': async ({ subject, variables }) => {
    const wish = { accountId: attacker.id, role: 'viewer' as const };
    const viewer = await openSignedIn({ url: service.url, database: test.database }, wish);
    const body = {
      slug: 'welcome',
      ...(subject === undefined ? {} : { draft: { subject } }),
      variables: welcome({ variables: variables ?? {} }).variables as Record<string, unknown>,
    };
    return await viewer.api.templates.render(body).then(
      () => 200,
      ({ status }: SandmartinError) => status,
    );
  },
};

describe.each(Object.keys(DOORS))('%s', (door) => {
  it.each(Object.keys(ATTACKS))('%s', async (name) => {
    const { stands, grewMb } = await service.watch(async () => {
      let attacked = false;
      const attack = DOORS[door]!(ATTACKS[name]!).finally(() => {
        attacked = true;
      });
      let served = 0;
      do {
        expect((await send(bystander, welcome())).status).toBe(202);
        served++;
      } while (!attacked);
      expect(served).toBeGreaterThan(0);
      expect([200, 202, 400, 429, 503]).toContain(await attack);
    });
    expect(service.child.exitCode).toBeNull();
    expect(stands).toEqual([]);
    expect(grewMb).toBeLessThan(MOST_MB);
  });
});

/**
 * What it renders is within every budget; its plain text then fills a thread's memory or takes its
 * time.
 */
const TABLES = `{% set tables = '<table><tr><td>x'*60000 %}${'{{ tables|safe }}'.repeat(8)}`;

it('a viewer’s previews of eight megabytes of tables, each way to see them', async () => {
  const slug = 'welcome';
  const client = async (role: 'owner' | 'viewer') => {
    const at = { url: service.url, database: test.database };
    return (await openSignedIn(at, { accountId: attacker.id, role })).api;
  };
  const { templates } = await client('owner');
  const { version } = await templates.put({ slug: 'tables', html: TABLES, subject: 'Tables' });
  await templates.publish({ slug: 'tables', version });
  const viewer = await client('viewer');
  const previews = [
    () => viewer.templates.render({ slug, draft: { html: TABLES } }),
    () => viewer.templates.rehearse({ slug, draft: { html: TABLES }, limit: 1 }),
    () => viewer.templates.renderSeveral({ slugs: ['tables'] }),
    () => viewer.branding.preview({ branding: {}, slugs: ['tables'] }),
  ];
  const { stands, grewMb } = await service.watch(async () => {
    for (const show of previews) {
      const shown = show().then(
        () => 200,
        ({ status }: SandmartinError) => status,
      );
      expect((await send(bystander, welcome())).status).toBe(202);
      expect([200, 400, 429]).toContain(await shown);
    }
  });
  expect(service.child.exitCode).toBeNull();
  expect(stands).toEqual([]);
  expect(grewMb).toBeLessThan(MOST_MB);
}, 240_000);

it('memory comes back when it is over', async () => {
  const attackAll = () =>
    Promise.all(Object.values(ATTACKS).map((attack) => DOORS['POST /v1/send']!(attack)));
  await attackAll();
  const before = residentMb();
  await attackAll();
  await until(async () => {
    // Work makes the collector run.
    for (let n = 0; n < 50; n++) await send(bystander, welcome());
    return residentMb() - before < MOST_MB;
  });
});
