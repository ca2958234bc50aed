// docs/webhooks.md: its examples have the shape of the events, and its receivers for Node and
// Python run.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_KINDS, SUBSCRIPTION } from '../../src/events/kinds.ts';
import { addressGuard, guardedAgent } from '../../src/webhooks/address-guard.ts';
import { EVERY_HOOK_TYPE } from '../../src/webhooks/event-body.ts';
import { postWebhook } from '../../src/webhooks/post.ts';
import { attemptHeaders, newSecret } from '../../src/webhooks/sign.ts';

const doc = await readFile(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...doc.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
    (found) => found[1]!,
  );
const examples = blocks('json').map((text) => JSON.parse(text));

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

  /** Runs a program from the document and gives its port, and what it prints after that. */
  async function run(command: string, args: string[], secret: string) {
    const child: ChildProcess = spawn(command, args, {
      env: { ...process.env, PORT: '0', WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let complaints = '';
    child.stderr!.on('data', (bytes) => {
      complaints += bytes;
    });
    cleanups.push(async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    const lines = createInterface(child.stdout!)[Symbol.asyncIterator]();
    const nextLine = async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the receiver ended: ${complaints}`);
      return value as string;
    };
    const port = Number(/^listening on (\d+)$/.exec(await nextLine())?.[1]);
    return { url: `http://127.0.0.1:${port}/`, nextLine };
  }

  async function program(name: string, text: string) {
    const folder = await mkdtemp(join(tmpdir(), 'sandmartin-doc-'));
    cleanups.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, name), text);
    return join(folder, name);
  }

  async function check(command: string, args: string[]) {
    const secret = newSecret();
    const { url, nextLine } = await run(command, args, secret);
    const agent = guardedAgent(addressGuard(['127.0.0.1']));
    cleanups.push(() => agent.destroy());
    const send = (body: Buffer, signedWith: string, forged?: object) => {
      const headers = attemptHeaders({
        eventId: 'evt_doc',
        attempt: 1,
        body,
        secrets: [signedWith],
        nowMs: Date.now(),
      });
      return postWebhook(agent, { url, body, headers: { ...headers, ...forged } });
    };
    for (const example of examples) {
      const body = Buffer.from(JSON.stringify({ ...example, user_id: 7, note: 'größe 😀' }));
      expect(await send(body, newSecret())).toMatchObject({ status: 401 });
      expect(await send(body, secret, { 'x-sm-signature': '' })).toMatchObject({ status: 401 });
      expect(await send(body, secret)).toMatchObject({ ok: true, status: 204 });
      // The first line is that of the right one: the forged ones were not handled.
      expect(await nextLine()).toBe(`evt_doc ${example.event_type} ${example.payload.sm_mail_id}`);
    }
  }

  const [withPackage = '', standalone = ''] = blocks('js');

  it('for Node with the package', async () => {
    const source = new URL('../../src/webhooks/verify.ts', import.meta.url).href;
    const imported = withPackage.replace("'sandmartin/webhooks'", `'${source}'`);
    expect(imported).not.toBe(withPackage);
    await check(process.execPath, [
      '--import',
      import.meta.resolve('tsx'),
      await program('receiver.mjs', imported),
    ]);
  });

  it('for Node without it', async () => {
    await check(process.execPath, [await program('receiver.mjs', standalone)]);
  });

  it('for Python', async (test) => {
    if (spawnSync('python3', ['--version']).status !== 0) {
      console.log('skipped: python3 is not installed, so the Python receiver was not run');
      test.skip();
    }
    const [text = ''] = blocks('python');
    await check('python3', [await program('receiver.py', text)]);
  });

  it('exist for Go, PHP and Ruby', () => {
    expect(['go', 'php', 'ruby'].map((language) => blocks(language).length)).toEqual([1, 1, 1]);
  });
});
