// Places for connections to a listener that anyone may connect to, in fair shares: nobody can keep
// others out. The first to be closed is the oldest connection that has proven nothing, from the
// network that holds the most places. Used by the feedback listener and by SMTP submission.
import { isIPv6, type Socket } from 'node:net';

export interface Places {
  /** False: the network has its share. May close another connection. */
  enter(socket: Socket): boolean;
  /** The client has presented something that we signed, or is trusted; and it is active. */
  prove(peer: Peer): void;
  leave(peer: Peer): void;
  taken(): number;
  stop(): void;
}

export interface Peer {
  remoteAddress?: string | undefined;
  remotePort?: number | undefined;
}

export interface PlaceLimits {
  most: number;
  mostOfNetwork: number;
  /** How long a connection may stay without proving anything. */
  strangerMs: number;
  /** How long it may stay after its last proof. */
  provenMs: number;
}

interface Place {
  socket: Socket;
  network: string;
  sinceMs: number;
  proven: boolean;
}

/**
 * Networks that have proven something recently; their connections are not the first to be closed.
 */
const MOST_KNOWN_NETWORKS = 1000;
const LOOK_EVERY_MS = 1000;

export function createPlaces(limits: PlaceLimits): Places {
  // In the order they came.
  const taken = new Map<string, Place>();
  const known = new Set<string>();
  const held = (network: string): number =>
    [...taken.values()].filter((place) => place.network === network).length;

  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (const { socket, sinceMs, proven } of taken.values()) {
      if (nowMs - sinceMs > (proven ? limits.provenMs : limits.strangerMs)) socket.destroy();
    }
  }, LOOK_EVERY_MS);
  timer.unref();

  /**
   * The oldest of the network that holds the most, strangers before those who have proven
   * something.
   */
  function victim(newcomer: string): Place | undefined {
    const places = [...taken.values()];
    const strangers = places.filter((place) => !place.proven);
    const counts = new Map<string, number>();
    for (const { network } of places) counts.set(network, (counts.get(network) ?? 0) + 1);
    const candidates = strangers.length > 0 ? strangers : known.has(newcomer) ? places : [];
    const most = Math.max(0, ...candidates.map(({ network }) => counts.get(network)!));
    if ((counts.get(newcomer) ?? 0) >= most && !known.has(newcomer)) return undefined;
    return candidates.find(({ network }) => counts.get(network) === most);
  }

  return {
    enter(socket) {
      const network = networkOf(socket.remoteAddress ?? '');
      if (held(network) >= limits.mostOfNetwork) return false;
      if (taken.size >= limits.most) {
        const leaving = victim(network);
        if (leaving === undefined) return false;
        taken.delete(keyOf(leaving.socket));
        leaving.socket.destroy();
      }
      const key = keyOf(socket);
      const place = { socket, network, sinceMs: performance.now(), proven: known.has(network) };
      taken.set(key, place);
      // Not emitted for a socket that was upgraded to TLS: leave() handles that.
      socket.once('close', () => {
        if (taken.get(key) === place) taken.delete(key);
      });
      return true;
    },
    leave(peer) {
      taken.delete(keyOf(peer));
    },
    prove(peer) {
      const place = taken.get(keyOf(peer));
      if (place === undefined) return;
      place.proven = true;
      place.sinceMs = performance.now();
      known.delete(place.network);
      known.add(place.network);
      if (known.size > MOST_KNOWN_NETWORKS) known.delete(known.values().next().value!);
    },
    taken: () => taken.size,
    stop: () => clearInterval(timer),
  };
}

export const keyOf = ({ remoteAddress, remotePort }: Peer): string =>
  `${bareAddress(remoteAddress ?? '')} ${remotePort}`;

export const bareAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/** What one party usually has: 256 IPv4 addresses, an IPv6 /48. */
export function networkOf(address: string): string {
  const bare = bareAddress(address);
  if (!isIPv6(bare)) return `${bare.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = '', tail] = bare.split('%')[0]!.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  const network = groups.slice(0, 3).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/48`;
}
