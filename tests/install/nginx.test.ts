// The nginx block of docs/install.md, unchanged except for ports, names and TLS, in front of a real
// service.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { announceSkip } from '../support/browser.ts';
import { freePort } from '../support/process.ts';
import { anEmail, request, startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const NGINX = '/usr/sbin/nginx';
const isHere = spawnSync(NGINX, ['-v']).status === 0;
if (!isHere) announceSkip('nginx is not installed');

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-nginx-'));
const stops: (() => unknown)[] = [];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!isHere)('behind nginx, as docs/install.md sets it up', () => {
  it('a body of 19 MB is taken, and one that is too large is refused in our words', async () => {
    const service = await startTestService();
    stops.push(() => service.stop());
    const url = await startNginx(service.url);
    const account = await service.account();
    const send = (megabytes: number) => {
      const content = Buffer.alloc(megabytes * 2 ** 20, 'x').toString('base64');
      return request(`${url}/v1/send`, {
        method: 'POST',
        headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
        body: JSON.stringify(
          anEmail({
            attachments: [
              { filename: 'a.txt', content_type: 'text/plain', content_base64: content },
            ],
          }),
        ),
      });
    };
    expect((await send(14)).status).toBe(202);
    const refused = await send(20);
    expect(refused.status).toBe(400);
    expect(refused.body.detail).toMatch(/25 MB/);

    // And why the page sets a limit at all.
    const asItComes = await startNginx(service.url, (block) =>
      block.replace(/client_max_body_size .*/, ''),
    );
    const body = Buffer.alloc(2 ** 20 + 1, ' ');
    const page = await fetch(`${asItComes}/v1/send`, { method: 'POST', body });
    expect(page.status).toBe(413);
    expect(page.headers.get('content-type')).toBe('text/html');
  });
});

/** `changed`: what someone else would have written in its place. */
async function startNginx(upstream: string, changed = (block: string) => block): Promise<string> {
  const port = await freePort();
  const text = readFileSync(join(ROOT, 'docs/install.md'), 'utf8');
  const block = changed(/```nginx\n([\s\S]*?)```/.exec(text)![1]!)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port}`)
    .replace(/^ *ssl_.*\n/gm, '')
    .replace('http://127.0.0.1:3000', upstream);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const file = join(folder, `${port}.conf`);
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;\n' : ''}daemon off;\npid ${folder}/${port}.pid;\nerror_log ${folder}/error.log;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${block}}\n`,
  );
  const nginx = spawn(NGINX, ['-p', folder, '-c', file], { stdio: 'ignore' });
  stops.push(() => nginx.kill('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  await until(() => fetch(`${url}/healthz`).then(({ ok }) => ok));
  return url;
}
