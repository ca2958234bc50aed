// Where people sign in from: network and device. Before it: a password or a link was right. The
// person is notified of a new place (notices.ts); a known network is not held back when others
// guess at the address (sign-in-throttle.ts).
import { readUuid } from '../ids.ts';
import { networkOf } from '../networks.ts';
import type { Database, Queryable } from '../store/pool.ts';

export interface SignInPlace {
  /** IP address of the client. */
  client: string;
  userAgent: string;
}

/**
 * Remembers the place, and queues a notice if it is new. The very first needs none: that is how a
 * login is created.
 */
export async function noteSignIn(
  database: Queryable,
  userId: string,
  { client, userAgent }: SignInPlace,
): Promise<void> {
  const device = deviceOf(userAgent);
  await database.query(
    `WITH known AS (
       SELECT count(*) AS places, count(*) FILTER (WHERE network = $2 AND device = $3) AS here
       FROM sign_in_places WHERE user_id = $1
     ), noted AS (
       INSERT INTO sign_in_places (user_id, network, device) VALUES ($1, $2, $3)
       ON CONFLICT (user_id, network, device) DO UPDATE SET last_at = now()
     )
     INSERT INTO notices (user_id, kind, detail)
     SELECT $1, 'new-sign-in', $4::jsonb FROM known WHERE places > 0 AND here = 0`,
    [
      readUuid('usr_', userId),
      networkOf(client),
      device,
      JSON.stringify({ device, ipAddress: client }),
    ],
  );
}

/**
 * Old places are deleted, except the latest: without any, a stranger's sign-in to an unused login
 * would count as the first, and nobody would be notified.
 */
export async function prunePlaces(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM sign_in_places p WHERE p.last_at < now() - interval '180 days'
       AND EXISTS (SELECT FROM sign_in_places l WHERE l.user_id = p.user_id AND l.last_at > p.last_at)`,
  );
}

const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\b(Headless)?Chrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/\bWindows\b/, 'Windows'],
  [/\bAndroid\b/, 'Android'],
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** As people know it; without versions, so that an update is not a new device. */
export function deviceOf(userAgent: string): string {
  const known = (names: readonly [RegExp, string][]) =>
    names.find(([sign]) => sign.test(userAgent))?.[1];
  const browser = known(BROWSERS) ?? 'another program';
  const system = known(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
