// Silence in a pool's dialogues: sessions that hang lose their place, and the relay's health is
// informed. Before: relay.ts has active sessions and opening connections. After: it gives the freed
// places to waiting emails.

import { type Chunk, lengthOf } from '../bytes/chunks.ts';
import type { Envelope } from './envelope.ts';
import { BEAT_MS } from './patience.ts';
import type { RelayPulse } from './relay-health.ts';
import type { SmtpSession } from './session.ts';
import type { HandOver } from './transaction.ts';

export interface Job {
  envelope: Envelope;
  chunks: readonly Chunk[];
  /** Whose email it is, if others must not wait behind all of theirs. */
  lane: number | undefined;
  /** Asked when a session takes it: the worker's lease may have ended in the meantime. */
  stillWanted: () => boolean;
  settle: (handOver: HandOver) => void;
  reject: (bug: unknown) => void;
}

export interface Line {
  session: SmtpSession;
  /** Undefined while it rests. */
  job: Job | undefined;
  /** Its commands were written behind the content of that one. */
  next: Job | undefined;
  /** Replies and bytes taken, as of the last beat. */
  replies: number;
  taken: number;
  /** Beats without a sign, now and at most during this email. */
  silent: number;
  longest: number;
  /** Emails the pool had answered when the silence began. */
  answeredThen: number;
  /** Its email was counted as hanging. */
  counted: boolean;
  /** It no longer has a place. */
  hung: boolean;
}

export interface Opening {
  silent: number;
  abort: AbortController;
}

/** After this much silence a session loses its place. */
const PLACE_BEATS = 10;
/** After ten seconds of silence another relay may have the email. */
const ELSEWHERE_BEATS = 10 * PLACE_BEATS;
/**
 * Thirty while content is being sent: over a slow line the system reports progress in large steps.
 */
const STALLED_BEATS = 3 * ELSEWHERE_BEATS;
const HUNG_PER_PLACE = 3;
/** How many emails of one destination may hang before it has to leave places to others. */
const DESTINATION_HANGS = 3;
/** A relay needs time for the content before it can answer: one beat more for every 25 KB. */
const BYTES_A_BEAT = 25_000;

const beatsForContent = ({ session, job }: Line): number =>
  job !== undefined && session.bodyBegun ? sizeOf(job) / BYTES_A_BEAT : 0;

export type HangWatch = ReturnType<typeof watchForHangs>;

export function watchForHangs(
  pool: {
    lines: ReadonlySet<Line>;
    openings: ReadonlySet<Opening>;
    places: number;
    onPlaceFree: () => void;
    /** It has been silent so long that it may hang. */
    onSilent: (line: Line) => void;
    /** Another relay can take what this one leaves without an answer. */
    hasOther: () => boolean;
  },
  health: RelayPulse | undefined,
) {
  const { lines, openings } = pool;
  const mostHung = pool.places * HUNG_PER_PLACE;
  /** Emails that hung since the last success to the same destination. */
  const hangsTo = new Map<string, number>();
  let hung = 0;
  let answered = 0;
  let answeredToldOf = 0;
  let quietBeats = 0;
  let beating: NodeJS.Timeout | undefined;
  let stopping = false;

  /** Sessions that make progress are not checked: an email that goes through costs nothing. */
  function beat(): void {
    let heard = false;
    let talking = false;
    for (const line of lines) {
      if (line.job === undefined) continue;
      talking = true;
      const replies = line.session.wire.replies();
      const taken = line.session.wire.taken();
      if (replies !== line.replies || taken !== line.taken) {
        heard ||= replies !== line.replies;
        line.replies = replies;
        line.taken = taken;
        line.silent = 0;
        setHung(line, false);
      } else noteSilence(line, line.job);
    }
    quietBeats = heard ? 0 : quietBeats + 1;
    for (const opening of openings) opening.silent++;
    if (health !== undefined) tell(health);
    if (!talking && openings.size === 0) end();
  }
  function tell(to: RelayPulse): void {
    const patience = to.openings.beats();
    if (answered !== answeredToldOf) to.worked();
    else if (!anyWorks() && [...openings].some(({ silent }) => silent >= patience)) to.silent();
    answeredToldOf = answered;
  }
  function end(): void {
    clearInterval(beating);
    beating = undefined;
  }

  function noteSilence(line: Line, job: Job): void {
    if (line.silent++ === 0) line.answeredThen = answered;
    line.longest = Math.max(line.longest, line.silent);
    if (line.silent === PLACE_BEATS) pool.onSilent(line);
    if (line.silent >= PLACE_BEATS && !line.hung) takePlaceFrom(line, job);
    // One or two do not open the circuit, and would otherwise wait for minutes.
    const elsewhere = line.session.bodyBegun ? STALLED_BEATS : ELSEWHERE_BEATS;
    if (line.silent >= elsewhere && pool.hasOther()) cutUnlessSent(line);
    if (health === undefined || line.counted) return;
    const doubtBeats = health.answers.doubtBeats();
    if (line.silent === doubtBeats && quietBeats + 1 >= doubtBeats) health.doubt();
    if (line.silent < health.answers.beats() + beatsForContent(line)) return;
    line.counted = true;
    // If others are answered in the meantime, the email hangs and not the relay.
    if (line.answeredThen === answered) health.hung();
  }
  function takePlaceFrom(line: Line, job: Job): void {
    if (stopping) cutUnlessSent(line);
    else if (hung < mostHung || cutLongestHung()) {
      const destination = destinationOf(job);
      hangsTo.set(destination, (hangsTo.get(destination) ?? 0) + 1);
      setHung(line, true);
      pool.onPlaceFree();
    }
  }
  function cutLongestHung(): boolean {
    const [longest] = [...lines]
      .filter((line) => line.hung && !line.session.dotSent)
      .sort((one, other) => other.silent - one.silent);
    longest?.session.wire.destroy();
    return longest !== undefined;
  }
  /** The relay cannot have an email whose end was not sent: that one is certainly retried. */
  function cutUnlessSent({ session }: Line): void {
    if (!session.dotSent) session.wire.destroy();
  }
  function setHung(line: Line, isHung: boolean): void {
    if (line.hung === isHung) return;
    line.hung = isHung;
    hung += isHung ? 1 : -1;
    if (hung === 0) hangsTo.clear();
    health?.countHung(hung);
  }
  /** Idle, or active and not silent for long. */
  const anyWorks = (): boolean =>
    isTakingContent() || [...lines].some(({ silent }) => silent < PLACE_BEATS);

  /**
   * The relay is busy with a large email: while it is, it may greet nobody else, and works all the
   * same.
   */
  const isTakingContent = (): boolean =>
    [...lines].some((line) => line.silent < Math.min(STALLED_BEATS, beatsForContent(line)));

  return {
    anyWorks,
    isTakingContent,
    /** Sessions without a place. */
    count: () => hung,
    /** Those, and sessions that hang but keep their place. */
    inVain: () => [...lines].filter(waitsInVain).length,
    beginToBeat() {
      beating ??= setInterval(beat, BEAT_MS);
    },
    end,
    emailBegins(line: Line, job: Job): void {
      line.job = job;
      line.replies = line.session.wire.replies();
      line.silent = 0;
      line.longest = 0;
      line.counted = false;
      beating ??= setInterval(beat, BEAT_MS);
    },
    emailEnds(line: Line, job: Job, wasAnswered: boolean): void {
      line.job = undefined;
      setHung(line, false);
      if (!wasAnswered) return;
      answered++;
      health?.answers.learn(line.longest);
      if (hangsTo.size > 0) hangsTo.delete(destinationOf(job));
    },
    /** Neither answers nor hangs from before an outage must be reported after it. */
    forget() {
      answeredToldOf = answered;
      for (const line of lines) if (line.silent > 0) line.counted = true;
    },
    /**
     * If emails of one destination hang, it gets half of the places until one of them is answered.
     * If all of these wait without an answer and none can lose its place, one email at a time tests
     * whether others are answered, as long as that leaves places for other destinations: a quarter
     * of all, or a single one while nothing else waits.
     */
    whoFits(waiting: readonly Job[]): (job: Job) => boolean {
      const talks = new Map<string, { all: number; inVain: number }>();
      let inVain = 0;
      for (const line of lines) {
        if (line.job === undefined || line.hung) continue;
        const destination = destinationOf(line.job);
        const own = talks.get(destination) ?? { all: 0, inVain: 0 };
        own.all++;
        if (waitsInVain(line)) {
          own.inVain++;
          inVain++;
        }
        talks.set(destination, own);
      }
      return (job) => {
        const destination = destinationOf(job);
        const own = talks.get(destination);
        if ((hangsTo.get(destination) ?? 0) < DESTINATION_HANGS || own === undefined) return true;
        if (own.all < pool.places / 2) return true;
        if (own.all > own.inVain) return false;
        if (inVain < (pool.places * 3) / 4) return true;
        return inVain < pool.places - 1 && waiting.every((it) => destinationOf(it) === destination);
      };
    },
    /** Ends emails that hang before they were sent completely. */
    cutUnsent() {
      for (const line of lines) if (line.hung) cutUnlessSent(line);
    },
    /** From now on no email that was not sent completely waits for its answer. */
    stop() {
      stopping = true;
    },
  };
}

const waitsInVain = ({ job, silent }: Line): boolean => job !== undefined && silent >= PLACE_BEATS;

export const newLine = (session: SmtpSession): Line => ({
  session,
  job: undefined,
  next: undefined,
  replies: 0,
  taken: 0,
  silent: 0,
  longest: 0,
  answeredThen: 0,
  counted: false,
  hung: false,
});

const sizeOf = (job: Job): number => lengthOf(job.chunks);

/** Where an email goes: the domain of its first recipient. */
function destinationOf({ envelope }: Job): string {
  const [recipient = ''] = envelope.recipients;
  return recipient.slice(recipient.lastIndexOf('@') + 1);
}
