// Senders: domains with their DNS records, addresses with their links. Types only, so that web/ reads them too.

export interface Senders {
  domains: SenderDomain[];
  addresses: SenderAddress[];
}

export interface SenderDomain {
  domain: string;
  verified: boolean;
  /** Who vouched for it. */
  verifiedBy: 'operator' | 'dns' | 'link' | null;
  createdAt: string;
  /** Empty: added before domains had keys; add it again to get them. */
  records: SenderRecord[];
  checkedAt: string | null;
}

export interface SenderRecord {
  purpose: 'ownership' | 'dkim-rsa' | 'dkim-ed25519' | 'spf' | 'dmarc' | 'return-path';
  type: 'TXT' | 'CNAME';
  name: string;
  value: string;
  /** What the last check found; null: not checked yet. `unknown`: DNS did not answer. */
  check: { state: 'ok' | 'missing' | 'unknown'; seen: string[]; note: string | null } | null;
}

export interface SenderAddress {
  address: string;
  verified: boolean;
  verifiedBy: 'operator' | 'dns' | 'link' | null;
  createdAt: string;
  /** A link was mailed and can still be used until then. */
  linkUntil: string | null;
}

/** `note`: why no link was mailed; null: it was, or the address is verified already. */
export interface AskedAddress extends SenderAddress {
  note: string | null;
}
