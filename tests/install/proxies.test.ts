// The blocks for nginx and Caddy in docs/install.md, unchanged except for ports, names and TLS, in
// front of a real service.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { announceSkip } from '../support/browser.ts';
import { blockOf, substituted } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { anEmail, request, startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-proxy-'));
const stops: (() => unknown)[] = [];
let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Proxy {
  name: string;
  program: string;
  version: string;
  settings: (port: number, changed?: (block: string) => string) => string[];
}

const NGINX: Proxy = { name: 'nginx', program: '/usr/sbin/nginx', version: '-v', settings: nginx };
const PROXIES: Proxy[] = [
  NGINX,
  { name: 'Caddy', program: 'caddy', version: 'version', settings: caddy },
];

const isHere = ({ program, version }: Proxy) => spawnSync(program, [version]).status === 0;

/** Answers its URL. `changed`: what someone else would have written in its place. */
async function start(
  { program, settings }: Proxy,
  changed?: (block: string) => string,
): Promise<string> {
  const port = await freePort();
  const proxy = spawn(program, settings(port, changed), {
    env: { ...process.env, HOME: folder },
    stdio: 'ignore',
  });
  stops.push(() => proxy.kill('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  await until(() =>
    fetch(`${url}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return url;
}

for (const proxy of PROXIES) {
  const { name } = proxy;
  if (!isHere(proxy)) announceSkip(`${name} is not installed`);

  it.skipIf(!isHere(proxy))(
    `behind ${name}: a body of 19 MB is taken, one that is too large is refused in our words, and a long poll is held`,
    async () => {
      const url = await start(proxy);
      const account = await service.account({ scopes: ['email:send', 'sandbox:read'] });
      const headers = { 'x-api-key': account.key, 'content-type': 'application/json' };
      const send = (megabytes: number) => {
        const content = Buffer.alloc(megabytes * 2 ** 20, 'x').toString('base64');
        return request(`${url}/v1/send`, {
          ...{ method: 'POST', headers },
          body: JSON.stringify(
            anEmail({
              attachments: [
                { filename: 'a.txt', content_type: 'text/plain', content_base64: content },
              ],
            }),
          ),
        });
      };
      const waiting = request(
        `${url}/v1/sandbox/messages?after=1970-01-01T00:00:00Z&to=ada@example.net&wait=60`,
        { headers },
      );
      expect((await send(14)).status).toBe(202);
      const refused = await send(20);
      expect(refused.status).toBe(400);
      expect(refused.body.detail).toMatch(/25 MB/);
      expect((await waiting).body.data).toHaveLength(1);
    },
  );
}

it.skipIf(!isHere(NGINX))(
  'without the limit that the page sets, nginx refuses 1 MB in HTML',
  async () => {
    const url = await start(NGINX, (block) => block.replace(/client_max_body_size .*/, ''));
    const body = Buffer.alloc(2 ** 20 + 1, ' ');
    const page = await fetch(`${url}/v1/send`, { method: 'POST', body });
    expect(page.status).toBe(413);
    expect(page.headers.get('content-type')).toBe('text/html');
  },
);

function nginx(port: number, changed = (block: string) => block): string[] {
  const block = substituted(changed(blockOf('docs/install.md', 'server {')), {
    'listen 443 ssl': `listen 127.0.0.1:${port}`,
    'http://127.0.0.1:3000': service.url,
  }).replace(/^ *ssl_.*\n/gm, '');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const file = join(folder, `${port}.conf`);
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;\npid ${folder}/${port}.pid;\nerror_log ${folder}/error.log;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${block}}\n`,
  );
  return ['-p', folder, '-c', file];
}

function caddy(port: number): string[] {
  const block = substituted(blockOf('docs/install.md', 'mail.example.com {'), {
    'mail.example.com': `http://127.0.0.1:${port}`,
    '127.0.0.1:3000': new URL(service.url).host,
  });
  const file = join(folder, 'Caddyfile');
  // Its port for settings at run time would be that of another Caddy on this machine.
  writeFileSync(file, `{\n    admin off\n}\n${block}`);
  return ['run', '--adapter', 'caddyfile', '--config', file];
}
