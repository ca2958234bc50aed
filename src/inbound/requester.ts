// Who follows a link or loads a pixel: program, address, and whether a machine did it. Used by open.ts and click.ts.
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isMachine } from '../tracking/machines.ts';

export interface Requester {
  userAgent: string;
  ipAddress: string;
  machine: boolean;
}

export type ReadRequester = (request: IncomingMessage) => Requester;

const LONGEST_AGENT = 500;

export interface Requesters {
  read: ReadRequester;
  /** Whether all who come from there come through a proxy of ours. */
  isProxy: (address: string) => boolean;
}

/** `proxies`: whose X-Forwarded-For is believed. */
export function readRequesters(proxies: readonly string[]): Requesters {
  const trusted = new BlockList();
  for (const network of proxies) {
    const [address, prefix] = network.split('/');
    const family = isIP(address!) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) trusted.addAddress(address!, family);
    else trusted.addSubnet(address!, Number(prefix), family);
  }
  const isTrusted = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  function read(request: IncomingMessage): Requester {
    const userAgent = (request.headers['user-agent'] ?? '').slice(0, LONGEST_AGENT);
    const ipAddress = clientAddress(request, isTrusted);
    // People's programs ask for what they show; only scanners ask whether it is there.
    const machine = request.method === 'HEAD' || isMachine(userAgent, ipAddress, request.headers);
    return { userAgent, ipAddress, machine };
  }
  return { read, isProxy: (address) => isTrusted(bare(address)) };
}

/** Each proxy adds whom it saw on the right: the first from there that is not one of ours is the client. */
function clientAddress(request: IncomingMessage, isTrusted: (address: string) => boolean): string {
  const peer = bare(request.socket.remoteAddress ?? '');
  const forwarded = String(request.headers['x-forwarded-for'] ?? '').slice(-2000);
  const hops = forwarded.split(',').map((hop) => bare(hop.trim()));
  let client = peer;
  while (isTrusted(client)) {
    const next = hops.pop();
    if (next === undefined || isIP(next) === 0) break;
    client = next;
  }
  return client;
}

const bare = (address: string): string =>
  address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/^\[(.*)\](?::\d+)?$/, '$1');
