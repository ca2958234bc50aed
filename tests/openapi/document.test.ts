// openapi.json: what linters, generators and readers of it can rely on.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { EVENT_KINDS } from '../../src/events/kinds.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { readInput } from '../../src/operations/read-input.ts';
import { describeApi } from '../../src/rest/openapi/document.ts';
import { checkBody } from '../../src/sending/content.ts';
import { sendRequest } from '../../src/sending/request.ts';
import { EVERY_HOOK_TYPE } from '../../src/webhooks/event-body.ts';
import { missing, ROOT, runTool } from './tools.ts';

// biome-ignore lint/suspicious/noExplicitAny: any part of the document is looked at
type Part = any;

const api: Part = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
const schemas = api.components.schemas;
const operations: Part[] = Object.values(api.paths).flatMap((path) =>
  Object.values(path as object),
);

describe.skipIf(missing)('linters find nothing, not even a warning', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-lint-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('redocly, recommended-strict', async () => {
    const said = await runTool('redocly', ['lint', 'openapi.json', '--extends=recommended-strict']);
    expect(said).toContain('Your API description is valid');
    expect(said).not.toMatch(/\b(\d+ )?(warning|error)s?\b(?! *: Node)/i);
  });

  it('spectral, spectral:oas', async () => {
    const rules = join(folder, 'rules.yaml');
    writeFileSync(rules, 'extends: ["spectral:oas"]\n');
    await runTool('spectral', [
      'lint',
      '--fail-severity=hint',
      `--ruleset=${rules}`,
      'openapi.json',
    ]);
  });
});

describe('what generators make of it', () => {
  it('every event, request and answer has a name of its own', () => {
    for (const kind of Object.keys(EVENT_KINDS)) {
      const name = `${kind[0]!.toUpperCase()}${kind.slice(1)}Event`;
      expect(schemas[name].properties.type.const).toBe(kind);
    }
    for (const { requestBody, responses, operationId } of operations) {
      const [answer] = Object.values(responses) as Part[];
      for (const content of [requestBody?.content, answer.content]) {
        const schema = content?.['application/json'].schema;
        if (schema !== undefined) expect(schema, operationId).toHaveProperty('$ref');
      }
    }
  });

  it('answers are open to new fields', () => {
    for (const { responses } of operations) expect(closedIn(responses)).toEqual([]);
    expect(closedIn(api.webhooks)).toEqual([]);
  });

  it('every operation says what it answers when the service has a fault or is not available', () => {
    for (const { responses } of operations) {
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '403', '500', '503']));
    }
    expect(api.components.responses.Unavailable.headers).toHaveProperty('retry-after');
  });

  it('the webhooks are described, each with its signature', () => {
    expect(Object.keys(api.webhooks)).toEqual(EVERY_HOOK_TYPE);
    for (const { post } of Object.values<Part>(api.webhooks)) {
      expect(post.parameters.map(({ name }: Part) => name)).toContain('X-SM-Signature');
    }
    expect(schemas.BounceWebhook.properties.payload.properties).toHaveProperty('bounce_type');
  });

  it('every tag has a description that someone wrote', () => {
    const unsaid = api.tags.filter(({ description }: Part) =>
      /^What can be done/.test(description),
    );
    expect(unsaid).toEqual([]);
  });

  it('every operation is in it, with a key or the same key as a bearer token', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(
      OPERATIONS.map(({ name }) => name).sort(),
    );
    expect(api.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  });
});

/** Objects that no field may be added to, following references. */
function closedIn(part: Part, seen = new Set<string>()): Part[] {
  if (typeof part !== 'object' || part === null) return [];
  const closed = part.additionalProperties === false ? [part] : [];
  if (typeof part.$ref === 'string' && !seen.has(part.$ref)) {
    seen.add(part.$ref);
    const [, , kind, name] = part.$ref.split('/');
    closed.push(...closedIn(api.components[kind][name], seen));
  }
  return [...closed, ...Object.values(part).flatMap((inner) => closedIn(inner, seen))];
}

describe('the conditions of a send', () => {
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(describeApi(), 'api');
  const fits = ajv.compile({ $ref: 'api#/components/schemas/SendEmailRequest' });

  function taken(request: Record<string, unknown>): boolean {
    try {
      checkBody(readInput(sendRequest, request));
      return true;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  }

  it('the schema takes what the service takes, and nothing else', () => {
    const text = fc.option(fc.constant('Hello'), { nil: undefined });
    const variables = fc.option(fc.constantFrom({}, { name: 'Ada' }), { nil: undefined });
    let both = 0;
    fc.assert(
      fc.property(
        fc.record({ subject: text, html: text, text, template: text, variables }),
        (content) => {
          const given = Object.entries(content).filter(([, value]) => value !== undefined);
          const request = { from_email: 'a@example.com', to: ['b@example.com'] };
          const whole = { ...request, ...Object.fromEntries(given) };
          expect(fits(whole), JSON.stringify(whole)).toBe(taken(whole));
          if (taken(whole)) both++;
        },
      ),
      { numRuns: 400 },
    );
    expect(both).toBeGreaterThan(20);
  });
});
