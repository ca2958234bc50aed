// What docs/mcp.md shows works: every client's configuration leads to our tools, its commands and
// its program run against a real service, and a refusal reads as the page says.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { announceSkip } from '../support/browser.ts';
import { blockOf, blocksOf, readPage } from '../support/docs.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { callTool, post, rpc } from './support.ts';

const text = readPage('docs/mcp.md');

let service: TestService;
let env: NodeJS.ProcessEnv;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.account());
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

/** Behind a page's example of a client, whatever that calls its fields. */
interface Connection {
  address: string;
  header: string;
  /** How the client puts the key in. */
  value: string;
}

const ADDRESS = /https?:\/\/[^\s"]+\/mcp(?=["\s]|$)/;

// biome-ignore lint/suspicious/noExplicitAny: each client has its own
function connectionOf(config: any): Connection {
  const server = config.mcpServers?.sandmartin ?? config.servers?.sandmartin ?? config;
  const { args = [], headers, env_http_headers } = server.mcp_servers?.sandmartin ?? server;
  const words = /^([\w-]+):(\S+)$/.exec(args[args.indexOf('--header') + 1] ?? '');
  const [header, value] = words?.slice(1) ?? Object.entries(headers ?? env_http_headers)[0]!;
  return { address: ADDRESS.exec(JSON.stringify(config))![0], header, value } as Connection;
}

/** The names of the tools that a client gets by it. */
async function toolsBehind({ address, header, value }: Connection): Promise<string[]> {
  expect(value).toMatch(
    /^(?:sm_live_…|(?:\$?SANDMARTIN_API_KEY|\$\{(?:env:)?SANDMARTIN_API_KEY\}|\$\{input:sandmartin-key\}))$/,
  );
  const { headers, body } = rpc('modern', 'tools/list');
  const answer = await post(`${service.url}${new URL(address).pathname}`, undefined, {
    headers: { ...headers, [header]: key },
    body,
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.result.tools.map(({ name }: { name: string }) => name);
}

const [refusal, configurations] = (() => {
  const read = blocksOf('docs/mcp.md', 'json').map((block) => JSON.parse(block));
  return [read.find(({ status }) => status), read.filter(({ status }) => !status)];
})();

describe('configuration', () => {
  it.each(configurations)('leads to our tools: %j', async (config) => {
    const tools = await toolsBehind(connectionOf(config));
    expect(tools).toContain('send_email');
    const named = config.require_approval?.never.tool_names ?? [];
    expect(tools).toEqual(expect.arrayContaining(named));
    const asked = /\$\{input:([\w-]+)\}/.exec(JSON.stringify(config))?.[1];
    expect(config.inputs?.[0].id).toBe(asked);
  });

  const noToml = spawnSync('python3', ['-c', 'import tomllib']).status !== 0;
  if (noToml) announceSkip('python3 cannot read TOML, so the configuration of Codex was not read');
  it.skipIf(noToml)('leads to our tools: Codex', async () => {
    const program = 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))';
    const { stdout } = spawnSync('python3', ['-c', program], {
      ...{ input: blocksOf('docs/mcp.md', 'toml')[0]!, encoding: 'utf8' },
    });
    expect(await toolsBehind(connectionOf(JSON.parse(stdout)))).toContain('send_email');
  });

  // The program itself is not installed anywhere the tests run.
  it('leads to our tools: Claude Code', async () => {
    const command = blockOf('docs/mcp.md', 'claude mcp add');
    const [, header, value] = /--header "([\w-]+): (\S+)"/.exec(command)!;
    const address = ADDRESS.exec(command)![0];
    expect(await toolsBehind({ address, header: header!, value: value! })).toContain('send_email');
  });
});

it('a refusal reads as the page says', async () => {
  const { isError, content } = await callTool(service, key, 'get_template', {
    slug: 'reset-password',
  });
  expect(isError).toBe(true);
  expect(content).toEqual(refusal);
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
  const [program] = blocksOf('docs/mcp.md', 'js');
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
  const command = blockOf('docs/mcp.md', 'curl');
  const { code, output } = await run('bash', ['-c', command]);
  expect(code).toBe(0);
  expect(JSON.parse(output).result.structuredContent.templates[0].category).toBe('billing');
});

it('every tool is named', async () => {
  const all = await service.account({ scopes: ALL_SCOPES });
  const { body } = await post(`${service.url}/mcp`, all.key, rpc('modern', 'tools/list'));
  for (const { name } of body.result.tools) expect(text).toContain(`\`${name}\``);
});
