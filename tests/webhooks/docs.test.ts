// docs/webhooks.md: its examples have the shape of the events, and its receivers run, in each
// language that is installed.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_KINDS, SUBSCRIPTION } from '../../src/events/kinds.ts';
import { addressGuard, guardedAgent } from '../../src/webhooks/address-guard.ts';
import { EVERY_HOOK_TYPE } from '../../src/webhooks/event-body.ts';
import { postWebhook } from '../../src/webhooks/post.ts';
import { attemptHeaders, newSecret } from '../../src/webhooks/sign.ts';
import { announceSkip } from '../support/browser.ts';
import { blocksOf, substituted } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { until } from '../support/until.ts';

const examples = blocksOf('docs/webhooks.md', 'json').map((text) => JSON.parse(text));

describe('the examples', () => {
  it('show every event type once', () => {
    expect(examples.map(({ event_type }) => event_type).sort()).toEqual(
      [...EVERY_HOOK_TYPE].sort(),
    );
  });

  it.each(examples)('$event_type has the fields of its kind and no other', (example) => {
    const kind = Object.values(EVENT_KINDS).find(({ hook }) => hook === example.event_type);
    const timestamp = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    const ofAddress = z.strictObject({ ...SUBSCRIPTION.fields, event_timestamp: timestamp });
    const ofMessage = z.strictObject({
      sm_mail_id: z.string().regex(/^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      message_id: z.string(),
      recipients: z.array(z.email()).min(1),
      tags: z.array(z.string()),
      event_timestamp: timestamp,
      sequence: z.int().min(1),
      ...kind?.fields,
    });
    const payload = kind === undefined ? ofAddress : ofMessage;
    const body = z.strictObject({ event_type: z.string(), user_id: z.int(), payload });
    expect(body.safeParse(example).error).toBeUndefined();
  });
});

describe('the receivers', () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean();
  });

  /** Some programs take their port on the command line. */
  type CommandFor = (port: number) => string[] | Promise<string[]>;

  /** Runs a program from the document and waits until it listens. */
  async function run(commandFor: CommandFor, secret: string) {
    const port = await freePort();
    const [command, ...args] = await commandFor(port);
    const child: ChildProcess = spawn(command!, args, {
      env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (bytes) => {
        output += bytes;
      });
    cleanups.push(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const url = `http://127.0.0.1:${port}/`;
    await until(() => {
      if (child.exitCode !== null) throw new Error(`the receiver ended: ${output}`);
      return fetch(url).then(
        () => true,
        () => false,
      );
    });
    return { url, output: () => output };
  }

  async function program(name: string, text: string) {
    const folder = await mkdtemp(join(tmpdir(), 'sandmartin-doc-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  async function check(commandFor: CommandFor) {
    const secret = newSecret();
    const { url, output } = await run(commandFor, secret);
    const agent = guardedAgent(addressGuard(['127.0.0.1']));
    cleanups.push(() => agent.destroy());
    const send = (eventId: string, body: Buffer, signedWith: string, forged?: object) => {
      const headers = attemptHeaders({
        ...{ eventId, attempt: 1, body, secrets: [signedWith], nowMs: Date.now() },
      });
      return postWebhook(agent, { url, body, headers: { ...headers, ...forged } });
    };
    for (const example of examples) {
      const body = Buffer.from(JSON.stringify({ ...example, user_id: 7, note: 'größe 😀' }));
      expect(await send('evt_forged', body, newSecret())).toMatchObject({ status: 401 });
      const unsigned = { 'x-sm-signature': '' };
      expect(await send('evt_forged', body, secret, unsigned)).toMatchObject({ status: 401 });
      expect(await send('evt_doc', body, secret)).toMatchObject({ ok: true, status: 204 });
      await until(() => output().includes(`evt_doc ${example.event_type}`));
    }
    expect(output()).not.toContain('evt_forged');
  }

  const [withPackage = '', standalone = ''] = blocksOf('docs/webhooks.md', 'js');

  it('for Node with the package', async () => {
    const source = new URL('../../src/webhooks/verify.ts', import.meta.url).href;
    const imported = substituted(withPackage, { "'sandmartin/webhooks'": `'${source}'` });
    const file = await program('receiver.mjs', imported);
    await check(() => [process.execPath, '--import', import.meta.resolve('tsx'), file]);
  });

  it('for Node without it', async () => {
    const file = await program('receiver.mjs', standalone);
    await check(() => [process.execPath, file]);
  });

  const has = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  const without = (language: string, isHere: boolean) => {
    if (!isHere) announceSkip(`${language} is not installed, so its webhook receiver was not run`);
    return !isHere;
  };

  it.skipIf(without('Python', has('python3', '--version')))('for Python', async () => {
    const [text = ''] = blocksOf('docs/webhooks.md', 'python');
    const file = await program('receiver.py', text);
    await check(() => ['python3', file]);
  });

  it.skipIf(without('PHP', has('php', '--version')))('for PHP', async () => {
    const [text = ''] = blocksOf('docs/webhooks.md', 'php');
    const file = await program('receiver.php', text);
    await check((port) => ['php', '-S', `127.0.0.1:${port}`, file]);
  });

  it.skipIf(without('Ruby with Rack', has('ruby', '-e', 'require "rack"; require "webrick"')))(
    'for Ruby',
    async () => {
      const [text = ''] = blocksOf('docs/webhooks.md', 'ruby');
      const file = await program('config.ru', text);
      await check((port) => ['rackup', '--quiet', '-s', 'webrick', '-p', String(port), file]);
    },
  );

  // 464 MB of Debian packages for one page: it runs where Go is there already.
  it.skipIf(without('Go', has('go', 'version')))('for Go', async () => {
    const [text = ''] = blocksOf('docs/webhooks.md', 'go');
    await check(async (port) => {
      const mine = { ':8000': `127.0.0.1:${port}` };
      const source = await program('receiver.go', substituted(text, mine));
      await promisify(execFile)('go', ['build', '-o', `${source}.program`, source]);
      return [`${source}.program`];
    });
  });
});
