// The bounds of an API key: until when and from which networks it works. Set when the key is
// created; directory.ts holds them.
import { Problem, readTogether } from '../errors.ts';
import { isNetwork } from '../networks.ts';

export interface KeyBounds {
  /** Null: it does not expire. */
  expiresAt: Date | null;
  /** Addresses and networks it may be used from; null: anywhere. */
  networks: readonly string[] | null;
}

const MOST_NETWORKS = 100;

/** Bounds as they were asked for, checked. */
export function readBounds(wish: Partial<KeyBounds>, nowMs: number): KeyBounds {
  return { expiresAt: readExpiry(wish.expiresAt, nowMs), networks: readNetworks(wish.networks) };
}

function readExpiry(expiresAt: Date | null | undefined, nowMs: number): Date | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  if (expiresAt.getTime() > nowMs && expiresAt.getUTCFullYear() < 10_000) return expiresAt;
  throw new Problem('invalid', 'expires: the time must be in the future.', { at: 'expires_at' });
}

function readNetworks(networks: readonly string[] | null | undefined): readonly string[] | null {
  if (networks === undefined || networks === null) return null;
  if (networks.length === 0 || networks.length > MOST_NETWORKS) {
    const detail = `networks: name 1 to ${MOST_NETWORKS} addresses or networks.`;
    throw new Problem('invalid', detail, { at: 'networks' });
  }
  return readTogether((read) => [
    ...new Set(networks.map((text, index) => read(readNetwork, text, `networks[${index}]`))),
  ]);
}

function readNetwork(text: string, at: string): string {
  const network = text.trim().toLowerCase();
  if (isNetwork(network)) return network;
  throw new Problem(
    'invalid',
    `networks: "${network.slice(0, 100)}" is neither an address nor a network. Write 203.0.113.7, 10.0.0.0/8 or 2001:db8::/32.`,
    { at },
  );
}

export const expiredKey = (at: number): Problem =>
  new Problem(
    'unauthenticated',
    `This API key expired at ${new Date(at).toISOString()}. Create a new key in the dashboard.`,
  );

export const wrongNetwork = (from: string): Problem =>
  new Problem(
    'forbidden',
    `This API key may not be used from ${from}. Call from one of its allowed networks, or create a new key. If a proxy is in front of the service, list it in TRUSTED_PROXIES.`,
  );
