// What the caller of a send is told, based on the batch's verdict. Before it: accept.ts and
// accept-batch.ts; each door shows it in its own way.
import { overCap } from '../accounts/agent-rules.ts';
import { type LimitState, Problem } from '../errors.ts';
import { showId } from '../ids.ts';
import { DEFAULT_STREAM } from '../messages/stream.ts';
import type { Clock } from '../process/clock.ts';
import type { Database } from '../store/pool.ts';
import { suppressedRecipients } from '../suppressions/suppressions.ts';
import type { Allowance, Verdict } from './batch.ts';
import type { PackedSend } from './packed-send.ts';
import type { SendAnswer } from './request.ts';

/** The answer, with the state of the daily quota for the doors that show it. */
export interface Accepted {
  answer: SendAnswer;
  /** The answer is that of an earlier send; nothing was queued now. */
  repeated: boolean;
  limit: LimitState | null;
  /** Warnings about it although it was accepted, for the doors that show them. */
  warnings: readonly string[];
  /** Recipients who get no copy, if that was asked. */
  suppressed?: readonly string[];
  /** What was queued or held now; absent: an earlier send answered. */
  send?: PackedSend | undefined;
}

export interface AnswerDeps {
  clock: Clock;
  relayRetryAfterSeconds: () => number;
}

/** Those of its recipients who get no copy at the moment. */
export const withoutCopy = (
  { database }: { database: Database },
  { accountId, envelope, stream, aboutAccess }: PackedSend,
): Promise<string[]> => {
  const heeded = aboutAccess ? null : (stream ?? DEFAULT_STREAM);
  return suppressedRecipients(database, accountId, envelope, heeded);
};

const NONE: readonly string[] = [];

/** What the caller is told; a Problem is thrown. */
export function answer(deps: AnswerDeps, send: PackedSend, verdict: Verdict): Accepted {
  switch (verdict.kind) {
    case 'accepted':
    case 'repeated':
      return {
        answer: { id: showId('msg_', verdict.id), status: 'queued' },
        repeated: verdict.kind === 'repeated',
        send: verdict.kind === 'accepted' ? send : undefined,
        limit: verdict.allowance && dailyLimit(verdict.allowance, secondsToMidnight(deps.clock)),
        warnings: send.warnings ?? NONE,
      };
    case 'conflict': {
      const { name } = send.idempotency!;
      throw new Problem(
        'invalid',
        `This ${name} was used with another request within the last 24 hours. Use a new key for a new email.`,
        { at: name, kind: 'reused-key' },
      );
    }
    case 'withheld':
      throw new Problem('invalid', 'Another email of the same batch was refused.');
    case 'over-cap':
      throw overCap(send.keyCap ?? 0, verdict.capLeft, verdict.retryAfterSeconds);
    case 'over-quota':
      throw new Problem(
        'over-limit',
        `The daily quota of ${verdict.allowance.quota} recipients has ${verdict.allowance.quotaLeft} left (to, cc and bcc count). It resets at 00:00 UTC.`,
        {
          retryAfterSeconds: verdict.retryAfterSeconds,
          limit: dailyLimit(verdict.allowance, verdict.retryAfterSeconds),
        },
      );
    case 'over-rate':
      throw new Problem(
        'over-limit',
        `More than ${verdict.allowance.rate} sends a second. Wait and try again, or spread out the calls.`,
        {
          retryAfterSeconds: verdict.retryAfterSeconds,
          limit: {
            limit: verdict.allowance.rate,
            remaining: 0,
            resetSeconds: verdict.retryAfterSeconds,
            windowSeconds: 1,
          },
        },
      );
    case 'queue-full':
      throw new Problem(
        'unavailable',
        'The queue of this service is full, so new email is not accepted right now. Try again later. Email accepted before is delivered.',
        { retryAfterSeconds: 30 },
      );
    case 'relay-down':
      throw new Problem(
        'relay-down',
        'The SMTP relay cannot be reached, so new email is not accepted right now. Try again shortly. Email accepted before stays queued and is delivered.',
        { retryAfterSeconds: deps.relayRetryAfterSeconds() },
      );
  }
}

const DAY_SECONDS = 86_400;

function dailyLimit(allowance: Allowance, resetSeconds: number): LimitState {
  return {
    limit: allowance.quota,
    remaining: Math.max(0, allowance.quotaLeft),
    resetSeconds,
    windowSeconds: DAY_SECONDS,
  };
}

const secondsToMidnight = (clock: Clock): number =>
  DAY_SECONDS - (Math.floor(clock.nowMs() / 1000) % DAY_SECONDS);
