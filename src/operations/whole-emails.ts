// Turns at reading stored emails whole. Such a call is small and its answer has up to 25 MB, which
// stay in memory until the client has read them: 30 clients that read nothing took 700 MB. So few
// run at a time, and an account gets only some of the turns. Before it: perform.ts. After it: the
// operation, and then the door, until the answer has been read.
import { Problem } from '../errors.ts';

export interface WholeEmails {
  /** Runs `work` when it is the account's turn, which ends when the reader has the answer. */
  inTurn<Answer>(accountId: number, reader: Reader, work: () => Promise<Answer>): Promise<Answer>;
}

/** As in Via (operation.ts). */
export interface Reader {
  onGone?: ((stop: () => void) => void) | undefined;
  hangUp?: (() => void) | undefined;
}

export interface WholeEmailLimits {
  most: number;
  mostOfAccount: number;
  /** In beats: a process that was frozen must not blame the client for its own pause. */
  beatMs: number;
  /** An answer that keeps others waiting for this long is cut off … */
  giveWayAfterBeats: number;
  /** … and a call that has waited this long is refused. */
  refuseAfterBeats: number;
}

const LIMITS: WholeEmailLimits = {
  most: 6,
  mostOfAccount: 2,
  beatMs: 1000,
  giveWayAfterBeats: 20,
  refuseAfterBeats: 60,
};

interface Turn {
  accountId: number;
  reader: Reader;
  beats: number;
}

interface Waiting extends Turn {
  go: () => void;
  refuse: (problem: Problem) => void;
}

export function createWholeEmails(limits: WholeEmailLimits = LIMITS): WholeEmails {
  const running = new Set<Turn>();
  const waiting = new Set<Waiting>();
  let watch: NodeJS.Timeout | undefined;

  const turnsOf = (accountId: number): Turn[] =>
    [...running].filter((turn) => turn.accountId === accountId);

  /** What it waits for; none: it may begin. */
  function inTheWayOf({ accountId }: Turn): Turn[] {
    const own = turnsOf(accountId);
    if (own.length >= limits.mostOfAccount) return own;
    return running.size >= limits.most ? [...running] : [];
  }

  function begin(turn: Waiting): void {
    waiting.delete(turn);
    running.add(turn);
    turn.beats = 0;
    turn.go();
  }

  /** Next comes the account with the fewest turns; of these, who came first. */
  function admit(): void {
    const line = [...waiting].sort(
      (one, other) => turnsOf(one.accountId).length - turnsOf(other.accountId).length,
    );
    for (const turn of line) {
      if (inTheWayOf(turn).length === 0) begin(turn);
      else if (waitsForItself(turn)) refuse(turn);
    }
    if (waiting.size > 0) watch ??= setInterval(beat, limits.beatMs);
    else {
      clearInterval(watch);
      watch = undefined;
    }
  }

  /** Calls of one request are answered together: it keeps its turns until all of them are done. */
  const waitsForItself = (turn: Turn): boolean => {
    const inTheWay = inTheWayOf(turn);
    return inTheWay.length > 0 && inTheWay.every(({ reader }) => reader === turn.reader);
  };

  function beat(): void {
    const inTheWay = [...waiting].flatMap((turn) =>
      inTheWayOf(turn).filter(({ reader }) => reader !== turn.reader),
    );
    for (const turn of new Set(inTheWay)) {
      if (++turn.beats >= limits.giveWayAfterBeats) turn.reader.hangUp?.();
    }
    for (const turn of waiting) if (++turn.beats >= limits.refuseAfterBeats) refuse(turn);
  }

  function refuse(turn: Waiting): void {
    waiting.delete(turn);
    turn.refuse(tooMany());
  }

  function leave(turn: Waiting): void {
    running.delete(turn);
    refuse(turn);
    admit();
  }

  return {
    async inTurn(accountId, reader, work) {
      let turn: Waiting;
      const isItsTurn = new Promise<void>((go, refuse) => {
        turn = { accountId, reader, beats: 0, go, refuse };
      });
      reader.onGone?.(() => leave(turn));
      waiting.add(turn!);
      admit();
      try {
        await isItsTurn;
        const answer = await work();
        if (reader.onGone === undefined) leave(turn!);
        return answer;
      } catch (error) {
        leave(turn!);
        throw error;
      }
    },
  };
}

const tooMany = (): Problem =>
  new Problem(
    'unavailable',
    'Too many large emails are being read at the same time. Read one after the other, or try again shortly.',
    { retryAfterSeconds: 10 },
  );
