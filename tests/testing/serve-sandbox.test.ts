// sandmartin serve --sandbox: one line of JSON, a mailbox that works, and nothing left when who
// started it is gone, whatever way that went.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { openMailbox, waitForEmail } from '../../src/testing/mailbox.ts';
import { blockOf, ROOT } from '../support/docs.ts';
import { anEmail, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const PROGRAM = join(ROOT, 'bin/sandmartin.js');
const { BASE_URL: _theirs, ...rest } = process.env;

/** A folder of temporary files, and what is started with it. */
function openFolder({ onTestFinished }: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'serve-sandbox-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // What the shell happens to have set must not matter.
  const env = { ...rest, TMPDIR: folder, DATABASE_URL: 'postgres://nobody.example/', PORT: '1' };
  const folders = () => readdirSync(folder).filter((it) => it.startsWith('sandmartin-'));
  return {
    ...{ folder, env, folders },
    nothingLeft: () => until(() => folders().length === 0),
    start: (...words: string[]) =>
      spawn(process.execPath, [PROGRAM, ...words], {
        ...{ env, stdio: ['ignore', 'pipe', 'inherit'] },
      }),
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  let output = '';
  child.stdout!.on('data', (chunk) => {
    output += chunk;
  });
  return await until(() => (output.includes('\n') ? output : undefined));
}

const isUp = (url: string) =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );

it.concurrent('prints where it is and a test key, on one line; SIGTERM removes all, and the next what a killed run left', async (test) => {
  const { folders, nothingLeft, start } = openFolder(test);
  const [npx, sandmartin, ...words] = blockOf('docs/testing.md', 'npx sandmartin serve')
    .trim()
    .split(' ');
  expect([npx, sandmartin]).toEqual(['npx', 'sandmartin']);
  const killed = start(...words);
  const shown = JSON.parse(blockOf('docs/testing.md', '{"base_url"'));
  expect(JSON.parse(await firstLine(killed))).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    api_key: expect.stringMatching(/^sm_test_\w{40}$/),
    senders: shown.senders,
  });
  expect(Object.keys(shown)).toEqual(['base_url', 'api_key', 'senders']);
  const [left] = folders();
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  expect(folders()).toEqual([left]);

  const child = start('serve', '--sandbox', '--sender', 'example.com', '--sender', 'b.example');
  const exited = once(child, 'exit');
  const line = await firstLine(child);
  expect(folders()).toHaveLength(1);
  expect(folders()).not.toEqual([left]);
  const told = JSON.parse(line);
  expect(line.trimEnd()).not.toContain('\n');
  expect(told).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    api_key: expect.stringMatching(/^sm_test_\w{40}$/),
    senders: ['example.com', 'b.example'],
  });
  const { base_url: baseUrl, api_key: apiKey } = told;
  const send = (fields: Record<string, unknown>) =>
    request(`${baseUrl}/v1/send`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify(anEmail(fields)),
    });
  const before = await send({
    to: ['ada@example.net'],
    subject: 'Code',
    text: 'Your code is 111111',
  });
  expect(before.status).toBe(202);
  // By itself it sees what came since the process started, each email once.
  const first = await waitForEmail({ baseUrl, apiKey, to: 'ada@example.net' });
  expect(first.codes).toEqual(['111111']);
  const mailbox = await openMailbox({ baseUrl, apiKey });
  const second = mailbox.waitForEmail({ to: 'ada@example.net', subject: 'code' });
  await send({ to: ['ada@example.net'], subject: 'Code', text: 'Your code is 222222' });
  expect((await second).codes).toEqual(['222222']);
  const again = await waitForEmail({ baseUrl, apiKey, to: 'ada@example.net' });
  expect(again.codes).toEqual(['222222']);
  await expect(mailbox.waitForEmail({ to: 'bob@example.net', timeoutMs: 300 })).rejects.toThrow(
    /^No email to bob@example\.net arrived within 0\.3 s\. What arrived instead: "Code" to ada/,
  );
  await mailbox.clear();
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await nothingLeft();
});

it.concurrent.for([
  ['killed', 'node'],
  ['killed behind npm and its shell', 'npm'],
])('ends with who started it, also %s', async ([, way], test) => {
  const { folder, env, nothingLeft } = openFolder(test);
  const started = [process.execPath, PROGRAM, 'serve', '--sandbox'];
  const typed = started.map((word) => `"${word}"`).join(' ');
  // What npm exec does: a process called npm, that starts a shell, that starts the command, and
  // stays until that is over. It must not outlive the test: it holds the worker's standard error.
  const script =
    way === 'node'
      ? `require('node:child_process').spawn(${JSON.stringify(started[0])}, ${JSON.stringify(started.slice(1))}, { stdio: 'inherit' }); setInterval(() => {}, 1000);`
      : `const npm = "process.title = 'npm exec'; require('node:child_process').spawn('/bin/sh', ['-c', '" + ${JSON.stringify(typed)} + "; true'], { stdio: 'inherit' });";
         require('node:child_process').spawn(process.execPath, ['-e', npm], { stdio: 'inherit' }); setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['-e', script], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { base_url: url } = JSON.parse(await firstLine(parent));
  expect(await isUp(url)).toBe(true);
  parent.kill('SIGKILL');
  await until(async () => !(await isUp(url)));
  await nothingLeft();
  expect(existsSync(folder)).toBe(true);
});

it.concurrent('a start that fails leaves nothing behind', async (test) => {
  const { env, nothingLeft } = openFolder(test);
  const args = [PROGRAM, 'serve', '--sandbox'];
  const failing = [
    { args, env: { ...env, SMTP_PORT: 'none' } },
    { args: [...args, '--sender', 'no domain@'], env },
  ];
  for (const { args, env } of failing) {
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    expect(code).not.toBe(0);
    await nothingLeft();
  }
});
