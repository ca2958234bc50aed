// The overview, as its page shows it. Types only, so that web/ reads them too.

export interface Overview {
  quota: Quota;
  /** One entry per bucket, oldest first, without gaps. */
  series: {
    bucket: 'hour' | 'day';
    points: VolumePoint[];
    /** False: a large account whose figures are still being counted; ask again in some seconds. */
    complete: boolean;
  };
  totals: Volume;
  /** Shares of `sends` in the period; null: nothing was sent. */
  rates: {
    delivered: number | null;
    opened: number | null;
    bounced: number | null;
    complained: number | null;
  };
  problems: ActionNeeded[];
  quickstart: Quickstart;
}

export interface Quota {
  /** Recipients a UTC day. */
  limit: number;
  used: number;
  left: number;
  resetsAt: string;
  ratePerSecond: number;
}

/** Messages, by what became of them: one that was opened also counts as delivered. */
export interface Volume {
  sends: number;
  delivered: number;
  opened: number;
  clicked: number;
  bounced: number;
  complained: number;
}

export interface VolumePoint extends Volume {
  /** When the bucket begins. */
  at: string;
}

export interface ActionNeeded {
  kind:
    | 'free-plan'
    | 'suspended'
    | 'paused'
    | 'quota'
    | 'no-sender'
    | 'domain'
    | 'relay-down'
    | 'bounce-rate'
    | 'complaint-rate'
    | 'webhook';
  severity: 'info' | 'warning' | 'critical';
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** The page where it is done; null: an operator must. */
  page: 'senders' | 'webhooks' | 'messages' | 'account' | 'suppressions' | null;
  /** The thing it is about, such as a domain or an endpoint's id. */
  subject: string | null;
}

export interface Quickstart {
  /** Nothing was ever sent by the account itself: show the quickstart instead of charts. `live` tells when that changes. */
  waiting: boolean;
  /** A sender that works; null: none is verified yet. */
  from: string | null;
  keys: number;
}
