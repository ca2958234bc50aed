// What operators watch: alert rules that Prometheus accepts and that fire when they should, and a
// Grafana dashboard whose queries Prometheus understands, over metrics that exist.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../src/process/metrics.ts';

const FOLDER = join(import.meta.dirname, '../../deploy/monitoring');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
if (!hasPromtool) console.warn('skipped: promtool is not installed (apt-get install prometheus)');

interface Panel {
  title: string;
  targets: { expr: string }[];
}
const grafana: { panels: Panel[] } = JSON.parse(readFileSync(join(FOLDER, 'grafana.json'), 'utf8'));
const alerts = readFileSync(join(FOLDER, 'alerts.yaml'), 'utf8');
const queries = grafana.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

it('names no metric that the service does not have', async () => {
  const known = await createMetrics().registry.metrics();
  const named = new Set([alerts, ...queries].join('\n').match(/sandmartin_\w+/g));
  expect(named.size).toBeGreaterThan(10);
  for (const name of named) expect(known).toContain(`# TYPE ${name.replace(/_bucket$/, '')} `);
});

describe.skipIf(!hasPromtool)('promtool', () => {
  const run = (...args: string[]) =>
    execFileSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });

  it('takes the rules, and each alert fires on what it is for, and only then', () => {
    expect(run('check', 'rules', 'alerts.yaml')).toContain('SUCCESS');
    expect(run('test', 'rules', 'alerts.test.yaml')).toContain('SUCCESS');
    const tested = readFileSync(join(FOLDER, 'alerts.test.yaml'), 'utf8');
    for (const [, name] of alerts.matchAll(/alert: (\w+)/g))
      expect(tested).toContain(`alertname: ${name}`);
  });

  it('understands every query of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sandmartin-grafana-'));
    const rules = queries.map((expr, n) => ({
      record: `query_${n}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    writeFileSync(
      join(folder, 'rules.yaml'),
      JSON.stringify({ groups: [{ name: 'dashboard', rules }] }),
    );
    expect(run('check', 'rules', join(folder, 'rules.yaml'))).toContain(
      `${queries.length} rules found`,
    );
    rmSync(folder, { recursive: true });
  });
});
