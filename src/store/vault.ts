// The vault: seals what goes into the database and opens it again, with the key of the secret that is in force.
// Before: installation.ts opened the secret. Used by accounts/ for DKIM keys and by webhooks/ for signing secrets.
import { Problem } from '../errors.ts';
import { seal, unseal } from '../sealing.ts';
import type { Queryable } from './pool.ts';

export interface Vault {
  /** Call it in the transaction that writes the row: nothing is sealed with a secret that is no longer in force. */
  seal(client: Queryable, label: string, plain: Buffer): Promise<Buffer>;
  /** Undefined: sealed with another secret, for another row, or changed since. */
  open(label: string, sealed: Buffer): Buffer | undefined;
  isInForce(database: Queryable): Promise<boolean>;
}

export function createVault(key: Buffer, verifier: Buffer): Vault {
  return {
    async seal(client, label, plain) {
      // The share lock makes a change of the secret wait until this is committed, so that it seals this row anew as well.
      const rows = await client.query('SELECT FROM installation WHERE verifier = $1 FOR SHARE', [
        verifier,
      ]);
      if (rows.length > 0) return seal(key, label, plain);
      throw new Problem(
        'unavailable',
        'The secret of this installation was changed while this process ran. Start it again with the new SECRET_KEY, then try again.',
      );
    },
    open: (label, sealed) => unseal(key, label, sealed),
    async isInForce(database) {
      const rows = await database.query('SELECT FROM installation WHERE verifier = $1', [verifier]);
      return rows.length > 0;
    },
  };
}
