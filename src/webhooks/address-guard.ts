// The address guard: which URLs a webhook may have, and which machines we actually connect to.
// Before it: endpoint registration (checkUrl). After it: post.ts, whose connections come from
// guardedAgent.
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import { BlockList, connect, isIP, type LookupFunction } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Agent, buildConnector, errors } from 'undici';
import { Problem } from '../errors.ts';

/** All addresses of a name, A and AAAA. */
export type Resolve = (host: string) => Promise<string[]>;

export interface AddressGuard {
  /**
   * What the operator trusts (`WEBHOOK_ALLOW`): special addresses and plain http are fine there.
   */
  trusted: AddressSet;
  resolve: Resolve;
}

export function addressGuard(allow: readonly string[], resolve = dnsResolver()): AddressGuard {
  return { trusted: addressSet(allow), resolve };
}

/**
 * Checks whether an endpoint may be registered: throws a Problem for the person who gave the URL.
 */
export async function checkUrl(
  guard: AddressGuard,
  text: string,
): Promise<{ url: URL; warning?: string }> {
  if (!URL.canParse(text)) throw wrongUrl(`"${text.slice(0, 200)}" is not a URL.`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw httpsOnly();
  if (url.username !== '' || url.password !== '') {
    throw wrongUrl(
      'A webhook URL cannot carry a user name or password; check the signature instead.',
    );
  }
  if (!isPortPermitted(url)) {
    throw wrongUrl(
      `Port ${url.port} belongs to another protocol. Use 443 or a free port above 1023.`,
    );
  }
  const host = hostOf(url.hostname);
  const found = await addressesOf(guard, host).catch((cause: unknown) => {
    // A name may be registered before its DNS is: every connection is checked again anyway. Except
    // for http, which only trusted addresses may use.
    if (url.protocol === 'http:') throw httpsOnly(cause);
    return undefined;
  });
  if (found === undefined) {
    return { url, warning: `“${host}” does not resolve yet; events wait and are retried.` };
  }
  if (found.every((ip) => isPermitted(guard, url.protocol, ip))) return { url };
  throw found.every((ip) => isPermitted(guard, 'https:', ip))
    ? httpsOnly()
    : wrongUrl(blockedDetail(host));
}

const wrongUrl = (detail: string, cause?: unknown): Problem =>
  new Problem('invalid', detail, { at: 'url', cause });

const httpsOnly = (cause?: unknown): Problem =>
  wrongUrl('A webhook URL must start with https://.', cause);

// The address itself is not mentioned: what an internal name resolves to must not leak.
function blockedDetail(host: string): string {
  return `${host} is a private, loopback or otherwise special address, or resolves to one. Use a public address, or ask the operator to list it in WEBHOOK_ALLOW.`;
}

// ---- addresses

export interface AddressSet {
  v4: BlockList;
  v6: BlockList;
}

// node:net BlockList: built in, and it reads every spelling of an address as the kernel does. Two
// lists, because on Node 20 an IPv6 rule as short as ::/0 also catches IPv4; mapped addresses are
// therefore added by hand, below.
function addressSet(cidrs: readonly string[]): AddressSet {
  const set = { v4: new BlockList(), v6: new BlockList() };
  for (const cidr of cidrs) {
    const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr.trim()) ?? [];
    const bits = isIP(address) === 6 ? 128 : 32;
    const prefix = Number(length ?? bits);
    if (isIP(address) === 0 || prefix > bits) {
      throw new Problem('invalid', `"${cidr}" is not an address or a range such as 10.0.0.0/8.`);
    }
    if (bits === 128) {
      set.v6.addSubnet(address, prefix, 'ipv6');
    } else {
      set.v4.addSubnet(address, prefix, 'ipv4');
      set.v6.addSubnet(`::ffff:${address}`, 96 + prefix, 'ipv6');
    }
  }
  return set;
}

function contains(set: AddressSet, ip: string): boolean {
  // BlockList answers "no" to an address with a zone (fe80::1%eth0), as to anything it cannot
  // parse.
  const address = ip.replace(/%.*$/, '');
  return isIP(address) === 6 ? set.v6.check(address, 'ipv6') : set.v4.check(address, 'ipv4');
}

// IANA IPv4 Special-Purpose Address Registry (RFC 6890): everything that is not globally reachable,
// as whole blocks, and multicast.
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // in no registry: Azure's own services, for every machine there
  '169.254.0.0/16', // link-local; the clouds' metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // IETF protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays, deprecated by RFC 7526
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];

// In IPv6 the public part is the small one: 2000::/3 is all that IANA assigns (RFC 4291 section
// 2.4), which excludes loopback, unique local, link-local, multicast, 100::/64, 5f00::/16 and
// future special ranges.
const PUBLIC_IPV6 = addressSet(['2000::/3', '::ffff:0:0/96', '64:ff9b::/96']);
const SPECIAL = addressSet([
  ...SPECIAL_IPV4,
  // NAT64 (RFC 6052) leads to the IPv4 address in the last 32 bits, which decides.
  ...SPECIAL_IPV4.map((cidr) => {
    const [address, prefix] = cidr.split('/');
    return `64:ff9b::${address}/${96 + Number(prefix)}`;
  }),
  '2001::/23', // IETF protocol assignments: Teredo, ORCHID, benchmarks
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 embeds any IPv4 address, and is deprecated
  '3fff::/20', // documentation (RFC 9637)
]);

/** True for every address that is not public, and for anything that is not an address. */
export function isSpecialAddress(ip: string): boolean {
  const family = isIP(ip);
  if (family === 4) return contains(SPECIAL, ip);
  return family === 0 || !contains(PUBLIC_IPV6, ip) || contains(SPECIAL, ip);
}

function isPermitted(guard: AddressGuard, protocol: string, ip: string): boolean {
  return contains(guard.trusted, ip) || (protocol === 'https:' && !isSpecialAddress(ip));
}

// ---- ports

// Below 1024 only the two of HTTP. Above, blocked: those of the WHATWG bad ports list
// (fetch.spec.whatwg.org/#port-blocking), and databases, queues and control planes, which must not
// be reached even inside WEBHOOK_ALLOW.
const OTHER_PROTOCOLS = new Set([
  ...[1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668],
  ...[6669, 6679, 6697, 10080],
  ...[1433, 1521, 2375, 2376, 2379, 2380, 2525, 3306, 3389, 5432, 5672, 5900, 6379, 9042, 9092],
  ...[9200, 9300, 11211, 27017],
]);

function isPortPermitted(url: URL): boolean {
  const port = Number(url.port);
  // '' is the scheme's own port: the parser drops :443 from https and :80 from http.
  if (url.port === '' || port === 443 || port === 80) return true;
  return port >= 1024 && !OTHER_PROTOCOLS.has(port);
}

// ---- names

/** The URL parser has already turned 0x7f.1, 2130706433, ①②⑦.⓪.⓪.① and the like into 127.0.0.1. */
function hostOf(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.+$/g, '');
}

async function addressesOf(guard: AddressGuard, host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  // RFC 6761 section 6.3: localhost and all names below it are loopback, whatever a DNS server
  // says.
  if (/(^|\.)localhost$/i.test(host)) return ['127.0.0.1', '::1'];
  const found = await guard.resolve(host);
  if (found.length > 0) return found;
  throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' });
}

const NOT_IN_DNS = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED']);

/**
 * DNS over sockets. getaddrinfo would block one of libuv's four threads, of which it may take two:
 * two names with a dead DNS server would hold up every other account's webhooks. It is used only
 * for names that DNS does not know (/etc/hosts).
 */
export function dnsResolver(servers?: string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = [v4, v6].flatMap((asked) => (asked.status === 'fulfilled' ? asked.value : []));
    if (found.length > 0 || v4.status === 'fulfilled') return found;
    if (!NOT_IN_DNS.has(v4.reason.code)) throw v4.reason;
    return (await systemLookup(host, { all: true })).map(({ address }) => address);
  };
}

/** A `lookup` for net.connect that returns no address at all if any of them is refused. */
export function guardedLookup(guard: AddressGuard, protocol: string): LookupFunction {
  return (host, _options, callback) => {
    addressesOf(guard, hostOf(host)).then(
      (found) => {
        if (found.every((ip) => isPermitted(guard, protocol, ip))) {
          callback(
            null,
            found.map((address) => ({ address, family: isIP(address) })),
          );
        } else {
          callback(blocked(host), []);
        }
      },
      (error) => callback(error, []),
    );
  };
}

// ---- connections

export const BLOCKED_ADDRESS = 'ERR_BLOCKED_ADDRESS';

function blocked(host: string): NodeJS.ErrnoException {
  return Object.assign(new Error(blockedDetail(host)), { code: BLOCKED_ADDRESS });
}

export interface AgentOptions {
  /** Certificates to trust instead of the usual roots. */
  ca?: ConnectionOptions['ca'];
  connectTimeoutMs?: number;
}

/** An undici agent that reuses connections per origin and opens none that the guard refuses. */
export function guardedAgent(guard: AddressGuard, options: AgentOptions = {}): Agent {
  return new Agent({ connect: guardedConnector(guard, options) });
}

/**
 * Three checks: a literal here, because net.connect calls no lookup for one; every DNS answer in
 * the lookup; and the peer of the open connection, before TLS starts. Nothing is resolved twice, so
 * a changing DNS answer finds no gap.
 */
function guardedConnector(
  guard: AddressGuard,
  { ca, connectTimeoutMs = 10_000 }: AgentOptions,
): buildConnector.connector {
  const startTls = buildConnector({ ca, timeout: connectTimeoutMs });
  return (target, callback) => {
    const { protocol } = target;
    const host = hostOf(target.hostname);
    if (isIP(host) !== 0 && !isPermitted(guard, protocol, host)) {
      callback(blocked(host), null);
      return;
    }
    const socket = connect({
      host,
      port: Number(target.port) || (protocol === 'https:' ? 443 : 80),
      lookup: guardedLookup(guard, protocol),
      autoSelectFamily: true,
      // Node's 250 ms are too short for a distant server with several addresses.
      autoSelectFamilyAttemptTimeout: 1_000,
      noDelay: true,
      keepAlive: true,
    });
    const timer = setTimeout(
      () => socket.destroy(new errors.ConnectTimeoutError('no connection in time')),
      connectTimeoutMs,
    );
    const fail = (error: Error) => {
      clearTimeout(timer);
      callback(error, null);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      clearTimeout(timer);
      const peer = socket.remoteAddress;
      if (peer === undefined || !isPermitted(guard, protocol, peer)) {
        socket.destroy(
          peer === undefined ? new errors.SocketError('closed at once') : blocked(host),
        );
        return;
      }
      socket.off('error', fail);
      if (protocol === 'https:') {
        const servername = isIP(host) === 0 ? host : undefined;
        startTls({ ...target, servername, httpSocket: socket }, callback);
      } else {
        callback(null, socket);
      }
    });
  };
}
