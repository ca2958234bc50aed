// Reporters whom the operator trusts (TRUSTED_REPORTERS): networks that reports come from, and
// domains whose DKIM signature a report carries. Before: inbound/feedback-smtp.ts has a report that
// proves nothing by itself. After: match.ts may guess.
import { BlockList, isIP } from 'node:net';
import type { Signature } from './dkim.ts';
import type { Received, Stopped, verifyReceived } from './received.ts';

export interface ReporterDeps {
  /** As configured, such as `192.0.2.0/24`, `2001:db8::1`, `fbl.example`. */
  trusted: readonly string[];
  /** The TXT records of a name; undefined if no server answered. */
  lookUp: (name: string) => Promise<string[] | undefined>;
  /** received.ts, in a thread that can be killed. */
  verify: (input: Parameters<typeof verifyReceived>[0]) => Promise<boolean | Stopped>;
  nowMs: () => number;
}

export interface Reporters {
  domains: readonly string[];
  isTrustedNetwork(address: string): boolean;
  /** `unknown`: DNS did not answer, so it is worth another try. */
  vouchedFor(raw: Buffer, received: Received): Promise<boolean | 'unknown'>;
}

const MOST_RECORDS = 5;

export function createReporters(deps: ReporterDeps): Reporters {
  const isNetwork = (entry: string) => isIP(entry.split('/')[0]!) !== 0;
  const networks = networkList(deps.trusted.filter(isNetwork));
  const domains = deps.trusted.filter((entry) => !isNetwork(entry)).map((it) => it.toLowerCase());

  const keysOf = ({ selector, domain }: Signature) =>
    deps.lookUp(`${selector}._domainkey.${domain}`);

  return {
    domains,
    isTrustedNetwork(address) {
      const family = isIP(address);
      return family !== 0 && networks.check(address, family === 6 ? 'ipv6' : 'ipv4');
    },
    async vouchedFor(raw, { signatures }) {
      if (signatures.length === 0) return false;
      const answers = await Promise.all(signatures.map(keysOf));
      const records = answers.map((answer) => (answer ?? []).slice(0, MOST_RECORDS));
      const verified = await deps.verify({ raw, signatures, records, nowMs: deps.nowMs() });
      if (verified === true) return true;
      return answers.includes(undefined) ? 'unknown' : false;
    },
  };
}

export function networkList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address, prefix] = entry.split('/');
    const family = isIP(address!) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address!, family);
    else list.addSubnet(address!, Number(prefix), family);
  }
  return list;
}
