// The order of the test files: long ones first, so that none runs alone at the end while a core
// rests. Those that wait for processes and those that keep a core busy with a browser take turns:
// four browsers at a time would make each other late. Used by vitest.config.ts.
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each takes longer than twenty seconds beside others on two cores, the longest first. */
const LONG = [
  'operations/every-operation',
  'citus/trouble',
  'install/package',
  'install/checkout',
  'relays/failover',
  'faults/campaign',
  'testing/serve-sandbox',
  'faults/kill',
  'faults/large-emails',
  'faults/database-silent',
  'integration/cli',
  'citus/one-task',
  'feedback/growth',
  'faults/relay-hangs',
  'faults/promotion',
  'store/backup',
  'rest/batch-hostile',
  'faults/stopping-worker',
  'supply-chain',
  'store/embedded-backup',
  'store/embedded-users',
  'integration/roles',
  'relays/limits',
  'relays/changing',
  'faults/webhook-kill',
  'faults/clock',
  'faults/embedded-kill',
  'docs/commands',
  'install/start',
  'faults/schedule',
  'faults/relay',
  'jinja/attacks',
  'mcp/approval-clients',
  'install/rolling-upgrade',
  'faults/attacks',
  'delivery/recall',
  'dashboard/first-start',
  'http/bodies',
  'rest/stopping',
  'dashboard/session',
  'install/majors',
  'catalog/spam',
  'rest/hostile',
  'dashboard/messages',
  'mcp/approval',
  'inbound/feedback-smtp',
  'store/embedded',
  'integration/delivery',
  'domains/rotation',
  'mcp/key-rules',
  'citus/cluster',
  'relays/return-path',
  'integration/processes',
  'domains/domains',
  'threads/pool',
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
