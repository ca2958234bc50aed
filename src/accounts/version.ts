// The version of an account: raised with every change of what processes remember of it, in the same
// statement or transaction. accounts/directory.ts asks for it twice a second and reads again what
// changed. No trigger does it: a table that has one cannot be distributed (docs/scale.md).
import type { Queryable } from '../store/pool.ts';

/** Of the account $1; is in a larger statement. */
export const RAISE_VERSION = 'UPDATE accounts SET version = version + 1 WHERE id = $1';

/** A statement that changes something of account $1 and answers it, with its version raised. */
export const raising = (statement: string): string =>
  `WITH changed AS (${statement}), raised AS (${RAISE_VERSION}) SELECT * FROM changed`;

/** Inside the transaction that makes the change. */
export async function raiseVersion(client: Queryable, accountId: number): Promise<void> {
  await client.query(RAISE_VERSION, [accountId]);
}
