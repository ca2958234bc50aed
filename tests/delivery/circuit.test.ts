// The circuit and the retry table, on a clock of the test's own.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCircuit } from '../../src/delivery/circuit.ts';
import { EXPIRES_AFTER_MS, isExpired, nextAttemptDelayMs } from '../../src/delivery/retry.ts';

function circuitAt() {
  const clock = { ms: 0 };
  const circuit = createCircuit({
    now: () => clock.ms,
    faultsToOpen: 3,
    firstWaitMs: 2_000,
    longestWaitMs: 10_000,
  });
  return { clock, circuit };
}

describe('circuit', () => {
  it('opens after three faults in a row, not before', () => {
    const { circuit } = circuitAt();
    circuit.recordFault();
    circuit.recordFault();
    expect(circuit.isOpen()).toBe(false);
    circuit.recordFault();
    expect(circuit.isOpen()).toBe(true);
    expect(circuit.retryAfterSeconds()).toBe(2);
  });

  it('counts only faults without a success between', () => {
    const { circuit } = circuitAt();
    for (let round = 0; round < 10; round++) {
      circuit.recordFault();
      circuit.recordFault();
      circuit.recordSuccess();
    }
    expect(circuit.state()).toBe('closed');
  });

  it('lets exactly one probe through when its time is up, and closes when that succeeds', () => {
    const { clock, circuit } = circuitAt();
    for (let i = 0; i < 3; i++) circuit.recordFault();
    clock.ms = 1_999;
    expect(circuit.takeProbe()).toBe(false);
    clock.ms = 2_000;
    expect(circuit.takeProbe()).toBe(true);
    expect(circuit.takeProbe()).toBe(false);
    expect([circuit.state(), circuit.isOpen(), circuit.retryAfterSeconds()]).toEqual([
      'half-open',
      true,
      1,
    ]);
    circuit.recordSuccess();
    expect([circuit.state(), circuit.isOpen()]).toEqual(['closed', false]);
  });

  it('waits twice as long after each failed probe, up to its limit, and starts over after a success', () => {
    const { clock, circuit } = circuitAt();
    for (let i = 0; i < 3; i++) circuit.recordFault();
    const waits = [];
    for (let i = 0; i < 5; i++) {
      waits.push(circuit.retryAfterSeconds());
      clock.ms += circuit.retryAfterSeconds() * 1000;
      expect(circuit.takeProbe()).toBe(true);
      circuit.recordFault();
    }
    expect(waits).toEqual([2, 4, 8, 10, 10]);
    circuit.recordSuccess();
    for (let i = 0; i < 3; i++) circuit.recordFault();
    expect(circuit.retryAfterSeconds()).toBe(2);
  });

  it('is not kept open longer by mails that were already under way', () => {
    const { clock, circuit } = circuitAt();
    for (let i = 0; i < 3; i++) circuit.recordFault();
    clock.ms = 1_500;
    for (let i = 0; i < 20; i++) circuit.recordFault();
    clock.ms = 2_000;
    expect(circuit.takeProbe()).toBe(true);
  });

  it('closes at once when a mail gets through while it is open', () => {
    const { circuit } = circuitAt();
    for (let i = 0; i < 3; i++) circuit.recordFault();
    circuit.recordSuccess();
    expect(circuit.isOpen()).toBe(false);
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
