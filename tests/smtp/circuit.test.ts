// The circuit, the patience with a relay and the retry table, on a clock of the test's own.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXPIRES_AFTER_MS, isExpired, nextAttemptDelayMs } from '../../src/delivery/retry.ts';
import { createCircuit } from '../../src/smtp/circuit.ts';
import { createPatience } from '../../src/smtp/patience.ts';

function circuitAt(random = () => 0.5) {
  const clock = { ms: 0 };
  const circuit = createCircuit({
    now: () => clock.ms,
    random,
    firstWaitMs: 2_000,
    longestWaitMs: 10_000,
  });
  const repeat = (times: number, act: () => void) => {
    for (let i = 0; i < times; i++) act();
  };
  return { clock, circuit, repeat };
}

describe('circuit', () => {
  it('opens after three faults in a row, not before', () => {
    const { circuit, repeat } = circuitAt();
    repeat(2, circuit.fault);
    expect([circuit.isOpen(), circuit.isInDoubt()]).toEqual([false, true]);
    circuit.fault();
    expect([circuit.isOpen(), circuit.probeInMs()]).toEqual([true, 2_000]);
  });

  it('counts only faults without a session between, and hangs without an answered email', () => {
    const { circuit, repeat } = circuitAt();
    repeat(10, () => {
      repeat(2, circuit.fault);
      circuit.reached();
      repeat(2, circuit.hang);
      circuit.worked();
    });
    expect([circuit.state(), circuit.isInDoubt()]).toEqual(['closed', false]);
    repeat(2, circuit.hang);
    circuit.reached();
    circuit.hang();
    expect(circuit.state()).toBe('open');
  });

  it('lets exactly one probe through when its time is up, and closes when that succeeds', () => {
    const { clock, circuit } = circuitAt();
    circuit.trip();
    clock.ms = 1_999;
    expect(circuit.takeProbe()).toBe(false);
    clock.ms = 2_000;
    expect(circuit.takeProbe()).toBe(true);
    expect(circuit.takeProbe()).toBe(false);
    expect([circuit.state(), circuit.isOpen(), circuit.probeInMs()]).toEqual([
      'half-open',
      true,
      0,
    ]);
    circuit.reached();
    expect([circuit.state(), circuit.isOpen()]).toEqual(['closed', false]);
  });

  it('waits twice as long after each failed probe, up to its limit, and starts over after a success', () => {
    const { clock, circuit } = circuitAt();
    circuit.trip();
    const waits = [];
    for (let i = 0; i < 5; i++) {
      waits.push(circuit.probeInMs());
      clock.ms += circuit.probeInMs();
      expect(circuit.takeProbe()).toBe(true);
      circuit.probeFailed();
    }
    expect(waits).toEqual([2_000, 4_000, 8_000, 10_000, 10_000]);
    circuit.reached();
    circuit.trip();
    expect(circuit.probeInMs()).toBe(2_000);
  });

  it('counts the wait from the start of a probe: one that hangs for seconds does not add to it', () => {
    const { clock, circuit } = circuitAt();
    circuit.trip();
    clock.ms = 2_000;
    circuit.takeProbe();
    clock.ms = 3_500;
    circuit.probeFailed();
    expect(circuit.probeInMs()).toBe(2_500);
  });

  it('spreads every wait by a fifth to either side', () => {
    for (const [random, wait] of [
      [0, 1_600],
      [1, 2_400],
    ] as const) {
      const { circuit } = circuitAt(() => random);
      circuit.trip();
      expect(circuit.probeInMs()).toBeCloseTo(wait);
    }
  });

  it('is not kept open longer by emails that were already under way', () => {
    const { clock, circuit, repeat } = circuitAt();
    repeat(3, circuit.fault);
    clock.ms = 1_500;
    repeat(20, circuit.fault);
    repeat(20, circuit.hang);
    circuit.trip();
    clock.ms = 2_000;
    expect(circuit.takeProbe()).toBe(true);
    repeat(20, circuit.fault);
    expect(circuit.state()).toBe('half-open');
  });

  it('closes at once when an email gets through while it is open', () => {
    const { circuit } = circuitAt();
    circuit.trip();
    circuit.worked();
    expect(circuit.isOpen()).toBe(false);
  });

  it('is on trial after hangs: a greeting closes it, the next hang opens it for longer', () => {
    const { circuit, repeat } = circuitAt();
    repeat(3, circuit.hang);
    expect([circuit.state(), circuit.probeInMs()]).toEqual(['open', 2_000]);
    circuit.reached();
    expect([circuit.state(), circuit.isOnTrial()]).toEqual(['closed', true]);
    circuit.hang();
    expect([circuit.state(), circuit.probeInMs()]).toEqual(['open', 4_000]);
    circuit.reached();
    circuit.worked();
    repeat(2, circuit.hang);
    expect([circuit.state(), circuit.isOnTrial()]).toEqual(['closed', false]);
  });
});

describe('patience', () => {
  it('is at least 1 s, and three times what the relay needed twice in a row', () => {
    const patience = createPatience();
    expect([patience.beats(), patience.doubtBeats()]).toEqual([10, 3]);
    patience.learn(40);
    expect(patience.beats()).toBe(120);
    patience.learn(30);
    expect([patience.beats(), patience.doubtBeats()]).toEqual([90, 31]);
    patience.learn(0);
    expect(patience.beats()).toBe(10);
    patience.learn(40);
    expect(patience.beats()).toBe(10);
  });

  it('learns no more than 15 s from a relay that was stuck', () => {
    const patience = createPatience();
    for (let i = 0; i < 8; i++) patience.learn(6_000);
    expect(patience.beats()).toBe(150);
  });
});

describe('retry', () => {
  it('waits half a minute first and three hours in the end', () => {
    const middle = () => 0.5;
    expect(
      Array.from({ length: 12 }, (_, i) => nextAttemptDelayMs(i + 1, middle) / 60_000),
    ).toEqual([0.5, 1, 2, 5, 10, 20, 40, 60, 120, 180, 180, 180]);
  });

  it('spreads every wait by a fifth to either side', () => {
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (attempt, random) => {
          const middle = nextAttemptDelayMs(attempt, () => 0.5);
          const wait = nextAttemptDelayMs(attempt, () => random);
          expect(wait).toBeGreaterThanOrEqual(middle * 0.8 - 1);
          expect(wait).toBeLessThanOrEqual(middle * 1.2 + 1);
        },
      ),
    );
  });

  it('gives up after 24 hours', () => {
    expect(isExpired(1_000, 1_000 + EXPIRES_AFTER_MS - 1)).toBe(false);
    expect(isExpired(1_000, 1_000 + EXPIRES_AFTER_MS)).toBe(true);
    expect(EXPIRES_AFTER_MS).toBe(86_400_000);
  });
});
