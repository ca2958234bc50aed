// The transport of docs/operations.md, read by Postfix itself: reports go to the feedback listener,
// and nothing else does.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { announceSkip } from '../support/browser.ts';
import { blockOf, substituted } from '../support/docs.ts';

const POSTMAP = '/usr/sbin/postmap';
const isHere = spawnSync(POSTMAP, ['-q', 'x', 'inline:{x=y}']).status === 0;
if (!isHere) announceSkip('Postfix is not installed, so its transport was not read');

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-transport-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.skipIf(!isHere)('Postfix sends reports, and only these, to the feedback listener', () => {
  const [main, transport] = substituted(blockOf('docs/operations.md', '# /etc/postfix/main.cf'), {
    '/etc/postfix': folder,
  }).split('\n\n');
  writeFileSync(join(folder, 'main.cf'), main!);
  writeFileSync(join(folder, 'feedback-transport'), transport!);
  const table = execFileSync('/usr/sbin/postconf', ['-c', folder, '-h', 'transport_maps'], {
    encoding: 'utf8',
  }).trim();
  const routeOf = (address: string) =>
    spawnSync(POSTMAP, ['-c', folder, '-q', address, table], { encoding: 'utf8' }).stdout.trim();
  const listener = 'smtp:[10.0.0.5]:2526';
  expect(routeOf('bounce+token@bounces.example.com')).toBe(listener);
  expect(routeOf('postmaster@bounces.example.com')).toBe(listener);
  expect(routeOf('bounce+token@sm-bounces.acme.example')).toBe(listener);
  for (const other of ['ada@example.com', 'ada@bounces.example.com.other', 'a@bouncesXexample.com'])
    expect(routeOf(other), other).toBe('');
});
