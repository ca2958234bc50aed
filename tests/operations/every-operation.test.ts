// Every operation, called through REST, MCP and the typed client: it returns what it declares,
// requires its scope, keeps accounts apart, names what is wrong with its input, and records its
// changes in the audit. The calls are in samples/.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TOOLS } from '../../src/mcp/tools.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { itemsOf } from '../../src/operations/lists.ts';
import { changes } from '../../src/operations/perform.ts';
import { givesETag, takesIfMatch } from '../../src/operations/preconditions.ts';
import { callTool, isMarked } from '../mcp/support.ts';
import { howToAdd, readSamples } from './samples.ts';
import {
  type Answered,
  type Fields,
  isOperators,
  scopesWithout,
  startWorld,
  viaClient,
  viaRest,
  viaTool,
  type World,
} from './world.ts';
import { wrongInputs } from './wrong-inputs.ts';

/**
 * As tools, these are also for keys that only send or read (mcp/email-tools.ts): mcp/agents shows
 * what they then tell.
 */
const FOR_SENDERS_TOO = new Set(['get_account', 'search_messages']);

const REMOVALS = OPERATIONS.filter(
  ({ rest }) => rest.method === 'DELETE' && rest.path.includes('{'),
);

const samples = await readSamples();

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

it('every sample is one of an operation', () => {
  const names = OPERATIONS.map(({ name }) => name);
  expect(Object.keys(samples).filter((name) => !names.includes(name))).toEqual([]);
});

describe.each(OPERATIONS.map((operation) => ({ name: operation.name, operation })))(
  '$name',
  ({ name, operation }) => {
    const sample = samples[name];
    if (sample === undefined) {
      it('has a sample', () => expect.fail(howToAdd(operation)));
      return;
    }
    const tool = TOOLS.find((one) => one.operation.name === name);
    const asAda = () => (isOperators(operation) ? world.operator : world.ada);
    const good = () => sample.input(world, world.ada);
    const rest = async (input: Fields, who = asAda()) =>
      await viaRest(world.service, operation, input, who);

    it('REST answers what it says', async () => {
      const { status, body } = await rest(await good());
      expect({ status, body }).toMatchObject({ status: operation.rest.status ?? 200 });
      expectShape(operation.output, body);
    });

    it('the client answers the same', async () => {
      const input = await good();
      const { status, body } = await viaClient(world.service, operation, input, asAda());
      expect({ status, body }).toMatchObject({ status: operation.rest.status ?? 200 });
      expectShape(operation.output, body);
      const wrong = { ...input, no_such_field: 'x' };
      const refused = await viaClient(world.service, operation, wrong, asAda());
      expectFault(refused, 'no_such_field');
    });

    if (itemsOf(operation.output) !== undefined && operation.rest.method === 'GET')
      it('is read page by page', async () => {
        const input = await good();
        const seen: string[] = [];
        let next: string | null | undefined;
        for (let pages = 0; pages < 4 && next !== null; pages++) {
          const { status, body } = await rest({
            ...input,
            limit: 1,
            ...(next && { cursor: next }),
          });
          expect({ status, body }).toMatchObject({ status: 200, body: { has_more: !!body.next } });
          expect(body.data.length).toBeLessThanOrEqual(1);
          seen.push(...body.data.map((item: unknown) => JSON.stringify(item)));
          next = body.next;
        }
        expect(new Set(seen).size).toBe(seen.length);
      });

    if (tool !== undefined)
      it('MCP answers what its tool says', async () => {
        expect(isOperators(operation), 'no key has operators’ scopes').toBe(false);
        const key = world.ada.key!;
        const told = await callTool(world.service, key, name, await good());
        expect(told).toMatchObject({ isError: false });
        expectShape(z.fromJSONSchema(tool!.listed.outputSchema as never), told.content);
        expect(isMarked(told.fenced, world.ada.mark), JSON.stringify(told.fenced)).toBe(true);
      });

    it('is only for paying accounts with a key', async () => {
      const input = await good();
      expect((await rest(input, { headers: {} })).status).toBe(401);
      expect((await rest(input, world.free)).status).toBe(402);
    });

    if (operation.scope !== null)
      it('is refused without its scope', async () => {
        const scope = operation.scope!;
        const input = await good();
        const lesser = await world.keyWith(world.ada.accountId, scopesWithout(scope));
        const { status, body } = await rest(input, lesser);
        expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden' } });
        expect(body.detail).toContain(scope);
        // No key has it, so that nobody is to look for one.
        if (isOperators(operation)) expect(body.detail).toMatch(/^Only operators/);
        const byClient = await viaClient(world.service, operation, input, lesser);
        expect(byClient).toMatchObject({ status: 403, body: { detail: body.detail } });
        if (tool === undefined || FOR_SENDERS_TOO.has(operation.name)) return;
        const told = await viaTool(world.service, operation, input, lesser);
        expect(told).toMatchObject({ status: 403, body: { detail: body.detail } });
      });

    it('another account gets nothing of it', async () => {
      for (const via of [viaRest, viaClient, ...(tool === undefined ? [] : [viaTool])]) {
        const input = await good();
        expectNothingOfAda(await via(world.service, operation, input, world.bob), input);
        // What it was about is still there for its own account.
        expect((await rest(input)).status).toBeLessThan(300);
      }
    });

    function expectNothingOfAda({ status, body }: Answered, input: Fields): void {
      const expected =
        sample!.inAnotherAccount ?? (operation.rest.path.includes('{') ? 'not-found' : 'own');
      const done = operation.rest.status ?? 200;
      const statuses = isOperators(operation) ? [403] : expected === 'own' ? [done, 200] : [404];
      expect(statuses, JSON.stringify(body)).toContain(status);
      if (status >= 400) return;
      const own = JSON.stringify(input);
      const others = textsIn(body).filter(
        (text) => text.includes(world.ada.mark) && !own.includes(JSON.stringify(text)),
      );
      expect(others).toEqual([]);
    }

    it('names what is wrong with its input', async () => {
      const input = await good();
      for (const { field, wrong, byQuery } of wrongInputs(operation, input)) {
        if (byQuery !== 'never') expectFault(await rest(wrong), field);
        if (tool !== undefined) {
          expectFault(await viaTool(world.service, operation, wrong, world.ada), field);
        }
      }
      for (const wrong of sample.refused ?? []) {
        const { status, body } = await rest({ ...input, ...wrong });
        expect({ status, body, wrong }).toMatchObject({ status: 400, body: { code: 'invalid' } });
        expect(body.faults?.length, body.detail).toBeGreaterThan(0);
      }
    });

    if (changes(operation))
      it('leaves a row in the audit, without secrets', async () => {
        const input = await good();
        const before = await auditRows(name);
        const { body } = await rest(input);
        const rows = (await auditRows(name)).slice(before.length);
        if (sample.leavesNoAudit) return;
        expect(rows.length).toBeGreaterThan(0);
        for (const secret of [body.secret, body.key].filter((it) => typeof it === 'string')) {
          expect(JSON.stringify(rows)).not.toContain(secret);
        }
      });

    if (operation.rest.method === 'PUT' || operation.rest.method === 'PATCH')
      it('leaves no row for what changes nothing', async () => {
        const input = await good();
        expect((await rest(input)).status).toBeLessThan(300);
        const before = await auditRows(name);
        expect((await rest(input)).status).toBeLessThan(300);
        const path = Object.entries(input).filter(([it]) =>
          operation.rest.path.includes(`{${it}}`),
        );
        const nothing = Object.fromEntries(path);
        if (operation.input.safeParse(nothing).success) {
          expect([200, 201, 202, 400]).toContain((await rest(nothing)).status);
        }
        expect(await auditRows(name)).toEqual(before);
      });

    if (givesETag(operation) || takesIfMatch(operation))
      it('gives an ETag, or changes only what it was read as', async () => {
        const input = await good();
        // What it makes is there to be changed.
        if (operation.rest.method === 'PUT') await rest(input);
        if (takesIfMatch(operation)) {
          const { status, body } = await rest(input, ifMatch('"987654"'));
          expect({ status, body }).toMatchObject({ status: 412, body: { code: 'stale' } });
        }
        const { status, body, headers } = await rest(
          input,
          takesIfMatch(operation) ? ifMatch('*') : asAda(),
        );
        expect(status, JSON.stringify(body)).toBe(operation.rest.status ?? 200);
        if (givesETag(operation)) expect(headers?.get('etag')).toMatch(/^"[\w-]+"$/);
      });

    if (operation.effect === 'changes' && !takesIfMatch(operation))
      it('refuses an If-Match, which it could not honour', async () => {
        const { status, body } = await rest(await good(), ifMatch('"1"'));
        const told = { status, paths: body.faults?.map(({ path }: { path: string }) => path) };
        expect(told).toEqual({ status: 400, paths: ['If-Match'] });
      });

    if (operation.effect !== 'reads')
      it('called twice at once, answers both clearly', async () => {
        const input = await good();
        for (const answer of await Promise.all([rest(input), rest(input)])) expectClear(answer);
      });

    const removal = REMOVALS.find(({ rest }) => operation.rest.path.startsWith(rest.path));
    // What took a delivery to make is made once, for all of them.
    if (removal !== undefined && !sample.needsDelivery)
      it('while its thing is removed, and after, answers clearly', async () => {
        const input = await good();
        if (operation.rest.method === 'PUT') await rest(input);
        const named = Object.entries(input).filter(([it]) => removal.rest.path.includes(`{${it}}`));
        const remove = () => viaRest(world.service, removal, Object.fromEntries(named), asAda());
        for (const answer of await Promise.all([rest(input), remove()])) expectClear(answer);
        expectClear(await rest(input));
        expectClear(await remove());
      });

    const ifMatch = (tag: string) => ({ headers: { ...asAda().headers, 'if-match': tag } });
  },
);

const auditRows = (action: string) =>
  world.service.database.query('SELECT * FROM audit WHERE action = $1 ORDER BY id', [action]);

/**
 * By the schema that is published, to which nothing may be added unsaid. Each is made once: that
 * takes longer than a call.
 */
const published = new Map<z.ZodType, z.ZodType>();
function expectShape(schema: z.ZodType, body: unknown): void {
  const strict =
    published.get(schema) ?? z.fromJSONSchema(z.toJSONSchema(schema, { io: 'output' }) as never);
  published.set(schema, strict);
  expect(strict.safeParse(body).error?.issues, JSON.stringify(body)).toBeUndefined();
}

/** Done, or refused with a reason; never a fault of ours. */
function expectClear({ status, body }: Answered): void {
  if (status >= 300)
    expect({ status, body }).toMatchObject({ body: { detail: expect.any(String) } });
  expect(status, JSON.stringify(body)).toBeLessThan(500);
}

function expectFault({ status, body }: Answered, field: string): void {
  expect({ status, body }).toMatchObject({ status: 400 });
  expect(typeof body.detail).toBe('string');
  const paths = (body.faults ?? []).map(({ path }: { path: string }) => path);
  expect(paths, `${field}: ${JSON.stringify(body)}`).toContainEqual(
    expect.stringMatching(new RegExp(`^${field}($|[.[])`)),
  );
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
