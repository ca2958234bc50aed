// The account and its plan; all accounts, for operators. Types only, so that web/ reads them too.
import type { Plan } from './common.ts';
import type { Quota } from './overview.ts';

export interface AccountView {
  id: number;
  name: string;
  plan: Plan;
  createdAt: string;
  quota: Quota;
  suspended: { at: string; reason: string } | null;
  /** Too many bounces or complaints: it may not send. */
  paused: { at: string; reason: string } | null;
  tracking: Tracking;
  /** What this account cannot do now, and why. Empty: nothing is held back. */
  blocked: { what: string; why: string }[];
}

export interface Tracking {
  trackOpens: boolean;
  trackClicks: boolean;
  oneClickUnsubscribe: boolean;
}

export interface AccountChange extends Partial<Tracking> {
  name?: string;
}

export interface OperatorAccount {
  id: number;
  name: string;
  plan: Plan;
  dailyQuota: number;
  ratePerSecond: number;
  usedToday: number;
  members: number;
  createdAt: string;
  suspended: { at: string; reason: string } | null;
  paused: { at: string; reason: string } | null;
}

export interface NewAccount {
  name: string;
  plan: Plan;
  dailyQuota?: number;
  ratePerSecond?: number;
  /** Gets an invitation as its owner. */
  ownerEmail?: string;
}

export interface OperatorChange {
  name?: string;
  plan?: Plan;
  dailyQuota?: number;
  ratePerSecond?: number;
}

/** A mail that waits for a person. */
export interface SetAsideMail {
  id: string;
  accountId: number;
  since: string;
  reason: string;
}
