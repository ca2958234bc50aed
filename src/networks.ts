// Networks as people write them: `203.0.113.7`, `10.0.0.0/8`, `2001:db8::/32`. Used by settings,
// proxies, webhooks and API keys.
import { BlockList, isIP } from 'node:net';

export function isNetwork(text: string): boolean {
  const [address = '', prefix, more] = text.split('/');
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return more === undefined && bits > 0 && (prefix === undefined || isPrefix(prefix, bits));
}

const isPrefix = (text: string, bits: number): boolean =>
  /^\d{1,3}$/.test(text) && Number(text) <= bits;

/**
 * Whether an address is in one of the networks, each of which must pass `isNetwork`. What is not an
 * address is in none.
 */
export function networkSet(networks: readonly string[]): (address: string) => boolean {
  const set = new BlockList();
  for (const network of networks) {
    const [address, prefix] = network.split('/');
    if (prefix === undefined) set.addAddress(address!, familyOf(address!));
    else set.addSubnet(address!, Number(prefix), familyOf(address!));
  }
  return (address) => isIP(address) !== 0 && set.check(address, familyOf(address));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/**
 * An IPv4 address as such even if it came over IPv6, and an IPv6 address without its brackets and
 * port.
 */
export const bareAddress = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/^\[(.*)\](?::\d+)?$/, '$1');

/** What counts as one client: a customer has 2^64 IPv6 addresses or more. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head.split(':').filter((group) => group !== '');
  const after = (tail ?? '').split(':').filter((group) => group !== '');
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0');
  return [...groups, ...after]
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
    .join(':');
}

/** By any of the names and addresses that mean the machine itself. */
export const isThisMachine = (hostname: string): boolean =>
  ['localhost', '0.0.0.0', '[::1]', '[::]'].includes(hostname) ||
  /^127\.[\d.]+$/.test(hostname) ||
  hostname.endsWith('.localhost');
