// What docs/mcp.md shows works: its JSON is JSON, its commands and its program run against a real
// service.
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { post, rpc } from './support.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map((it) => it[1]!);

let service: TestService;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  service = await startTestService();
  const { key } = await service.account();
  env = { ...process.env, SANDMARTIN_URL: service.url, SANDMARTIN_API_KEY: key };
});
afterAll(() => service.stop());

function run(command: string, words: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe('configuration', () => {
  it.each(blocks('json').map((block) => [block]))('is JSON: %s', (block) => {
    expect(() => JSON.parse(block)).not.toThrow();
  });
});

it('server.json is what the registry of MCP takes: an https address whose variables are described', () => {
  const read = (file: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'));
  const { name, description, version, remotes } = read('server.json');
  expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(description.length).toBeLessThanOrEqual(100);
  expect(version).toBe(read('package.json').version);
  const described = (template: string, variables: object = {}) => {
    const named = [...template.matchAll(/\{(\w+)\}/g)].map(([, one]) => one);
    expect(Object.keys(variables)).toEqual(named);
  };
  for (const { url, variables, headers } of remotes) {
    // What comes from outside must have a scheme that is not filled in.
    expect(url).toMatch(/^https:\/\/\S+$/);
    described(url, variables);
    for (const header of headers) described(header.value, header.variables);
  }
});

it('the program sends an email', async () => {
  const [program] = blocks('js');
  // Beside the other tests, where Node finds the client.
  const file = join(import.meta.dirname, `docs-example-${process.pid}.mjs`);
  writeFileSync(file, program!);
  try {
    expect(await run(process.execPath, [file])).toEqual({
      code: 0,
      output: expect.stringMatching(/^msg_\w{26}\n$/),
    });
  } finally {
    rmSync(file);
  }
});

it('the curl command lists templates', async () => {
  const command = blocks('sh').find((block) => block.includes('curl'))!;
  const { code, output } = await run('bash', ['-c', command]);
  expect(code).toBe(0);
  expect(JSON.parse(output).result.structuredContent.templates[0].category).toBe('billing');
});

it('every tool is named', async () => {
  const { key } = await service.account({ scopes: ALL_SCOPES });
  const { body } = await post(`${service.url}/mcp`, key, rpc('modern', 'tools/list'));
  for (const { name } of body.result.tools) expect(text).toContain(`\`${name}\``);
});

it('the options of "key create" are there', async () => {
  const command = blocks('sh').find((block) => block.includes('key create'))!;
  const { output } = await run(process.execPath, [
    join(import.meta.dirname, '../../bin/sandmartin.js'),
    ...['key', 'create', '--help'],
  ]);
  for (const [option] of command.matchAll(/--[a-z-]+/g)) expect(output).toContain(option);
});
