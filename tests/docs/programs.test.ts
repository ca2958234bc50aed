// The TypeScript of the pages compiles against the package's own types, and what sends is run, and
// sends. (The tests for Playwright run in tests/testing/example.test.ts.)
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../src/accounts/scopes.ts';
import { blockOf, ROOT, substituted } from '../support/docs.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** A project of a reader, in which `sandmartin` is this checkout. */
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-programs-'));
const OURS = {
  'sandmartin/client': join(ROOT, 'src/client/sandmartin.ts'),
  'sandmartin/testing': join(ROOT, 'src/testing/mailbox.ts'),
};
let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startTestService();
  ({ key } = await service.account({ scopes: ALL_SCOPES, identities: ['acme.example'] }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...{ target: 'es2023', module: 'nodenext', strict: true, noEmit: true, jsx: 'react-jsx' },
        ...{ skipLibCheck: true, allowImportingTsExtensions: true, types: ['node'] },
        paths: Object.fromEntries(Object.entries(OURS).map(([name, file]) => [name, [file]])),
      },
      include: ['*.ts', '*.tsx'],
    }),
  );
  writeFileSync(
    join(folder, 'vitest.config.js'),
    `export default { test: { alias: ${JSON.stringify(OURS)} } };`,
  );
  for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(folder, name), text());
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** By the name of the file; what the page leaves to its reader stands before it. */
const PROGRAMS: Record<string, () => string> = {
  'client.ts': () =>
    substituted(blockOf('docs/api.md', 'import { Sandmartin }'), {
      'https://mail.example.com': service.url,
    }),
  'resend.tsx': () =>
    `const Welcome = ({ name }: { name: string }) => <p>Welcome, {name}!</p>;\n${substituted(
      blockOf('docs/resend.md', 'import { Resend }'),
      { 'https://mail.example.com': service.url },
    )}`,
  'playwright.ts': () =>
    blockOf('docs/testing.md', "import { test as base, expect } from '@playwright"),
  'set-up.ts': () => blockOf('docs/testing.md', 'import { startSandbox }'),
  'invites.test.ts': () =>
    `${blockOf('docs/testing.md', "import { test as base } from 'vitest'")}
import { Sandmartin } from 'sandmartin/client';

async function invite(to: string) {
  const { SANDMARTIN_URL: baseUrl, SANDMARTIN_API_KEY: apiKey } = process.env;
  const html = '<p>You are invited. <a href="https://acme.example/join/4711">Join</a></p>';
  await new Sandmartin({ baseUrl: baseUrl!, apiKey: apiKey! }).send({
    ...{ from_email: 'hello@acme.example', to: [to], subject: 'An invitation', html },
  });
}
`,
};

const run = async (program: string, ...words: string[]): Promise<string> => {
  const env = {
    ...{ PATH: process.env.PATH, SANDMARTIN_KEY: key },
    ...{ SANDMARTIN_API_KEY: key, SANDMARTIN_URL: service.url },
  };
  const done = promisify(execFile)(program, words, { cwd: folder, env });
  const { stdout, stderr } = await done.catch((error) => {
    throw new Error(`${words.join(' ')} failed:\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
};
const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);

it('compiles', async () => {
  expect(await run(bin('tsc'), '-p', folder)).toBe('');
});

it.each(['client.ts', 'resend.tsx'])('%s sends', async (file) => {
  const before = await sent();
  await run(process.execPath, '--import', import.meta.resolve('tsx'), file);
  expect((await sent()) - before).toBe(1);
});

it('a test for Vitest finds its email', async () => {
  expect(await run(bin('vitest'), 'run', '--root', folder, 'invites')).toMatch(/1 passed/);
});

async function sent(): Promise<number> {
  const { body } = await service.get(key, '/v1/messages');
  return body.data.length;
}
