// The Python snippet of docs/testing.md, run as it stands there: it waits for an email that its
// program sends, and reads the code.
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/keys.ts';
import { TEST_SCOPES } from '../../src/accounts/scopes.ts';
import { systemClock } from '../../src/process/clock.ts';
import { blockOf, substituted } from '../support/docs.ts';
import { startTestService, type TestService } from '../support/service.ts';

const snippet = blockOf('docs/testing.md', 'import os, requests');

/** What the snippet calls and leaves to its reader: a program that sends a code. */
const SIGN_UP = `
import requests as program

def sign_up(to):
    email = {"from_email": "hello@example.com", "to": [to], "template": "one-time-code", "variables": {"code": "482 913"}}
    answer = program.post(os.environ["SANDMARTIN_URL"] + "/v1/send", json=email, headers=KEY)
    assert answer.status_code == 202, answer.text
`;

const isMissing = (() => {
  try {
    execFileSync('python3', ['-c', 'import requests'], { stdio: 'ignore' });
    return false;
  } catch {
    process.stderr.write('\n*** PYTHON SNIPPET SKIPPED: pip install requests\n\n');
    return true;
  }
})();

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

it.skipIf(isMissing)('finds the code, and no stale one', async () => {
  const { id } = await service.account();
  const { key } = await createKey(service.database, systemClock, {
    ...{ accountId: id, scopes: TEST_SCOPES, limits: { sandboxOnly: true } },
  });
  await service.send(key, {
    from_email: 'hello@example.com',
    to: ['ada@people.example'],
    template: 'one-time-code',
    variables: { code: '111 111' },
  });
  const { stdout } = await promisify(execFile)(
    'python3',
    [
      '-c',
      `${substituted(snippet, { 'after = newest()': `${SIGN_UP}\nafter = newest()` })}\nprint(code)`,
    ],
    { env: { ...process.env, SANDMARTIN_URL: service.url, SANDMARTIN_API_KEY: key } },
  );
  expect(stdout.trim()).toBe('482913');
});
