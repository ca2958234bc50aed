// The vault: seals what goes into the database and opens it again, with the key of the secret in
// force. Before it: installation.ts opened the secret. Used by accounts/ for DKIM keys and by
// webhooks/ for signing secrets.
import { Problem } from '../errors.ts';
import type { Queryable } from './pool.ts';
import { seal, unseal } from './sealing.ts';

/**
 * Another secret is in force: nothing is wrong with the row or the email; this process is out of
 * date and about to end.
 */
export class SecretChanged extends Problem {
  constructor() {
    super(
      'unavailable',
      'The secret of this installation was changed while this process ran. Start it again with the new SECRET_KEY, then try again.',
    );
  }
}

export interface Vault {
  /**
   * Call it in the transaction that writes the row, so that nothing is sealed with a secret that is
   * no longer in force.
   */
  seal(client: Queryable, label: string, plain: Buffer): Promise<Buffer>;
  /** Undefined: sealed with another secret, for another row, or changed since. */
  open(label: string, sealed: Buffer): Buffer | undefined;
  isInForce(database: Queryable): Promise<boolean>;
}

/** Uses the index: every process asks every other second. */
const IN_FORCE = 'SELECT FROM installation WHERE only_one AND verifier = $1';

export function createVault(key: Buffer, verifier: Buffer): Vault {
  return {
    async seal(client, label, plain) {
      // The share lock makes a change of the secret wait until this is committed, so that it
      // reseals this row as well.
      const rows = await client.query(`${IN_FORCE} FOR SHARE`, [verifier]);
      if (rows.length === 0) throw new SecretChanged();
      return seal(key, label, plain);
    },
    open: (label, sealed) => unseal(key, label, sealed),
    async isInForce(database) {
      return (await database.query(IN_FORCE, [verifier])).length > 0;
    },
  };
}
