// How one relay is: its circuit, the probes, what is said of it in the log and to the other processes. Before: worker.ts
// says how hand-overs went. After: the worker claims nothing while it is open, and sending/accept refuses (relay-state.ts).
import type { Log } from '../log.ts';
import type { Circuit } from './circuit.ts';
import type { HandOver, Relay } from './relay.ts';
import type { RelayReporting } from './relay-state.ts';

export interface RelayHealth {
  /** Nothing should be claimed: it would only fail. */
  isOpen(): boolean;
  /** The first look at the relay comes before the first claim, so that the API knows from the start. */
  firstProbe(): Promise<void>;
  /** While open: probes when its time has come. Attempts of waiting mails are not burned on it. */
  probeAgain(): Promise<void>;
  note(handOver: HandOver): void;
}

export function createRelayHealth(deps: {
  relay: Pick<Relay, 'probe'>;
  circuit: Circuit;
  reporting: RelayReporting;
  log: Log;
}): RelayHealth {
  const { relay, circuit, reporting, log } = deps;
  const tellUp = () => reporting.tell({ down: false, retryAfterMs: 0, detail: null });
  const tellDown = (detail: string) =>
    reporting.tell({ down: true, retryAfterMs: circuit.retryAfterSeconds() * 1000, detail });

  return {
    isOpen: () => circuit.isOpen(),
    async firstProbe() {
      const probe = await relay.probe();
      if (probe.connection === 'ok') return await tellUp();
      circuit.trip();
      log.warn({ detail: probe.fault.text }, 'the relay cannot be reached');
      await tellDown(probe.fault.text);
    },
    async probeAgain() {
      if (!circuit.takeProbe()) return;
      const probe = await relay.probe();
      if (probe.connection === 'ok') {
        circuit.recordSuccess();
        log.info('the relay can be reached again');
        await tellUp();
      } else {
        circuit.recordFault();
        await tellDown(probe.fault.text);
      }
    },
    note(handOver) {
      if (handOver.connection !== 'unreachable') return circuit.recordSuccess();
      const detail = handOver.fault?.text ?? 'unreachable';
      circuit.recordFault();
      if (!circuit.isOpen()) return;
      log.warn({ detail }, 'the relay cannot be reached; new mail is held back');
      void tellDown(detail);
    },
  };
}
