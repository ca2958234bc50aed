// The order of the test files: long ones first, so that none runs alone at the end while a core
// rests. Those that wait for processes and those that keep a core busy with a browser take turns:
// four browsers at a time would make each other late. Used by vitest.config.ts.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each takes longer than twenty seconds beside others on two cores, the longest first. */
const LONG = [
  'citus/trouble',
  'faults/relay',
  'testing/serve-sandbox',
  'faults/kill',
  'faults/large-emails',
  'operations/every-operation',
  'relays/limits',
  'faults/schedule',
  'faults/campaign',
  'relays/changing',
  'openapi/generated-clients',
  'faults/promotion',
  'install/package',
  'faults/relay-hangs',
  'relays/failover',
  'rest/batch-hostile',
  'integration/cli',
  'install/docs',
  'integration/roles',
  'rest/hostile',
  'delivery/recall',
  'rest/fair-rendering',
  'secrets/service',
  'faults/database-silent',
  'faults/relay-processes',
  'store/embedded-users',
  'integration/approval-cli',
  'integration/processes',
  'faults/webhook-kill',
  'faults/clock',
  'faults/stopping-worker',
  'integration/delivery',
  'store/usable',
  'faults/embedded-kill',
  'mcp/approval-clients',
  'mcp/key-rules',
  'jinja/sweep',
  'jinja/search',
  'catalog/html',
  'catalog/spam',
  'feedback/growth',
  'citus/one-task',
  'citus/cluster',
];

const isBrowser = (name: string): boolean =>
  name.startsWith('browser/') || name === 'catalog/screenshots' || name === 'testing/example';

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const nameOf = (file: TestSpecification): string =>
      relative('tests', relative(this.ctx.config.root, file.moduleId)).replace(/\.test\.ts$/, '');
    // Those that failed come first, as ever; then what took longest, or the largest.
    const sorted = await super.sort(files);
    const browsers = sorted.filter((file) => isBrowser(nameOf(file)));
    const long = sorted
      .filter((file) => LONG.includes(nameOf(file)))
      .sort((one, other) => LONG.indexOf(nameOf(one)) - LONG.indexOf(nameOf(other)));
    const first = new Set(inTurn(long, browsers));
    return [...first, ...sorted.filter((file) => !first.has(file))];
  }
}

/** One of each, until both are through. */
const inTurn = <Item>(ones: readonly Item[], others: readonly Item[]): Item[] =>
  Array.from({ length: Math.max(ones.length, others.length) }, (_, at) => [
    ...ones.slice(at, at + 1),
    ...others.slice(at, at + 1),
  ]).flat();
