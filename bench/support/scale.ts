// What `npm run bench citus` measures of an email, and the arithmetic of docs/scale.md over it: how
// much one node carries, and what so many emails a day need. Read by bench/citus.ts and
// scripts/describe-scale.ts.

/** The figures by name: CPU in µs, room in bytes. */
export const COSTS = {
  plainService: 'CPU of the service per email, one PostgreSQL',
  plainServer: 'CPU of PostgreSQL per email, one PostgreSQL',
  service: 'CPU of the service per email, Citus',
  nodes: 'CPU of the nodes per email, Citus',
  coordinator: 'CPU of the coordinator per email, Citus',
  contentBytes: 'content of an email on disk, Citus',
  otherBytes: 'messages, events and webhooks of an email on disk, Citus',
  walBytes: 'WAL of an email, Citus',
} as const;

export type Costs = Record<keyof typeof COSTS, number>;

/** Assumed, not measured. */
export const ASSUMED = {
  cores: 16,
  /** A server that is busier than this has no room for a bad hour. */
  busy: 0.6,
  /** The busiest second beside the average one. */
  peak: 3,
  contentDays: 30,
  otherDays: 90,
  connections: 12,
};

const DAY_SECONDS = 86_400;

/** What so many nodes carry, by their processors alone. */
export function carriedBy(nodes: number, { nodes: micros }: Pick<Costs, 'nodes'>) {
  const aSecond = (nodes * ASSUMED.cores * ASSUMED.busy * 1e6) / micros;
  return { aSecond, aDay: (aSecond / ASSUMED.peak) * DAY_SECONDS };
}

/** What so many emails a day need. */
export function neededFor(aDay: number, costs: Costs) {
  const average = aDay / DAY_SECONDS;
  const aSecond = average * ASSUMED.peak;
  const coresFor = (micros: number) => (aSecond * micros) / 1e6;
  const serversOf = (cores: number, each: number) =>
    Math.max(1, Math.ceil(cores / (each * ASSUMED.busy)));
  const processes = serversOf(coresFor(costs.service), 1);
  return {
    ...{ average, aSecond, processes },
    nodes: serversOf(coresFor(costs.nodes), ASSUMED.cores),
    coordinatorCores: coresFor(costs.coordinator),
    /** Each process to each server: its pool, and its heartbeat. */
    connections: processes * (ASSUMED.connections + 1),
    walBytesASecond: aSecond * costs.walBytes,
    storedBytes:
      aDay * (costs.contentBytes * ASSUMED.contentDays + costs.otherBytes * ASSUMED.otherDays),
  };
}
