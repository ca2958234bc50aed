// What so many nodes carry, in docs/scale.md: computed from what `npm run bench citus` measured of
// an email.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '../bench/support/comparison.ts';
import { ASSUMED, COSTS, type Costs, carriedBy, neededFor } from '../bench/support/scale.ts';
import { describeRun, NOT_MEASURED, readRun } from './describe-figures.ts';
import { between, table } from './marked-tables.ts';

const ROOT = join(import.meta.dirname, '..');
export const SCALE = 'docs/scale.md';
const NODES = [1, 4, 16, 64];
const A_DAY = [10e6, 100e6, 1000e6];

export function withCapacity(): string {
  return fillInCapacity(readFileSync(join(ROOT, SCALE), 'utf8'), readRun());
}

export function fillInCapacity(page: string, run: Run | undefined): string {
  const costs = run && readCosts(run);
  const made = (make: (costs: Costs) => string) => () =>
    costs ? make(costs) : `${NOT_MEASURED}\n`;
  const places = {
    measured: made((it) => `${describeMeasured(it)}\n${describeRun(run)}`),
    carried: made(describeCarried),
    needed: made(describeNeeded),
  };
  return Object.entries(places).reduce((text, [name, make]) => between(text, name, make), page);
}

/** Undefined: where that run was, there was no Citus. */
function readCosts({ results }: Run): Costs | undefined {
  const found = Object.entries(COSTS).map(([name, what]) => [
    name,
    results.find((it) => it.bench === 'citus' && it.what === what)?.median,
  ]);
  return found.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(found);
}

const describeMeasured = (costs: Costs): string =>
  table(
    ['an email, 3 KB, one recipient', 'one PostgreSQL', 'Citus'],
    [
      ['CPU of the service', micros(costs.plainService), micros(costs.service)],
      ['CPU of the servers with the data', micros(costs.plainServer), micros(costs.nodes)],
      ['CPU of the coordinator', '', micros(costs.coordinator)],
      ['on disk: content', '', `${whole(costs.contentBytes)} bytes`],
      ['on disk: everything else', '', `${whole(costs.otherBytes)} bytes`],
      ['WAL', '', `${whole(costs.walBytes)} bytes`],
    ],
  );

const describeCarried = (costs: Costs): string =>
  table(
    ['nodes', 'emails a second', 'emails a day', 'cores of the service', 'coordinator, cores'],
    NODES.map((nodes) => {
      const { aSecond, aDay } = carriedBy(nodes, costs);
      return [
        String(nodes),
        rounded(aSecond),
        `${rounded(aDay / 1e6)} million`,
        rounded((aSecond * costs.service) / 1e6 / ASSUMED.busy),
        ((aSecond * costs.coordinator) / 1e6).toFixed(1),
      ];
    }),
  );

function describeNeeded(costs: Costs): string {
  const each = A_DAY.map((aDay) => neededFor(aDay, costs));
  const row = (what: string, value: (needed: (typeof each)[number]) => string) => [
    what,
    ...each.map(value),
  ];
  return table(
    ['a day', ...A_DAY.map((aDay) => `${whole(aDay / 1e6)} million`)],
    [
      row('emails a second, on average', (it) => rounded(it.average)),
      row(`emails a second, at the peak`, (it) => rounded(it.aSecond)),
      row(`nodes of ${ASSUMED.cores} cores, by CPU`, (it) => whole(it.nodes)),
      row('cores of the coordinator in use', (it) => it.coordinatorCores.toFixed(1)),
      row('processes of the service', (it) => whole(it.processes)),
      row('connections to each server, at most', (it) => whole(it.connections)),
      row('WAL a second at the peak, all nodes', (it) => `${rounded(it.walBytesASecond / 1e6)} MB`),
      row('stored, all nodes', (it) => `${rounded(it.storedBytes / 1e12)} TB`),
    ],
  );
}

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const micros = (value: number): string => `${whole(value)} µs`;
/** Two digits: more would promise what nobody measured. */
const rounded = (value: number): string =>
  Number(value.toPrecision(2)).toLocaleString('en', { maximumFractionDigits: 2 });
