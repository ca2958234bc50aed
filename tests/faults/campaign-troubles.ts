// The troubles a campaign draws from, one deck for processes and database and one for the relay.
// Each breaks something, waits, and repairs it. Before: campaign-stage.ts has what can break.
// After: campaign.ts plays them and keeps when each was.
import { setTimeout as wait } from 'node:timers/promises';
import { findFaketime, shiftedClock } from '../support/faketime.ts';
import type { RelayFault } from '../support/faulty-relay.ts';
import { until } from '../support/until.ts';
import type { Chance } from './campaign-chance.ts';
import type { Trouble } from './campaign-ledger.ts';
import { type Actor, LEASE_SECONDS, type Stage } from './campaign-stage.ts';

export interface Plan extends Pick<Trouble, 'kind' | 'what' | 'concerns'> {
  play(): Promise<void>;
}

/** Draws one trouble, with everything that chance decides about it. */
export type Draw = () => Plan;

const PAST_THE_LEASE_MS = LEASE_SECONDS * 1000 + 2_000;

export const RELAY_FAULTS: readonly RelayFault[] = [
  'refuses',
  'closes',
  'greets with 421',
  'silent',
  'hangs at MAIL',
  'defers the recipient',
  'cuts after the email',
  'hangs after the email',
];

export function relayTroubles({ relay }: Stage, chance: Chance): Draw[] {
  return RELAY_FAULTS.map((fault) => () => {
    const forMs = chance.between(1_000, 3_000);
    return {
      kind: 'relay' as const,
      what: `the relay ${fault === 'silent' ? 'is silent from the greeting on' : fault}`,
      concerns: ['relay'],
      async play() {
        await relay.fail(fault);
        await wait(forMs);
        await relay.heal();
      },
    };
  });
}

export function processTroubles(stage: Stage, chance: Chance, long: boolean) {
  const draws: Draw[] = [killPostgres(stage)];
  for (const role of ['api', 'delivery'] as const) {
    const actors = stage.actors.filter((actor) => actor.role === role);
    for (const trouble of [kill, freeze, blackHole]) {
      draws.push(() => trouble(chance.pick(actors), chance));
    }
  }
  const leftOut = ['promotion of a standby, which promotion.test.ts shows'];
  const faketime = findFaketime();
  if (!long) leftOut.push('clock shifts and a full disk, which the long form has');
  else {
    if (faketime === undefined) leftOut.push('clock shifts: libfaketime is not installed');
    else draws.push(() => shiftClock(chance.pick(stage.actors), chance, faketime));
    if (stage.disk === undefined) leftOut.push('a full disk: only root can mount a small one');
    else draws.push(fillDisk(stage, stage.disk, chance));
  }
  return { draws, leftOut };
}

function kill(actor: Actor, chance: Chance): Plan {
  const awayMs = chance.between(0, 1_500);
  return {
    kind: 'killed',
    what: `kill -9 of ${actor.role}`,
    concerns: [actor.name],
    async play() {
      await actor.kill();
      await wait(awayMs);
      await actor.start();
    },
  };
}

function freeze(actor: Actor, chance: Chance): Plan {
  const forMs = PAST_THE_LEASE_MS + chance.between(0, 2_000);
  return {
    kind: 'frozen',
    what: `SIGSTOP of ${actor.role}, past the lease`,
    concerns: [actor.name],
    async play() {
      actor.signal('SIGSTOP');
      await wait(forMs);
      actor.signal('SIGCONT');
    },
  };
}

function blackHole(actor: Actor, chance: Chance): Plan {
  const forMs = chance.between(2_000, PAST_THE_LEASE_MS);
  return {
    kind: 'database away',
    what: `black-holed database connections of ${actor.role}`,
    concerns: [actor.name],
    async play() {
      actor.database.swallow();
      await wait(forMs);
      await actor.database.open();
    },
  };
}

/** The embedded server is started again by who opened it. */
const killPostgres = (stage: Stage): Draw => {
  const plan: Plan = {
    kind: 'database away',
    what: 'kill -9 of PostgreSQL',
    concerns: stage.actors.map((actor) => actor.name),
    async play() {
      const killed = stage.postmaster();
      process.kill(killed, 'SIGKILL');
      // The sessions it leaves behind may answer once more.
      await until(() => stage.postmaster() !== killed);
      await until(() => stage.database.query('SELECT 1'));
    },
  };
  return () => plan;
};

function fillDisk(stage: Stage, disk: NonNullable<Stage['disk']>, chance: Chance): Draw {
  return () => {
    const forMs = chance.between(3_000, 8_000);
    return {
      kind: 'database away',
      what: 'the disk of PostgreSQL is full',
      concerns: stage.actors.map((actor) => actor.name),
      async play() {
        disk.fill();
        await wait(forMs);
        disk.clear();
        await until(() => stage.database.query('CREATE TEMPORARY TABLE IF NOT EXISTS room ()'));
      },
    };
  };
}

/** Stopped cleanly each time: a wrong clock is no excuse for a repeat. */
function shiftClock(actor: Actor, chance: Chance, faketime: string): Plan {
  const shift = chance.pick(['-1h', '+150s', '-3d', '+9d']);
  const forMs = chance.between(4_000, 10_000);
  return {
    kind: 'wrong clock',
    what: `a clock of ${actor.role} that is wrong by ${shift}`,
    concerns: [actor.name],
    async play() {
      await actor.stop();
      await actor.start(shiftedClock(faketime, shift));
      await wait(forMs);
      await actor.stop();
      await actor.start();
    },
  };
}
