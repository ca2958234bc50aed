// A refusal says what to try next in the terms of its door; features only name it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/hints.ts';
import { registerWebhook } from '../../src/cli/webhook.ts';
import { OPERATIONS } from '../../src/operations/all.ts';
import { PAGES } from '../../src/operations/hints.ts';
import { openSignedIn } from '../dashboard/dashboard-client.ts';
import { callTool } from '../mcp/support.ts';
import { runInProcess } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SRC = join(import.meta.dirname, '../../src');
const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }));

/** Who reads it runs commands: what starts and restores, its settings and metrics, tests. */
const AT_TERMINAL = /^(cli|testing|store|config|process\/metrics)\b/;
const commands = readdirSync(join(SRC, 'cli')).map((file) => file.replace('.ts', ''));
/** In a line that is no comment. */
const namesCommand = new RegExp(
  `^(?! *(?://|/?\\*)).*\\bsandmartin (?:${commands.join('|')})\\b`,
  'm',
);

describe('features', () => {
  it('name no command: a browser or an agent may show what they say', () => {
    const naming = sources.filter(
      ({ file, text }) => !AT_TERMINAL.test(file) && namesCommand.test(text),
    );
    expect(naming.map(({ file }) => file)).toEqual([]);
  });

  it('name only what a door can tell', () => {
    const known = [...OPERATIONS.map(({ name }) => name), ...Object.keys(COMMANDS)];
    const named = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bsee: '(\w+)'/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name!))).toEqual([]);
  });
});

describe('doors', () => {
  it('name only pages that the navigation has', () => {
    const navigation = readFileSync(join(SRC, '../web/src/shell/navigation.tsx'), 'utf8');
    const labels = [...navigation.matchAll(/label: '([^']+)'/g)].map(([, label]) => label);
    expect(labels.length).toBeGreaterThan(5);
    expect(Object.values(PAGES).filter((page) => !labels.includes(page))).toEqual([]);
    const resources = OPERATIONS.map(({ client }) => client.split('.')[0]!);
    expect(Object.keys(PAGES).filter((name) => !resources.includes(name))).toEqual([]);
  });

  it('name only commands that there are', async () => {
    const program = new Command();
    for (const group of new Set(Object.values(COMMANDS).map((words) => words.split(' ')[0]!))) {
      for (const file of [group, `${group}-list`]) {
        if (!sources.some((source) => source.file === join('cli', `${file}.ts`))) continue;
        const exported = Object.entries(await import(`../../src/cli/${file}.ts`));
        for (const [name, register] of exported) {
          const parent = program.commands.find((one) => one.name() === group);
          if (name.startsWith('register')) {
            (register as (at: Command) => unknown)(file === group ? program : parent!);
          }
        }
      }
    }
    const known = program.commands.flatMap((group) =>
      group.commands.map((command) => `${group.name()} ${command.name()}`),
    );
    expect(Object.values(COMMANDS).filter((command) => !known.includes(command))).toEqual([]);
  });
});

describe('an endpoint that is not there', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ ROLES: 'api' });
  });
  afterAll(() => service?.stop());
  const ID = 'whe_00000000000000000000000000';

  it('REST names the call, MCP the tool, the dashboard the page', async () => {
    const { id: accountId, key } = await service.account({ scopes: ['admin'] });
    const answer = await service.get(key, `/v1/webhooks/${ID}`);
    expect(answer).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(answer.body.detail).toMatch(/There is no webhook endpoint .* See GET \/v1\/webhooks\.$/);

    const told = await callTool(service, key, 'update_webhook_endpoint', { id: ID, fifo: true });
    expect(told.content).toMatchObject({ status: 404, code: 'not-found' });
    expect(told.content.detail).toMatch(/ See list_webhook_endpoints\.$/);

    const person = await openSignedIn(service, { accountId });
    await expect(person.api.webhooks.get({ id: ID })).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/ See the page Webhooks\.$/),
    });
  });

  it('a terminal names the command', async () => {
    const { id } = await service.account();
    const args = ['webhook', 'test', ID, '--account', String(id)];
    const env = { DATABASE_URL: service.databaseUrl };
    const { stderr } = await runInProcess(registerWebhook, args, env);
    expect(stderr).toContain('See "npx sandmartin webhook list".');
  });
});
