// The relays that the service uses, for commands that talk to them: those that are stored, and that
// of RELAY_URL.
import type { Config } from '../config/config.ts';
import { knownRelays, type NamedRelay, withAddress } from '../relays/relay-list.ts';
import { openSecret } from '../roles/secrets.ts';
import type { Database } from '../store/pool.ts';

export async function relaysHere(
  database: Database,
  { secretKey, relayUrl }: Config,
): Promise<NamedRelay[]> {
  const { vault } = await openSecret(database, secretKey);
  return withAddress(await knownRelays(database, vault, relayUrl), relayUrl);
}
