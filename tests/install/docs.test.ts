// Every command that README and docs/ tell people to type does what the page says: each block of
// commands is run here unchanged, in bash, against a service of its own; or it is listed with the
// test that runs it. A new block in neither list fails.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerCommands } from '../../src/cli/commands.ts';
import { runInProcess } from '../support/command.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin docs '));
const tools = join(folder, 'tools');
const SECRET_KEY = 'only-for-this-test-0123456789abcdef';

interface Block {
  page: string;
  text: string;
  /** `page: first command` */
  name: string;
}

const COMMAND =
  /^(?:\$ )?(?:[A-Z_]+=\S+ +)*(?:npx|npm|node|curl|docker|export|cp|claude|useradd|git|sandmartin)\b/m;

const blocks: Block[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
]
  .filter((page) => page.endsWith('.md'))
  .flatMap((page) => {
    const fences = readFileSync(join(ROOT, page), 'utf8').matchAll(
      /^ *```(.*)\n([\s\S]*?)^ *```$/gm,
    );
    return [...fences].flatMap(([, language, text]) => {
      const first = COMMAND.exec(text!);
      if (first === null || (language !== '' && language !== 'sh')) return [];
      const line = text!
        .slice(first.index)
        .split('\n')[0]!
        .replace(/ {2,}.*| \\$/, '');
      return [{ page, text: text!, name: `${page}: ${line}` }];
    });
  });

/** What is run by other tests, because it installs, needs other machines, or takes long. */
const ELSEWHERE: Record<string, string> = {
  'README.md: npm ci && npm start': 'tests/install/checkout.test.ts',
  'README.md: export DATABASE_URL=postgres://…': 'tests/integration/doctor-setup.test.ts',
  'CONTRIBUTING.md: npm ci && npm test': '.ci/run',
  'docs/dashboard.md: npm start': 'tests/browser/dashboard.ts',
  'docs/install.md: npm install sandmartin': 'tests/install/package.test.ts',
  'docs/install.md: npm ci && npm start': 'tests/install/checkout.test.ts',
  'docs/install.md: docker build -t sandmartin .': 'scripts/container-check.sh',
  'docs/install.md: docker exec CONTAINER sandmartin doctor': 'scripts/container-check.sh',
  'docs/install.md: cp deploy/production.env.example deploy/production.env':
    'tests/install/deploy.test.ts',
  'docs/install.md: useradd --system --home-dir /var/lib/sandmartin --shell /usr/sbin/nologin sandmartin':
    'tests/install/deploy.test.ts',
  'docs/mcp.md: claude mcp add --transport http sandmartin http://127.0.0.1:3000/mcp --header "X-API-Key: sm_live_…"':
    'tests/mcp/agents.test.ts',
  'docs/performance.md: npm ci && npm run build': 'tests/bench/against.test.ts',
  'docs/performance.md: LOG_LEVEL=error node --cpu-prof --cpu-prof-dir=profiles bin/sandmartin.js serve & pid=$!':
    'tests/bench/profile.test.ts',
  'docs/quickstart.md: npm ci && npm start': 'tests/install/checkout.test.ts',
  'docs/quickstart.md: export RELAY_URL=smtp://user:password@smtp.example.com:587 BOUNCE_DOMAIN=bounces.acme.example BASE_URL=https://mail.acme.example':
    'tests/integration/doctor-setup.test.ts',
  'docs/scale.md: ROLES=api': 'tests/integration/roles.test.ts',
  'docs/scale.md: npx sandmartin database distribute --dry-run': 'tests/citus/cluster.test.ts',
  'docs/smtp.md: SMTP_PORT=587 SMTPS_PORT=465 SMTP_HOST=0.0.0.0 TLS_CERT=/etc/tls/fullchain.pem TLS_KEY=/etc/tls/privkey.pem npx sandmartin serve':
    'tests/submission/judges.test.ts',
  'docs/testing.md: npx sandmartin serve --sandbox --sender acme.example':
    'tests/testing/serve-sandbox.test.ts',
};

/** Says what is missing, and ends with 1: nobody has published the records yet. */
const NOT_YET = 'docs/deliverability.md: npx sandmartin identity check example.com';

/** In this order; what one makes another uses. The answer must say so. */
const HERE: [name: string, says: RegExp][] = [
  [
    "README.md: $ curl -sS http://127.0.0.1:3000/v1/send -H 'X-API-Key: sm_live_…' -H 'Content-Type: application/json'",
    /"status":"queued"[\s\S]*"sm_mail_id"/,
  ],
  ['docs/quickstart.md: npx sandmartin sandbox list', /My first email[\s\S]*delivered/],
  [
    'docs/quickstart.md: npx sandmartin account create --name "Acme" --plan paid',
    /\b2\b[\s\S]*acme\.example[\s\S]*sm_live_\w+/,
  ],
  ['docs/sandbox.md: npx sandmartin sandbox list', /My first email[\s\S]*deleted/],
  [
    'docs/deliverability.md: npx sandmartin identity add example.com --account 1',
    /_domainkey\.example\.com[\s\S]*sm-bounces\.example\.com/,
  ],
  [NOT_YET, /_dmarc\.example\.com/],
  ['docs/deliverability.md: npx sandmartin identity rotate example.com --account 1', /_domainkey/],
  [
    'docs/deliverability.md: npx sandmartin account set 1 --track-opens off --track-clicks on --one-click-unsubscribe on',
    /off/,
  ],
  [
    'docs/mcp.md: npx sandmartin key create --account 1 --name "support agent" --scope email:send --scope email:read',
    /sm_live_\w+/,
  ],
  [
    'docs/mcp.md: curl -sS "$SANDMARTIN_URL/mcp" -H "X-API-Key: $SANDMARTIN_API_KEY" -H \'Content-Type: application/json\'',
    /receipt/,
  ],
  [
    'docs/streams.md: npx sandmartin stream put product-news --account 1 --kind broadcast',
    /product-news/,
  ],
  [
    "docs/streams.md: curl -X POST $BASE_URL/v1/send -H \"X-API-Key: $KEY\" -H 'Content-Type: application/json' -d '{",
    /"status":"queued"/,
  ],
  [
    'docs/api.md: curl -X PATCH $URL/v1/messages/msg_… -H "X-API-Key: $KEY" -H \'content-type: application/json\' -d \'{"scheduled_at": "2026-11-20T09:00:00+01:00"}\'',
    /scheduled_at[\s\S]*cancelled_at/,
  ],
  ['docs/templates.md: npx sandmartin template clone order-shipped --account 1', /<h1>Mine<\/h1>/],
  [
    'docs/webhooks.md: npx sandmartin webhook add --account 1 --url https://app.example.com/hooks/mail --event delivery --event bounce',
    /whsec_[\w+/]+=*/,
  ],
  ['docs/webhooks.md: npx sandmartin webhook replay whd_01KA3M8Q2V7W9X4Y6Z8ABCDEFG', /deliver/],
  ['docs/operations.md: export BACKUP_PASSPHRASE="$(openssl rand -base64 24)"', /backup/],
  ['docs/operations.md: export DATA_DIR=/var/lib/sandmartin-new', /restored/i],
  [
    'docs/operations.md: export OLD_SECRET_KEY=$SECRET_KEY SECRET_KEY=$(openssl rand -base64 48)',
    /are sealed with the new secret/,
  ],
];

describe('blocks of commands', () => {
  it('are all run, here or by the test that is named', () => {
    const known = [...HERE.map(([name]) => name), ...Object.keys(ELSEWHERE)];
    expect(blocks.map(({ name }) => name).sort()).toEqual(known.sort());
    for (const file of Object.values(ELSEWHERE))
      expect(existsSync(join(ROOT, file)), file).toBe(true);
  });

  it('name scripts and files that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const { page, text } of blocks) {
      for (const [, script] of text.matchAll(
        /npm (?:run )?((?:test|bench|start|build|[a-z]+:[a-z]+)\b[\w:]*)/g,
      ))
        expect(scripts, `${page}: npm run ${script}`).toHaveProperty([script!]);
      for (const [path] of text.matchAll(/\b(?:tests|deploy|scripts|bench)\/[\w./-]+/g))
        expect(
          existsSync(join(ROOT, path)) ||
            path === 'bench/results.json' ||
            path === 'deploy/production.env',
          `${page}: ${path}`,
        ).toBe(true);
    }
  });
});

describe('run as they stand', () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let program: Server;
  /** What stands on the page for something of the reader's own. */
  const own = new Map<string | RegExp, string>();

  beforeAll(async () => {
    mkdirSync(tools);
    // `npx sandmartin …` hands its words to this process, where a command takes no second to start.
    program = createServer((request, response) => {
      json(request).then(async (typed) => {
        const { words, env } = typed as { words: string[]; env: Record<string, string> };
        response.end(JSON.stringify(await runInProcess(registerCommands, words.slice(1), env)));
      });
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
    writeFileSync(
      join(folder, 'mine.html'),
      '{% extends "layout.html" %}{% block content %}<h1>Mine</h1>{% endblock %}',
    );
    database = await createTestDatabase({ empty: true });
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
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(HERE)('%s', async (name, says) => {
    await prepare(name);
    const { text } = blocks.find((block) => block.name === name)!;
    const typed = text.startsWith('$ ') ? commandsAfterPrompts(text) : [text];
    let said = '';
    for (const command of typed) {
      const { code, output } = await typeIn(ownWords(command), name);
      expect(code, output).toBe(name === NOT_YET ? 1 : 0);
      said += output;
      const id = /"id":"(msg_\w+)"/.exec(output)?.[1];
      if (id !== undefined) own.set(/msg_(?:…|01M7EM6TXECDJHFH06WYMKDM9R)/g, id);
    }
    expect(said).toMatch(says);
  });

  /** What the page takes for granted at that place. */
  async function prepare(name: string): Promise<void> {
    if (name.includes('sandbox list')) {
      await until(async () => (await message()).status === 'delivered');
    } else if (name.includes('curl -X PATCH')) {
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
      own.set('2026-11-20T09:00:00+01:00', tomorrow);
      await send({ scheduled_at: tomorrow });
    } else if (name.includes('webhook replay')) {
      await send({});
      await until(async () => {
        const { output } = await typeIn('npx sandmartin webhook deliveries --account 1', name);
        const found = /whd_\w+/.exec(output)?.[0];
        if (found !== undefined) own.set('whd_01KA3M8Q2V7W9X4Y6Z8ABCDEFG', found);
        return found !== undefined;
      });
      const { output } = await typeIn('npx sandmartin webhook list --account 1', name);
      own.set('whe_01KA3M8Q2V7W9X4Y6Z8ABCDEFG', /whe_\w+/.exec(output)![0]);
    }
  }

  const key = () => own.get('sm_live_…')!;
  const headers = () => ({ 'x-api-key': key(), 'content-type': 'application/json' });
  const messageId = () => [...own].find(([page]) => page instanceof RegExp)![1];

  async function message(): Promise<{ status: string }> {
    const answer = await fetch(`${service.url}/v1/messages/${messageId()}`, { headers: headers() });
    return (await answer.json()) as { status: string };
  }

  async function send(fields: Record<string, unknown>): Promise<void> {
    const body = {
      from_email: 'hello@demo.example',
      to: ['ada@example.com'],
      subject: 'Hi',
      text: 'Hi',
    };
    const answer = await fetch(`${service.url}/v1/send`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ ...body, ...fields }),
    });
    const { id } = (await answer.json()) as { id: string };
    own.set([...own.keys()].find((page) => page instanceof RegExp)!, id);
  }

  const ownWords = (text: string): string =>
    [...own].reduce((known, [page, mine]) => known.replaceAll(page, () => mine), text);

  /** In a shell of a reader who has set what the pages call by name. */
  function typeIn(command: string, name: string): Promise<{ code: number | null; output: string }> {
    const { BASE_URL: _theirs, ...env } = process.env;
    const child = spawn('bash', ['-euo', 'pipefail', '-c', command], {
      cwd: folder,
      env: {
        ...env,
        PATH: `${tools}:${env.PATH}`,
        ...(name.includes('DATA_DIR') ? {} : { DATABASE_URL: database.url }),
        ...{ SECRET_KEY, KEY: key(), SANDMARTIN_API_KEY: key() },
        ...{ URL: service.url, BASE_URL: service.url, SANDMARTIN_URL: service.url },
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
});

/** `$ command`, which may go on over lines that end in a backslash; the rest is what it answers. */
const commandsAfterPrompts = (text: string): string[] =>
  [...text.matchAll(/^\$ ((?:.*\\\n)*.*)/gm)].map(([, command]) => command!);
