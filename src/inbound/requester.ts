// Who follows a link or loads a pixel: program, address, and whether a machine did it. Used by
// open.ts and click.ts.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { bareAddress, networkSet } from '../networks.ts';
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
  /** The client's address, from that of the connection and what X-Forwarded-For says. */
  addressOf: ClientAddress;
  /** Whether all who come from there come through a proxy of ours. */
  isProxy: (address: string) => boolean;
}

export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** `proxies`: whose X-Forwarded-For is believed. */
export function readRequesters(proxies: readonly string[]): Requesters {
  const isTrusted = networkSet(proxies);

  /**
   * Each proxy adds whom it saw on the right: the first from there that is not one of ours is the
   * client.
   */
  function addressOf(peer: string | undefined, forwardedFor = ''): string {
    const hops = forwardedFor.slice(-2000).split(',');
    let client = bareAddress(peer ?? '');
    while (isTrusted(client)) {
      const next = bareAddress(hops.pop()?.trim() ?? '');
      if (isIP(next) === 0) break;
      client = next;
    }
    return client;
  }

  function read(request: IncomingMessage): Requester {
    const userAgent = (request.headers['user-agent'] ?? '').slice(0, LONGEST_AGENT);
    const forwardedFor = request.headers['x-forwarded-for'];
    const ipAddress = addressOf(request.socket.remoteAddress, forwardedFor && String(forwardedFor));
    // People's programs ask for what they show; only scanners ask whether it is there.
    const machine = request.method === 'HEAD' || isMachine(userAgent, ipAddress, request.headers);
    return { userAgent, ipAddress, machine };
  }

  return { read, addressOf, isProxy: (address) => isTrusted(bareAddress(address)) };
}
