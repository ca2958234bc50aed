// DNS queries about a domain, with results that can be shown: what was seen, or why nothing was.
// Called by domains.ts and `sandmartin doctor`.
import { Resolver } from 'node:dns/promises';

export interface DnsReply {
  values: string[];
  /** Why there are none. */
  fault: string | null;
  /** No server could be asked: this says nothing about the domain. */
  unknown: boolean;
  /** The name does not exist, for any record type. */
  nonexistent: boolean;
}

export interface Dns {
  /** Each record as one text: its strings joined (RFC 6376 3.6.2.2, RFC 7208 3.3). */
  txt(name: string): Promise<DnsReply>;
  cname(name: string): Promise<DnsReply>;
  /** The hosts, the preferred one first. */
  mx(name: string): Promise<DnsReply>;
  /** The name servers of the name, if it is a zone. */
  ns(name: string): Promise<DnsReply>;
}

const TIMEOUT_MS = 3000;
const TRIES = 2;
/** The domain's own servers say that there is nothing. */
const NOTHING = new Set(['ENOTFOUND', 'ENODATA']);

/** `servers` as in `192.0.2.1` or `127.0.0.1:5353`; without any, those of the machine. */
export function createDns(servers: readonly string[]): Dns {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  return {
    txt: (name) =>
      replyTo(async () => (await resolver.resolveTxt(name)).map((strings) => strings.join(''))),
    cname: (name) =>
      replyTo(async () => (await resolver.resolveCname(name)).map((host) => host.toLowerCase())),
    ns: (name) =>
      replyTo(async () =>
        (await resolver.resolveNs(name)).map((host) => host.toLowerCase().replace(/\.$/, '')),
      ),
    mx: (name) =>
      replyTo(async () =>
        (await resolver.resolveMx(name))
          .sort((one, other) => one.priority - other.priority)
          .map(({ exchange }) => exchange.toLowerCase()),
      ),
  };
}

async function replyTo(ask: () => Promise<string[]>): Promise<DnsReply> {
  try {
    return { values: await ask(), fault: null, unknown: false, nonexistent: false };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    if (NOTHING.has(code)) {
      const fault = code === 'ENOTFOUND' ? 'the name does not exist' : 'there is no such record';
      return { values: [], fault, unknown: false, nonexistent: code === 'ENOTFOUND' };
    }
    const fault = `the DNS server did not answer (${code})`;
    return { values: [], fault, unknown: true, nonexistent: false };
  }
}
