// The simulator's scripts: what the sandbox plays for which address at simulator.test.
// docs/sandbox.md shows the timelines. relay.ts asks how to accept an email, player.ts what to do
// afterwards.

export const SIMULATOR_DOMAIN = 'simulator.test';

export type Act =
  | 'report-delivered'
  | 'report-unknown-user'
  | 'report-full-mailbox'
  | 'report-delay'
  | 'complain'
  | 'open'
  | 'open-by-machine'
  | 'click';

export interface Step {
  act: Act;
  /** Since the previous step, or since the email was accepted. */
  afterMs: number;
}

export interface Script {
  /** What happens to the first attempt; the second is accepted. */
  firstAttempt?: 'greylisted' | 'dropped';
  /** How long the relay waits before it answers. */
  slowMs?: number;
  steps: readonly Step[];
}

/** Long enough to keep events apart in a timeline, short enough to wait for. */
const SOON_MS = 500;
const delivered: Step = { act: 'report-delivered', afterMs: 0 };

export const SCRIPTS: Readonly<Record<string, Script>> = {
  delivered: { steps: [delivered] },
  bounce: { steps: [{ act: 'report-unknown-user', afterMs: 0 }] },
  'mailbox-full': { steps: [{ act: 'report-full-mailbox', afterMs: 0 }] },
  delayed: {
    steps: [
      { act: 'report-delay', afterMs: 0 },
      { ...delivered, afterMs: 5000 },
    ],
  },
  complaint: { steps: [delivered, { act: 'complain', afterMs: SOON_MS }] },
  opened: { steps: [delivered, { act: 'open', afterMs: SOON_MS }] },
  'machine-opened': { steps: [delivered, { act: 'open-by-machine', afterMs: SOON_MS }] },
  clicked: {
    steps: [delivered, { act: 'open', afterMs: SOON_MS }, { act: 'click', afterMs: SOON_MS }],
  },
  greylist: { firstAttempt: 'greylisted', steps: [delivered] },
  drop: { firstAttempt: 'dropped', steps: [delivered] },
  slow: { slowMs: 5000, steps: [delivered] },
};

/** `bounce+anything@simulator.test` plays `bounce`; every other address is delivered. */
export function scriptFor(address: string): string {
  const at = address.lastIndexOf('@');
  const name = address.slice(0, at).toLowerCase().replace(/\+.*/s, '');
  const isSimulated = address.slice(at + 1).toLowerCase() === SIMULATOR_DOMAIN;
  return isSimulated && Object.hasOwn(SCRIPTS, name) ? name : 'delivered';
}

/** What each address of the simulator plays, as people read it. */
const PLAYS: Record<string, string> = {
  delivered: 'is delivered, as every other address is',
  bounce: 'bounces permanently: there is no such mailbox',
  'mailbox-full': 'bounces: the mailbox is full',
  delayed: 'is first reported late, and delivered a few seconds later',
  complaint: 'is delivered, then reported as unwanted',
  opened: 'is delivered and opened',
  'machine-opened': 'is delivered and loaded by a prefetcher, which is not an open by a person',
  clicked: 'is delivered and opened, and its first link is followed',
  greylist: 'is deferred on the first attempt, accepted on the second',
  drop: 'meets a connection that is lost on the first attempt, and is accepted on the second',
  slow: 'is accepted after five seconds',
};

export const SIMULATOR_ADDRESSES = Object.keys(SCRIPTS).map((name) => ({
  address: `${name}@${SIMULATOR_DOMAIN}`,
  plays: PLAYS[name] ?? 'has its own simulated outcome',
}));
