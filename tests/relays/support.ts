// Relays in tests: added and changed as operators do it.
import { readConfig } from '../../src/config/config.ts';
import { knownRelays } from '../../src/relays/relay-list.ts';
import { PLAIN_SETTINGS, type RelaySettings, saveRelay } from '../../src/relays/stored-relays.ts';
import { openSecret } from '../../src/roles/secrets.ts';
import type { TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

type Wish = Partial<RelaySettings> & Pick<RelaySettings, 'name'>;

const vaultOf = async ({ database, databaseUrl }: TestService) =>
  (await openSecret(database, readConfig({ DATABASE_URL: databaseUrl }).secretKey)).vault;

export async function addRelay(service: TestService, wish: Wish): Promise<void> {
  const vault = await vaultOf(service);
  await service.database.transaction((client) =>
    saveRelay(client, vault, { url: null, ...PLAIN_SETTINGS, ...wish }),
  );
}

/** By name. */
type Changes = Record<string, Partial<RelaySettings>>;

/** Answers when the delivery processes have looked twice since: they have taken it over. */
export async function changeRelays(service: TestService, changes: Changes): Promise<void> {
  const vault = await vaultOf(service);
  const known = await knownRelays(service.database, vault, 'smtp://unused');
  for (const [name, change] of Object.entries(changes)) {
    await addRelay(service, { ...known.find((it) => it.name === name)!, ...change });
  }
  await taken(service);
}

async function taken({ database }: TestService): Promise<void> {
  const [now] = await database.query<{ at: Date }>('SELECT now() AS at');
  await until(async () => {
    const [row] = await database.query<{ ok: boolean }>(
      `SELECT min(seen_at) > $1::timestamptz + interval '2.2 seconds' AS ok FROM delivery_processes`,
      [now!.at],
    );
    return row?.ok;
  });
}

/** Answers when every delivery process has exactly these. */
export async function haveRelays({ database }: TestService, names: string[]): Promise<void> {
  await until(async () => {
    const rows = await database.query<{ relays: { name: string }[] | null }>(
      'SELECT relays FROM delivery_processes',
    );
    const wanted = [...names].sort().join();
    return rows.every(
      ({ relays }) =>
        relays
          ?.map(({ name }) => name)
          .sort()
          .join() === wanted,
    );
  });
}

export async function removeRelay({ database }: TestService, name: string): Promise<void> {
  await database.query('DELETE FROM relays WHERE name = $1', [name]);
}
