// The official programs against a running service: the conformance suite in both revisions, and the
// inspector's strict check. They need Node 22: where this Node is older, the npm package
// node-linux-… lends them one.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { startKeyProxy } from '../support/key-proxy.ts';
import { startTestService, type TestService } from '../support/service.ts';

const CONFORMANCE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0';
const EXPECTED_FAILURES = join(import.meta.dirname, 'expected-failures.yml');

/**
 * Every scenario about what this server offers. The others ask for what it does not: fixture tools,
 * prompts and resources of the suite's own example server, sessions, subscriptions and completions.
 */
const SCENARIOS = {
  '2025-11-25': [
    ...['server-initialize', 'ping', 'logging-set-level', 'dns-rebinding-protection'],
    ...['tools-list', 'prompts-list', 'resources-list'],
  ],
  '2026-07-28': [
    ...['server-stateless', 'http-header-validation', 'dns-rebinding-protection', 'caching'],
    ...['tools-list', 'prompts-list', 'resources-list', 'sep-2164-resource-not-found'],
    'input-required-result-unsupported-methods',
    'input-required-result-validate-input',
  ],
};

let service: TestService;
let proxy: Awaited<ReturnType<typeof startKeyProxy>>;
/**
 * Away from the project, so that npm takes the named versions and not what stands in node_modules.
 */
let elsewhere: string;
beforeAll(async () => {
  service = await startTestService();
  proxy = await startKeyProxy(`${service.url}/mcp`, (await service.account()).key);
  elsewhere = mkdtempSync(join(tmpdir(), 'sandmartin-official-'));
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
  rmSync(elsewhere, { recursive: true, force: true });
});

describe.each(Object.entries(SCENARIOS))('conformance, %s', (revision, scenarios) => {
  it.each(scenarios)('%s', async (scenario) => {
    const { code, output } = await npmExec(CONFORMANCE, [
      ...['conformance', 'server', '--url', proxy.url, '--scenario', scenario],
      ...['--spec-version', revision, '--expected-failures', EXPECTED_FAILURES],
    ]);
    expect(code, output.slice(-4000)).toBe(0);
    expect(output).toMatch(/\d+ passed|Passed: \d+/i);
  });
});

it.each(['/mcp', '/v1/mcp'])(
  'the inspector lists the tools at %s and finds nothing that a model provider would refuse',
  async (path) => {
    const { key } = await service.account({ scopes: ALL_SCOPES });
    const { code, output } = await npmExec(INSPECTOR, [
      ...['mcp-inspector', '--cli', `${service.url}${path}`, '--transport', 'http'],
      ...['--header', `X-API-Key: ${key}`, '--method', 'tools/list', '--strict'],
    ]);
    expect(code, output.slice(-4000)).toBe(0);
    expect(output).toContain('"name": "send_email"');
    // It sums up what it found; where it found nothing, it says nothing.
    expect(output).not.toMatch(/\d+ errors?, \d+ warnings?/);
  },
);

function npmExec(
  program: string,
  command: string[],
): Promise<{ code: number | null; output: string }> {
  const packages = [program, ...borrowedNode()].flatMap((name) => ['--package', name]);
  const child = spawn('npm', ['exec', '--yes', ...packages, '--', ...command], { cwd: elsewhere });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

function borrowedNode(): string[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 19)) return [];
  if (process.platform !== 'linux') throw new Error('use Node 22.19 or newer for npm run test:mcp');
  return [`node-linux-${process.arch}@24.21.0`];
}
