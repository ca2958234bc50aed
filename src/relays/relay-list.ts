// Which relays there are, for one process: those that operators added and the one of RELAY_URL,
// read once a second, so that a change takes effect everywhere without a restart. Before it:
// operations/relays.ts stores them. After it: fleet.ts opens and closes what changed.
import type { Log } from '../process/log.ts';
import { recurringFault } from '../process/recurring-fault.ts';
import { repeatedly } from '../process/repeatedly.ts';
import type { Database, Queryable } from '../store/pool.ts';
import type { Vault } from '../store/vault.ts';
import { DEFAULT_RELAY, loadRelays, PLAIN_SETTINGS, type RelaySettings } from './stored-relays.ts';

const ASK_EVERY_MS = 1_000;

/** Settings of a relay whose address is known. */
export interface NamedRelay extends RelaySettings {
  url: string;
}

export interface RelayList {
  /** All that have an address, including disabled ones. */
  all(): readonly NamedRelay[];
  /** There is none: the sandbox captures everything. */
  isSandbox(): boolean;
  /** Called after every read, whether something changed or not. */
  onLook(listener: (relays: readonly NamedRelay[]) => void): void;
  /** Called when the relays that email goes through have changed. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

/** The stored relays, plus `default` if RELAY_URL names it and no row does. */
export async function knownRelays(
  database: Queryable,
  vault: Vault,
  relayUrl: string | undefined,
): Promise<RelaySettings[]> {
  const stored = await loadRelays(database, vault);
  const hasOwn = stored.some(({ name }) => name === DEFAULT_RELAY);
  if (relayUrl === undefined || hasOwn) return stored;
  return [{ name: DEFAULT_RELAY, url: null, ...PLAIN_SETTINGS }, ...stored];
}

/** The address of a relay; undefined: only RELAY_URL would say, and it is unset here. */
export const addressOf = (
  { url }: Pick<RelaySettings, 'url'>,
  relayUrl: string | undefined,
): string | undefined => url ?? relayUrl;

export const withAddress = (
  known: readonly RelaySettings[],
  relayUrl: string | undefined,
): NamedRelay[] =>
  known.flatMap((relay) => {
    const url = addressOf(relay, relayUrl);
    return url === undefined ? [] : [{ ...relay, url }];
  });

export async function openRelayList(deps: {
  database: Database;
  vault: Vault;
  log: Log;
  relayUrl: string | undefined;
}): Promise<RelayList> {
  const { database, vault, relayUrl } = deps;
  const couldNotAsk = recurringFault(deps.log, 'warn', 'could not read the list of relays');
  const listeners: ((relays: readonly NamedRelay[]) => void)[] = [];
  const changeListeners: (() => void)[] = [];
  let relays: NamedRelay[] = [];
  let isSandbox = true;

  async function ask(): Promise<void> {
    const known = await knownRelays(database, vault, relayUrl);
    isSandbox = known.length === 0;
    const before = carriers(relays);
    relays = withAddress(known, relayUrl);
    for (const listener of listeners) listener(relays);
    if (carriers(relays) !== before) for (const listener of changeListeners) listener();
  }

  await ask();
  const asking = repeatedly(ASK_EVERY_MS, ask, couldNotAsk);
  return {
    all: () => relays,
    isSandbox: () => isSandbox,
    onLook: (listener) => void listeners.push(listener),
    onChange: (listener) => void changeListeners.push(listener),
    close: asking.stop,
  };
}

const carriers = (relays: readonly NamedRelay[]): string =>
  JSON.stringify(relays.filter(({ enabled }) => enabled).map(({ name, url }) => [name, url]));
