// Keys from before there were checksums: which accounts may have one. A key whose checksum is wrong
// is looked up for these only; for all others directory.ts refuses it, and the database hears
// nothing of it.
import type { Queryable } from '../store/pool.ts';

/** Every key made from here on has a checksum; none that this excludes has ever been without. */
const CHECKSUMS_SINCE = '2026-11-17T00:00:00Z';

/** Asked once: no such key is made any more. */
export function openOldKeys(database: Queryable): (accountId: number) => Promise<boolean> {
  let asked: Promise<Set<number>> | undefined;

  async function ask(): Promise<Set<number>> {
    const rows = await database.query<{ accountId: number }>(
      `SELECT DISTINCT account_id AS "accountId" FROM api_keys
       WHERE created_at < $1 AND revoked_at IS NULL`,
      [CHECKSUMS_SINCE],
    );
    return new Set(rows.map(({ accountId }) => accountId));
  }

  return async (accountId) => {
    asked ??= ask().catch((error) => {
      asked = undefined;
      throw error;
    });
    return (await asked).has(accountId);
  };
}
