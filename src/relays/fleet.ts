// The fleet: the relays of one delivery process, opened, changed and closed as operators change
// them, and what they can do together. Before it: relay-list.ts says which there are. After it:
// delivery/handing.ts chooses one for every copy, the worker claims nothing while none can accept
// email, and the API processes are told (smtp/relay-state.ts).
import {
  countDeliveryProcesses,
  type RelayFinding,
  type RelayReporting,
} from '../smtp/relay-state.ts';
import { choose, type Routed } from './choice.ts';
import { type Member, type MemberDeps, openMember } from './member.ts';
import type { NamedRelay, RelayList } from './relay-list.ts';
import { DEFAULT_RELAY, PLAIN_SETTINGS } from './stored-relays.ts';

export interface Fleet {
  members(): readonly Member[];
  /** The relay for the copy, among those not tried yet; undefined: all were tried. */
  choose(
    email: Routed,
    tried: ReadonlySet<Member>,
    staysWith: string | undefined,
  ): Member | undefined;
  canTake(): boolean;
  /** The connections of all relays together. */
  connections(): number;
  /** The first check of the relays comes before the first claim. */
  start(): Promise<void>;
  stopTaking(): void;
  close(graceMs?: number): Promise<void>;
}

export interface FleetDeps extends Omit<MemberDeps, 'processes' | 'hasOther' | 'onNews'> {
  relays: RelayList;
  reporting: Pick<RelayReporting, 'tell'>;
  sandboxUrl: string;
}

/**
 * What the previous relay has in progress is finished; a hand-over that hangs is not waited for
 * longer.
 */
const REPLACED_WITHIN_MS = 60_000;

export function openFleet(deps: FleetDeps): Fleet {
  const { relays, reporting, database } = deps;
  let processes = 1;
  let told = '';
  let stopped = false;
  const closing = new Set<Promise<void>>();
  const memberDeps: MemberDeps = {
    ...deps,
    processes: () => processes,
    hasOther: (name) => members.some((it) => it.name !== name && !it.isDown()),
    onNews: tell,
  };
  const open = (settings: NamedRelay): Member =>
    openMember(memberDeps, settings, labelOf(settings));
  let members = wanted().map(open);

  /** If there is no relay, emails go to the sandbox. */
  function wanted(): NamedRelay[] {
    if (relays.isSandbox()) return [{ name: SANDBOX, url: deps.sandboxUrl, ...PLAIN_SETTINGS }];
    return relays.all().filter(({ enabled }) => enabled);
  }

  function follow(): void {
    if (stopped) return;
    const now = new Map(wanted().map((settings) => [settings.name, settings]));
    const kept = members.filter((member) => {
      const settings = now.get(member.name);
      if (settings !== undefined && member.change(settings)) return now.delete(member.name);
      // Before its successor is opened, which may have the same name in metrics.
      retire(member);
      return false;
    });
    const added = [...now.values()].map(open);
    for (const member of added) void member.start();
    if (kept.length < members.length || added.length > 0) members = [...kept, ...added];
    tell();
  }
  /** What it has not begun is handed to another relay. */
  function retire(member: Member): void {
    member.stopTaking();
    const closed = member.close(REPLACED_WITHIN_MS).finally(() => closing.delete(closed));
    closing.add(closed);
  }
  /** Before a relay with a rate is opened: otherwise each process would give it the full rate. */
  async function countProcesses(): Promise<void> {
    if (wanted().every(({ ratePerSecond }) => ratePerSecond === null)) return;
    // If the database does not answer, the share stays as it was.
    processes = await countDeliveryProcesses(database).catch(() => processes);
  }

  function finding(): RelayFinding {
    const found = members.map((member) => ({
      ...{ name: member.name, reports: member.reports() },
      ...member.finding(),
    }));
    const states = found.map(({ name, down, detail, reports }) => ({
      ...{ name, down, detail, reports },
    }));
    const [first] = found;
    if (first === undefined) return NO_RELAY;
    if (found.some(({ down }) => !down)) return { ...WORKS, relays: states };
    return {
      down: true,
      retryAfterMs: Math.min(...found.map(({ retryAfterMs }) => retryAfterMs)),
      detail: found.length === 1 ? first.detail : found.map(inWords).join('; '),
      relays: states,
    };
  }
  /** Only news; while all are down, also the time until the next probe. */
  function tell(): void {
    const now = finding();
    const key = JSON.stringify({ ...now, retryAfterMs: 0 });
    if (key === told && !now.down) return;
    told = key;
    void reporting.tell(now);
  }

  return {
    members: () => members,
    choose: (email, tried, staysWith) =>
      choose(
        tried.size === 0 ? members : members.filter((member) => !tried.has(member)),
        email,
        staysWith,
      ),
    canTake: () => members.some((member) => !member.isDown()),
    connections: () => members.reduce((sum, member) => sum + member.connections, 0),
    async start() {
      await Promise.all([countProcesses(), ...members.map((member) => member.start())]);
      relays.onLook(() => void countProcesses().then(follow));
      tell();
    },
    stopTaking() {
      stopped = true;
      for (const member of members) member.stopTaking();
    },
    async close(graceMs) {
      stopped = true;
      await Promise.all(members.map((member) => member.close(graceMs)));
      // Their emails went to another relay or are about to finish.
      await Promise.race([Promise.all(closing), new Promise((r) => setTimeout(r, 1000).unref())]);
    },
  };
}

const SANDBOX = 'sandbox';
const WORKS = { down: false, retryAfterMs: 0, detail: null };
const NO_RELAY: RelayFinding = {
  ...{ down: true, retryAfterMs: 5_000, relays: [] },
  detail: 'all relays are disabled',
};

const inWords = ({ name, detail }: { name: string; detail: string | null }): string =>
  `${name}: ${detail ?? 'down'}`;

/** In metrics, RELAY_URL and the sandbox have only their address as a name, as before. */
const labelOf = ({ name }: NamedRelay): string | undefined =>
  name === DEFAULT_RELAY || name === SANDBOX ? undefined : name;
