// The room for large request bodies: how much memory they may take together, taken as their bytes
// arrive and shared fairly. Before it: http/body.ts, which stops reading a body that has to wait.
// After it: the request is answered and its room is freed.
//
//   total ──┬─ the desk, for one body of the largest size that has arrived by the lane: the next
//           │  arrives while it is written
//           ├─ the lane, for one body of the largest size: it can always go on, so no two wait for
//           │  each other
//           └─ the common room: no key and no address gets so much of it that a large body of
//              another would not fit
//
// While bodies wait, the lane is for one that makes progress: one that hardly moves has to leave.
// Next comes the one that holds least.

export interface BodyRoom {
  /** `giveWay` is called when the body is too slow for those that wait. */
  enter(party: Party, giveWay: () => void): Place;
}

/**
 * Whose body it is. Either is left out if it is not known, such as an address behind a proxy that
 * does not report it.
 */
export interface Party {
  key?: string | undefined;
  address?: string | undefined;
}

export interface Place {
  /**
   * For bytes that have arrived. True: go on reading. Otherwise the promise says when, and nothing
   * may be taken until then.
   */
  take(bytes: number): true | Promise<void>;
  /** All bytes have arrived: it can no longer be slow. */
  complete(): void;
  leave(): void;
}

export interface BodyRoomSize {
  totalBytes: number;
  /** The largest size of a single body. */
  largestBytes: number;
  /** The body in the lane must bring this much while others wait … */
  leastBytes: number;
  /** … in this time. */
  leastBytesEveryMs: number;
}

/**
 * That time is counted in beats: a process that was frozen must not blame the sender for its own
 * pause.
 */
const BEATS = 10;

interface Body extends Place {
  party: Party;
  held: number;
  /** Bytes that arrived and do not fit yet. */
  wanted: number;
  go: (() => void) | undefined;
  giveWay: () => void;
  arriving: boolean;
}

export function createBodyRoom(size: BodyRoomSize): BodyRoom {
  const common = size.totalBytes - 2 * size.largestBytes;
  const mostOfOne = common - size.largestBytes;
  let commonUsed = 0;
  const heldBy = new Map<string, number>();
  let inLane: Body | undefined;
  let onDesk: Body | undefined;
  const waiting = new Set<Body>();
  let watch: NodeJS.Timeout | undefined;
  let broughtBefore = 0;
  let beats = 0;

  function fits(body: Body): boolean {
    if (body === inLane) return true;
    return (
      commonUsed + body.wanted <= common &&
      namesOf(body.party).every((name) => (heldBy.get(name) ?? 0) + body.wanted <= mostOfOne)
    );
  }

  /** For bytes taken from the common room or, if negative, given back to it. */
  function charge(party: Party, bytes: number): void {
    commonUsed += bytes;
    for (const name of namesOf(party)) {
      const held = (heldBy.get(name) ?? 0) + bytes;
      if (held === 0) heldBy.delete(name);
      else heldBy.set(name, held);
    }
  }

  function admit(body: Body): boolean {
    if (!fits(body)) {
      if (inLane !== undefined) return false;
      charge(body.party, -body.held);
      inLane = body;
      broughtBefore = body.held;
      beats = 0;
    }
    if (body !== inLane) charge(body.party, body.wanted);
    body.held += body.wanted;
    body.wanted = 0;
    return true;
  }

  function admitWaiting(): void {
    const holds = ({ party }: Body) =>
      Math.max(0, ...namesOf(party).map((name) => heldBy.get(name) ?? 0));
    for (const body of [...waiting].sort((one, other) => holds(one) - holds(other))) {
      if (!admit(body)) continue;
      waiting.delete(body);
      body.go?.();
    }
    if (waiting.size > 0) return;
    clearInterval(watch);
    watch = undefined;
  }

  function leaveLane(): void {
    if (inLane === undefined || inLane.arriving || onDesk !== undefined) return;
    onDesk = inLane;
    inLane = undefined;
    admitWaiting();
  }

  function hurry(): void {
    if (inLane === undefined || ++beats < BEATS) return;
    const brought = inLane.held - broughtBefore;
    broughtBefore = inLane.held;
    beats = 0;
    if (!inLane.arriving || brought >= size.leastBytes) return;
    // A client that sends several bodies over a slow line holds up only itself.
    const its = new Set(namesOf(inLane.party));
    const others = [...waiting].some(({ party }) => !namesOf(party).some((name) => its.has(name)));
    if (others) inLane.giveWay();
  }

  return {
    enter(party, giveWay) {
      const body: Body = {
        party,
        held: 0,
        wanted: 0,
        go: undefined,
        giveWay,
        arriving: true,
        take(bytes) {
          body.wanted = bytes;
          if (admit(body)) return true;
          waiting.add(body);
          watch ??= setInterval(hurry, size.leastBytesEveryMs / BEATS);
          return new Promise((resolve) => {
            body.go = resolve;
          });
        },
        complete() {
          body.arriving = false;
          leaveLane();
        },
        leave() {
          waiting.delete(body);
          if (body === inLane) inLane = undefined;
          else if (body === onDesk) onDesk = undefined;
          else charge(party, -body.held);
          body.held = 0;
          leaveLane();
          admitWaiting();
        },
      };
      return body;
    },
  };
}

/** Keys and addresses share one table. */
const namesOf = ({ key, address }: Party): string[] => [
  ...(key === undefined ? [] : [`key ${key}`]),
  ...(address === undefined ? [] : [`from ${address}`]),
];
