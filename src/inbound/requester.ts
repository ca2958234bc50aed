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
  /** Whether the address is one of our proxies. */
  isProxy: (address: string) => boolean;
}

export type ClientAddress = (peer: string | undefined, forwardedFor: string | undefined) => string;

/** `proxies`: whose X-Forwarded-For is trusted. */
export function readRequesters(proxies: readonly string[]): Requesters {
  const isTrusted = networkSet(proxies);

  /** Each proxy appends the address it saw: the last one that is not one of ours is the client. */
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
    // Programs that people use request what they show; only scanners check whether it exists.
    const machine = request.method === 'HEAD' || isMachine(userAgent, ipAddress, request.headers);
    return { userAgent, ipAddress, machine };
  }

  return { read, addressOf, isProxy: (address) => isTrusted(bareAddress(address)) };
}
