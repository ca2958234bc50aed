// Every command that README and docs/ tell people to type does what the page says: each block is
// run here unchanged, in bash, against a service of its own, and so are the emails and templates
// that the pages show. What other tests run, they read from the pages too (accounted.test.ts).
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerCommands } from '../../src/cli/commands.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { blockOf, ROOT, substituted } from '../support/docs.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type Answer, request } from '../support/service.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin docs '));
const tools = join(folder, 'tools');
const SECRET_KEY = 'only-for-this-test-0123456789abcdef';

let database: TestDatabase;
/** Of an installation without SECRET_KEY, for its backup. */
let unsealed: TestDatabase;
let service: ServiceProcess;
let program: Server;
/** What stands on the page for something of the reader's own. */
const own = new Map<string | RegExp, string>();
/** Of the account that docs/quickstart.md creates: it may send from acme.example. */
let acmeKey: string;

interface Typed {
  block: string;
  /** What the commands print; each in its place. */
  says: RegExp;
  /** What the page takes for granted at that place. */
  before?: () => unknown;
  /** What the page says is so afterwards. */
  after?: (said: string) => unknown;
  /** What is typed behind it, in the same shell. */
  apart?: string;
  env?: () => Record<string, string>;
  /** One of its commands ends with 1. */
  fails?: true;
}

/** In this order; what one makes another uses. */
const HERE: Typed[] = [
  {
    block: blockOf('README.md', '$ curl'),
    says: /^\{"id":"(msg_\w{26})","status":"queued"\}\{"sm_mail_id":"\1","user_id":"1","status":"(?:queued|sent|delivered)"/,
    after: async () => {
      await until(async () => (await message()).body.status === 'delivered');
      const [, timeline] = answersIn(blockOf('README.md', '$ curl'));
      const { body } = await message();
      expect(shapeOf(body)).toEqual(shapeOf(timeline));
      expect(body.events.map(({ type }: { type: string }) => type)).toEqual(['sent', 'delivered']);
    },
  },
  {
    block: blockOf('docs/quickstart.md', 'npx sandmartin sandbox list'),
    says: /^ID .*\nsbx_\w+ +(msg_\w+) +ada@example\.com[\s\S]*\nSubject: My first email\r?\n[\s\S]*\n<h1>It works!<\/h1>[\s\S]*\n\1 {2}delivered\n[\s\S]* queued\n.* sent .*\n.* delivered /,
  },
  {
    block: blockOf('docs/quickstart.md', 'npx sandmartin account create'),
    says: /^Account 2 \(Acme\) was created\.[\s\S]*acme\.example is verified: account 2 may send from it\.[\s\S]*\nsm_live_\w+\n/,
    after: async (said) => {
      acmeKey = /^sm_live_\w+$/m.exec(said)![0];
      const sent = await send({ from_email: 'hello@acme.example' }, acmeKey);
      expect(sent.status).toBe(202);
    },
  },
  {
    block: blockOf('docs/sandbox.md', 'npx sandmartin sandbox list'),
    before: async () => {
      const { id } = (await send({ subject: 'The newest' })).body;
      await until(async () => (await typeIn('npx sandmartin sandbox list')).output.includes(id));
    },
    says: /^ID .*\nsbx_\w+ +msg_[\s\S]*\nSubject: The newest\r?\n[\s\S]*\n\d emails were deleted\.\n$/,
    after: async () => {
      expect((await typeIn('npx sandmartin sandbox list')).output).not.toContain('sbx_');
    },
  },
  {
    block: blockOf('docs/deliverability.md', 'npx sandmartin identity add'),
    says: /^ownership\n {2}_sandmartin\.example\.com {2}TXT\n {2}sandmartin-verification=\w+\n\ndkim-rsa\n {2}sm\w+-r\._domainkey\.example\.com {2}TXT\n {2}v=DKIM1; k=rsa; p=\S{300,}\n\ndkim-ed25519\n {2}sm\w+-e\._domainkey\.example\.com {2}TXT\n {2}v=DKIM1; k=ed25519; p=\S+\n\nspf\n {2}example\.com {2}TXT\n {2}v=spf1 include:\S+ ~all\n\ndmarc\n {2}_dmarc\.example\.com {2}TXT\n {2}v=DMARC1; p=none\n\nreturn-path\n {2}sm-bounces\.example\.com {2}CNAME\n/m,
  },
  {
    // Nobody has published the records: the check says so of each, and ends with 1.
    block: blockOf('docs/deliverability.md', 'npx sandmartin identity check'),
    fails: true,
    says: /FAULT {2}ownership .*\n +\S.*\n +expected {2}(sandmartin-verification=\w+)[\s\S]*FAULT {2}return-path[\s\S]*\nownership\n {2}_sandmartin\.example\.com {2}TXT\n {2}\1\n/,
  },
  {
    block: blockOf('docs/deliverability.md', 'npx sandmartin identity rotate'),
    says: /\ndkim-rsa-next\n {2}sm\w+-r\._domainkey\.example\.com [\s\S]*\ndkim-ed25519-next\n {2}sm\w+-e\._domainkey\.example\.com /,
  },
  {
    block: blockOf('docs/deliverability.md', 'npx sandmartin account set'),
    says: /\nOpens off, clicks on, one-click unsubscribe on,/,
    after: async () => {
      await send({ html: '<a href="https://a.example/">a</a>' });
      const raw = await captured();
      expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
      expect(raw).toContain(`<a href="${service.url}/`);
      expect(raw).not.toContain('<img');
    },
  },
  {
    block: blockOf('docs/mcp.md', 'npx sandmartin key create'),
    says: /^sm_live_\w+\n/,
    after: async (said) => {
      const agent = /^sm_live_\w+$/m.exec(said)![0];
      const fields = { template: 'welcome', variables: { action_url: 'https://demo.example/' } };
      const bySlug = {
        ...fields,
        subject: undefined,
        text: undefined,
        from_email: 'no-reply@demo.example',
      };
      expect((await send(bySlug, agent)).status).toBe(202);
      for (const [refused, rule] of [
        [{}, 'templates_only'],
        [{ ...bySlug, to: ['ada@elsewhere.example'] }, 'allowed_recipients'],
        [{ ...bySlug, bcc: ['bob@example.com'] }, 'bcc'],
      ] as const) {
        const { status, body } = await send(refused, agent);
        expect({ status, detail: body.detail }).toEqual({
          ...{ status: 403, detail: expect.stringContaining(rule) },
        });
      }
    },
  },
  {
    block: blockOf('docs/streams.md', 'npx sandmartin stream put'),
    says: /^product-news is a broadcast stream, "Product news"\. Recipients can leave it\.\n$/,
  },
  {
    block: blockOf('docs/streams.md', 'curl -X POST'),
    says: /\{"id":"msg_\w{26}","status":"queued"\}$/,
    after: async () => {
      const raw = await captured();
      expect(raw).toMatch(/^Feedback-ID: inline:product-news:/m);
      expect(raw).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m);
    },
  },
  {
    block: blockOf('docs/api.md', 'curl -X PATCH'),
    before: async () => {
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      own.set('2026-11-20T09:00:00+01:00', tomorrow);
      await send({ scheduled_at: new Date(Date.now() + 2 * 86_400_000).toISOString() });
    },
    says: /"status":"queued","scheduled_at":"([^"]+)"\}[\s\S]*"scheduled_at":"\1","cancelled_at":"/,
    after: async () => {
      expect((await message()).body).toMatchObject({
        scheduled_at: own.get('2026-11-20T09:00:00+01:00'),
        events: [],
      });
    },
  },
  {
    block: blockOf('docs/templates.md', 'npx sandmartin template clone'),
    before: () =>
      writeFileSync(
        join(folder, 'mine.html'),
        '{% extends "layout.html" %}{% block content %}<h1>Mine</h1>{% endblock %}',
      ),
    says: /^Account 1 now has "order-shipped", a copy of order-shipped, in use as version 1\.\nVersion 2 of "order-shipped" is saved as a draft\..*\n\{\n {2}"subject": "Your order [\s\S]*<h1>Mine<\/h1>[\s\S]*\n\}\n"order-shipped" is in use, version 2\.\n"order-shipped" is in use, version 1, newest 2\.\nVERSION .*\n2 .*\n1 .* published\n/,
  },
  {
    block: blockOf('docs/webhooks.md', 'npx sandmartin webhook add'),
    before: async () => {
      own.set('2026-11-14T00:00Z', new Date(Date.now() - 1_000).toISOString());
      await send({ to: ['bounce+before@simulator.test'] });
      await until(async () => (await message()).body.status === 'bounced');
    },
    says: /^whsec_[\w+/]+=*\n/,
    after: async () => {
      const { output } = await typeIn('npx sandmartin webhook list --account 1 --json');
      expect(JSON.parse(output)).toMatchObject([
        { url: 'https://app.example.com/hooks/mail', event_types: ['delivery', 'bounce'] },
      ]);
    },
  },
  {
    block: blockOf('docs/webhooks.md', 'npx sandmartin webhook replay'),
    before: async () => {
      await send({ to: ['bounce+after@simulator.test'] });
      const id = await until(async () => {
        const { output } = await typeIn('npx sandmartin webhook deliveries --account 1');
        return /whd_\w+/.exec(output)?.[0];
      });
      const { output } = await typeIn('npx sandmartin webhook list --account 1');
      own.set('whd_01KA3M8Q2V7W9X4Y6Z8ABCDEFG', id);
      own.set('whe_01KA3M8Q2V7W9X4Y6Z8ABCDEFG', /whe_\w+/.exec(output)![0]);
      own.set('2026-11-15T00:00Z', new Date(Date.now() + 60_000).toISOString());
    },
    // The last one is the bounce from before the endpoint was registered; the other one is pending.
    says: /^1 delivery is sent again\.\n0 deliveries are sent again\.\n1 delivery is sent again\.\n$/,
  },
  {
    block: blockOf('docs/operations.md', 'export BACKUP_PASSPHRASE="$'),
    env: () => ({ DATABASE_URL: unsealed.url, SECRET_KEY: '' }),
    before: async () => {
      const acme =
        'account create --name Acme --plan paid; npx sandmartin identity add a.example --account 1';
      await typeIn(`npx sandmartin ${acme}`, { DATABASE_URL: unsealed.url, SECRET_KEY: '' });
    },
    apart: 'echo "$BACKUP_PASSPHRASE" > passphrase',
    says: /^sandmartin-2026-11-16\.backup: \d+ rows, .*\nIts secrets are sealed: /,
  },
  {
    block: blockOf('docs/operations.md', 'export DATA_DIR'),
    env: () => ({ DATABASE_URL: '', SECRET_KEY: '' }),
    before: () => own.set('BACKUP_PASSPHRASE=…', 'BACKUP_PASSPHRASE=$(cat passphrase)'),
    says: /^Restored \d+ rows of Sandmartin \d+\.\d+\.\d+, as of /,
  },
];

/** It ends the service. */
const LAST: Typed = {
  block: blockOf('docs/operations.md', 'export OLD_SECRET_KEY'),
  says: /^(\d+) sealed values would be sealed with the new secret\.[\s\S]*\nNothing was changed\.\n\1 sealed values are sealed with the new secret\.\n/,
  // "Processes with the old secret … exit with code 1".
  after: () => until(() => service.child.exitCode === 1),
};

beforeAll(async () => {
  mkdirSync(tools);
  // `npx sandmartin …` hands its words to this process, where a command takes no second to start.
  program = createServer((request, response) => {
    json(request)
      .then((typed) => {
        const { words, env } = typed as { words: string[]; env: Record<string, string> };
        return runInProcess(registerCommands, words.slice(1), env);
      })
      // What is not a command.
      .catch((error) => ({ code: 1, stdout: '', stderr: String(error) }))
      .then((result) => response.end(JSON.stringify(result)));
  }).listen(join(tools, 'program'));
  writeFileSync(
    join(tools, 'npx'),
    `#!${process.execPath}
const typed = JSON.stringify({ words: process.argv.slice(2), env: process.env });
const options = { socketPath: __dirname + '/program', method: 'POST' };
require('node:http').request(options, async (response) => {
  const { code, stdout, stderr } = JSON.parse((await response.toArray()).join(''));
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code;
}).end(typed);
`,
    { mode: 0o755 },
  );
  process.chdir(folder);
  database = await createTestDatabase({ empty: true });
  unsealed = await createTestDatabase();
  service = await startProcess({ DATABASE_URL: database.url, SECRET_KEY });
  own.set('http://127.0.0.1:3000', service.url);
  own.set('sm_live_…', /sm_live_\w+/.exec(service.output())![0]);
  own.set('acme.example>', 'demo.example>');
  own.set('/var/lib/sandmartin-new', './restored');
});
afterAll(async () => {
  process.chdir(ROOT);
  program?.close();
  await service?.end('SIGTERM');
  await database?.drop();
  await unsealed?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const followed = async ({
  block,
  says,
  before,
  after,
  env,
  fails,
  apart = '',
}: Typed): Promise<void> => {
  await before?.();
  let said = '';
  for (const command of block.startsWith('$ ') ? commandsAfterPrompts(block) : [block]) {
    // After a command that fails, a reader types the next.
    const { code, output } = await typeIn(
      `${fails ? 'set +e; ' : ''}${command}\n${apart}`,
      env?.(),
    );
    expect(code, output).toBe(0);
    said += output;
    const id = /"id":"(msg_\w+)"/.exec(output)?.[1];
    if (id !== undefined) own.set(MESSAGE, id);
  }
  expect(said).toMatch(says);
  await after?.(said);
};

const firstLine = (block: string): string => block.split('\n')[0]!;

describe('commands', () => {
  it.each(HERE.map((typed) => [firstLine(typed.block), typed] as const))('%s', (_, typed) =>
    followed(typed),
  );
});

describe('emails that the pages show are accepted', () => {
  const ACME = { 'alderfinch.example': 'acme.example' };
  const variables = JSON.parse(
    readFileSync(join(ROOT, 'catalog/orders/order-shipped/sample.json'), 'utf8'),
  );
  const post = (path: string, body: string) =>
    request(`${service.url}${path}`, { method: 'POST', headers: headersOf(acmeKey), body });

  it.each([
    blockOf('docs/api.md', '[{"from_email"'),
    blockOf('docs/api.md', '{"from_email": "hello@acme.example", "template"'),
  ])('as a batch: %s', async (block) => {
    const { status, body } = await post('/v1/send/batch', block);
    expect({ status, body }).toMatchObject({ status: 202, body: { errors: [] } });
    expect(body.data).toHaveLength(2);
  });

  it('with a template', async () => {
    const [call, ...lines] = blockOf('docs/templates.md', 'POST /v1/send').split('\n');
    const body = substituted(lines.join('\n'), ACME);
    expect((await post(call!.split(' ')[1]!, body)).status).toBe(202);
  });

  it('in a language', async () => {
    const block = blockOf('docs/templates.md', '{ "from_email": "hello@acme.example"');
    const body = substituted(block, { '{ … }': JSON.stringify(variables) });
    const { status, body: answer } = await post('/v1/send', body);
    expect({ status, answer }).toMatchObject({ status: 202 });
    expect(await subjectOf(answer.id)).toMatch(/^Ihre Bestellung /);
  });
});

describe('templates that the pages show are rendered', () => {
  const render = async (slug: string, variables: object, ...options: string[]) => {
    writeFileSync(join(folder, 'variables.json'), JSON.stringify(variables));
    const words = [`render ${slug} --account 1 --version 1`, ...options];
    const { code, output } = await typeIn(
      `npx sandmartin template ${words.join(' ')} --variables variables.json`,
    );
    expect(code, output).toBe(0);
    return JSON.parse(output) as { subject: string; html: string; text: string };
  };
  const put = async (slug: string, html: string, more: string) => {
    writeFileSync(join(folder, 'shown.html'), html);
    const { code, output } = await typeIn(
      `npx sandmartin template put ${slug} --account 1 --html shown.html ${more}`,
    );
    expect(code, output).toBe(0);
  };

  it('with the layout and the macros', async () => {
    const block = blockOf('docs/templates.md', '{% extends "layout.html" %}');
    await put('table-ready', block, "--subject 'Table {{ table }}'");
    const email = await render('table-ready', {
      ...{ table: 7, name: 'Ada', until: '20:00', confirm_url: 'https://demo.example/7' },
    });
    expect(email.subject).toBe('Table 7');
    expect(email.text).toMatch(
      /Your table is ready\n=+\n\nHi Ada,\n\nWe are holding it until 20:00\.\n\nI am on my way: https:\/\/demo\.example\/7\n/,
    );
    expect(email.html).toContain('<strong');
  });

  it('with messages', async () => {
    writeFileSync(
      join(folder, 'messages.json'),
      blockOf('docs/templates.md', '{\n  "en": { "subject"'),
    );
    await put(
      'files',
      "<p>{{ t('files', count=n) }}</p>",
      `--subject "{{ t('subject', name=name) }}" --messages messages.json`,
    );
    const in_ = async (locale: string, n: number) => {
      const { subject, text } = await render('files', { name: 'Ada', n }, `--locale ${locale}`);
      return `${subject}: ${text.trim()}`;
    };
    expect(await in_('en', 1)).toBe('Hello Ada: 1 file');
    expect(await in_('pl', 3)).toBe('Cześć Ada: 3 pliki');
    expect(await in_('pl', 5)).toBe('Cześć Ada: 5 plików');
  });
});

it('answers that the pages show are those that openapi.json describes', () => {
  const api = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(api, 'api');
  const check = (path: string, method: string, status: string, answer: unknown) => {
    const words = ['paths', path, method, 'responses', status, 'content', 'application/json'];
    const pointer = [...words, 'schema'].map((word) =>
      encodeURIComponent(word.replaceAll('/', '~1')),
    );
    const isRight = ajv.getSchema(`api#/${pointer.join('/')}`)!;
    expect(isRight(answer), JSON.stringify([answer, isRight.errors])).toBe(true);
  };
  const [queued, timeline] = answersIn(blockOf('README.md', '$ curl'));
  check('/v1/send', 'post', '202', queued);
  check('/v1/messages/{sm_mail_id}', 'get', '200', timeline);
  const shown = blockOf('docs/api.md', '{"sm_mail_id"')
    .replace('msg_…', 'msg_01M7EM6TXECDJHFH06WYMKDM9R')
    .replace('"timestamp": "…"', '"timestamp": "2026-11-15T10:22:34.123456"');
  check('/v1/messages/{sm_mail_id}', 'get', '200', JSON.parse(shown));
});

it(firstLine(LAST.block), () => followed(LAST));

/** The message that was sent last, as the pages call it. */
const MESSAGE = /msg_(?:…|01M7EM6TXECDJHFH06WYMKDM9R)/g;

function headersOf(key = own.get('sm_live_…')!): Record<string, string> {
  return { 'x-api-key': key, 'content-type': 'application/json' };
}

const message = (): Promise<Answer> =>
  request(`${service.url}/v1/messages/${own.get(MESSAGE)}`, { headers: headersOf() });

async function send(fields: Record<string, unknown>, key?: string): Promise<Answer> {
  const email = {
    ...{ from_email: 'hello@demo.example', to: ['ada@example.com'], subject: 'Hi', text: 'Hi' },
    ...fields,
  };
  const answer = await request(`${service.url}/v1/send`, {
    ...{ method: 'POST', headers: headersOf(key), body: JSON.stringify(email) },
  });
  if (answer.body.id !== undefined) own.set(MESSAGE, answer.body.id);
  return answer;
}

/** As the timeline of an email of the second account has it. */
async function subjectOf(id: string): Promise<string> {
  const url = `${service.url}/v1/messages/${id}`;
  return await until(async () => {
    const { body } = await request(url, { headers: headersOf(acmeKey) });
    return body.events[0]?.subject;
  });
}

/** The message that was sent last, as the sandbox has it. */
const captured = (): Promise<string> =>
  until(async () => {
    const { code, output } = await typeIn('npx sandmartin sandbox show msg_…');
    return code === 0 ? output : undefined;
  });

const ownWords = (text: string): string =>
  [...own].reduce((known, [page, mine]) => known.replaceAll(page, () => mine), text);

/** In a shell of a reader who has set what the pages call by name. */
function typeIn(
  command: string,
  changes: Record<string, string> = {},
): Promise<{ code: number | null; output: string }> {
  const { BASE_URL: _theirs, ...env } = process.env;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', ownWords(command)], {
    cwd: folder,
    env: {
      ...env,
      PATH: `${tools}:${env.PATH}`,
      ...{ DATABASE_URL: database.url, SECRET_KEY },
      ...{ KEY: own.get('sm_live_…'), SANDMARTIN_API_KEY: own.get('sm_live_…') },
      ...{ URL: service.url, BASE_URL: service.url, SANDMARTIN_URL: service.url },
      ...changes,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  return new Promise((done) => child.on('close', (code) => done({ code, output })));
}

/** `$ command`, which may go on over lines that end in a backslash; the rest is what it answers. */
const commandsAfterPrompts = (text: string): string[] =>
  [...text.matchAll(/^\$ ((?:.*\\\n)*.*)/gm)].map(([, command]) => command!);

/** What the page shows between the commands. */
const answersIn = (text: string): unknown[] =>
  text
    .split(/^\$ (?:.*\\\n)*.*\n/m)
    .filter((answer) => answer !== '')
    .map((answer) => JSON.parse(answer));

/** The names of all fields, and of what type each is. */
const shapeOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(shapeOf)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, of]) => [name, shapeOf(of)]))
      : typeof value;
