// Nonces that a provider signs instead of the whole notification: each is valid only for the
// notification it first came with, in every process. Before: inbound/provider.ts has checked the
// signature. Without this, anyone who saw one notification could forge others with its signature. A
// repeat of the same one passes: providers retry if our answer was lost.
import { createHash } from 'node:crypto';
import type { Database } from '../store/pool.ts';

/** Longer than any signature is accepted. */
const KEPT_DAYS = 2;

export async function isFirstOrSame(
  database: Database,
  provider: string,
  nonce: string,
  said: string,
): Promise<boolean> {
  const [kept] = await database.query<{ isSame: boolean }>(
    `INSERT INTO provider_nonces AS n (provider, nonce, said) VALUES ($1, $2, $3)
     ON CONFLICT (provider, nonce) DO UPDATE SET said = n.said RETURNING n.said = $3 AS "isSame"`,
    [provider, digest(nonce), digest(said)],
  );
  return kept!.isSame;
}

export async function pruneNonces(database: Database): Promise<void> {
  await database.query(
    `DELETE FROM provider_nonces WHERE seen_at < now() - interval '${KEPT_DAYS} days'`,
  );
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
