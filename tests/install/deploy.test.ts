// The unit and the settings in deploy/, read by what reads them in production. (.ci/run lints the
// compose files.)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { announceSkip } from '../support/browser.ts';

const DEPLOY = join(import.meta.dirname, '../../deploy');
const folder = mkdtempSync(join(tmpdir(), 'sandmartin-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isHere = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!isHere) announceSkip('systemd-analyze is not installed');

it.skipIf(!isHere)('systemd finds no fault in the unit', () => {
  const unit = join(folder, 'sandmartin.service');
  const text = readFileSync(join(DEPLOY, 'sandmartin.service'), 'utf8');
  writeFileSync(unit, text);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => line.includes('sandmartin.service'))).toEqual([]);
  expect(status).toBe(0);
});

it('the settings for production name only what there is, and need nothing but a secret', () => {
  const text = readFileSync(join(DEPLOY, 'production.env.example'), 'utf8');
  const settings = parseEnv(text);
  expect(Object.keys(SETTINGS)).toEqual(expect.arrayContaining(Object.keys(settings)));
  // Each line as Docker and systemd take it: no quotes, nothing behind the value.
  for (const [name, value] of Object.entries(settings))
    expect(text).toContain(`${name}=${value}\n`);
  expect(settings.SECRET_KEY).toBe('');
  const secretKey = 'of 32 characters, as openssl rand says';
  expect(readConfig({ ...settings, SECRET_KEY: secretKey })).toMatchObject({
    ...{ secretKey, isPublic: true, baseUrl: 'https://mail.example.com' },
    relayUrl: 'smtp://user:password@relay.example.com:587',
    bounceDomain: 'bounces.example.com',
    systemSender: { address: 'notices@example.com', domain: 'example.com' },
    trustedProxies: ['127.0.0.0/8', '172.16.0.0/12'],
  });
});
