// The installation's secret: SECRET_KEY, or one made once and kept in the database so that all processes share it.
// Keys for separate purposes are derived from it, so that a token of one kind is never valid as another.
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from './pool.ts';

export type Purpose = 'return-path' | 'tracking' | 'encryption' | 'session' | 'password-reset';

export type DeriveKey = (purpose: Purpose) => Buffer;

export async function openSecret(
  database: Database,
  secretKey: string | undefined,
): Promise<DeriveKey> {
  const secret = secretKey === undefined ? await ownSecret(database) : Buffer.from(secretKey);
  return (purpose) => Buffer.from(hkdfSync('sha256', secret, '', `sandmartin ${purpose}`, 32));
}

async function ownSecret(database: Database): Promise<Buffer> {
  await database.query('INSERT INTO installation (secret) VALUES ($1) ON CONFLICT DO NOTHING', [
    randomBytes(32),
  ]);
  const [row] = await database.query<{ secret: Buffer }>('SELECT secret FROM installation');
  return row!.secret;
}
