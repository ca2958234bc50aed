// The installation's secret and everything sealed with it. Opened by main.ts and by commands; the
// folders below declare which of their columns are sealed, and store/ does the work.
import { DOMAIN_KEY_COLUMNS } from '../accounts/domain-keys.ts';
import { APP_COLUMNS } from '../people/authenticator-app.ts';
import { RELAY_COLUMNS } from '../relays/stored-relays.ts';
import * as installation from '../store/installation.ts';
import type { Database } from '../store/pool.ts';
import { WEBHOOK_SECRET_COLUMNS } from '../webhooks/endpoint-secrets.ts';

const COLUMNS = [
  ...DOMAIN_KEY_COLUMNS,
  ...WEBHOOK_SECRET_COLUMNS,
  ...RELAY_COLUMNS,
  ...APP_COLUMNS,
];

/**
 * Commands and tests use `join`, which changes nothing for running processes. main.ts uses `start`.
 */
export const openSecret = (
  database: Database,
  secretKey: string | undefined,
  opening: installation.Opening = 'join',
): Promise<installation.Secret> => installation.openSecret(database, secretKey, COLUMNS, opening);

export const rotateSecret = (
  database: Database,
  wish: installation.RotationWish,
): Promise<installation.Rotation> => installation.rotateSecret(database, COLUMNS, wish);

export const checkSealed = (
  database: Database,
  secret: installation.Secret,
): Promise<{ total: number; stranded: string[] }> =>
  installation.checkSealed(database, secret, COLUMNS);
