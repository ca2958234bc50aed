// The unit in deploy/, read by the tool that reads it in production. (.ci/run lints the compose
// files.)
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { announceSkip } from '../support/browser.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandmartin-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isHere = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!isHere) announceSkip('systemd-analyze is not installed');

it.skipIf(!isHere)('systemd finds no fault in the unit', () => {
  const unit = join(folder, 'sandmartin.service');
  const text = readFileSync(join(import.meta.dirname, '../../deploy/sandmartin.service'), 'utf8');
  writeFileSync(unit, text);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  expect(stderr.split('\n').filter((line) => line.includes('sandmartin.service'))).toEqual([]);
  expect(status).toBe(0);
});
