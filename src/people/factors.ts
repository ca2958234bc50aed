// All second factors of a person: which there are, what follows when one is added or removed
// (recovery codes, the strength of sessions, an audit row in each of their accounts, a notice), and
// whether an account requires one. The factors themselves: authenticator-app.ts, passkeys.ts,
// recovery-codes.ts.
import { type Actor, writeAudit } from '../audit/audit.ts';
import { readUuid } from '../ids.ts';
import type { Clock } from '../process/clock.ts';
import type { Queryable } from '../store/pool.ts';
import { makeRecoveryCodes } from './recovery-codes.ts';
import { membershipsOf } from './sessions.ts';

export interface Factors {
  app: boolean;
  passkeys: number;
  recoveryCodes: number;
}

export async function factorsOf(database: Queryable, userId: string): Promise<Factors> {
  const [row] = await database.query<Factors>(
    `SELECT EXISTS (SELECT FROM authenticator_apps WHERE user_id = $1 AND confirmed_at IS NOT NULL) AS app,
       (SELECT count(*) FROM passkeys WHERE user_id = $1)::int AS passkeys,
       (SELECT count(*) FROM recovery_codes WHERE user_id = $1)::int AS "recoveryCodes"`,
    [readUuid('usr_', userId)],
  );
  return row!;
}

export const hasFactor = ({ app, passkeys }: Factors): boolean => app || passkeys > 0;

/** Who changed what, and through which door. */
export interface FactorChange {
  user: { id: string; email: string };
  /** As people read it: `authenticator app`, `passkey “Phone”`. */
  factor: string;
  actor: Actor;
  door: string;
  requestId: string;
}

/** The session has shown it. The first factor comes with recovery codes; later ones return null. */
export async function factorWasAdded(
  client: Queryable,
  clock: Clock,
  change: FactorChange & { sessionId: string },
): Promise<string[] | null> {
  const { user, sessionId } = change;
  await client.query('UPDATE sessions SET second_factor = true WHERE id = $1', [sessionId]);
  await tell(client, clock, change, 'factor-added');
  const { recoveryCodes } = await factorsOf(client, user.id);
  return recoveryCodes === 0 ? await makeRecoveryCodes(client, user.id) : null;
}

/** Without a factor there is nothing to recover, and no session is stronger than its password. */
export async function factorWasRemoved(
  client: Queryable,
  clock: Clock,
  change: FactorChange,
): Promise<void> {
  await tell(client, clock, change, 'factor-removed');
  if (hasFactor(await factorsOf(client, change.user.id))) return;
  const uuid = readUuid('usr_', change.user.id);
  await client.query('DELETE FROM recovery_codes WHERE user_id = $1', [uuid]);
  await client.query('UPDATE sessions SET second_factor = false WHERE user_id = $1', [uuid]);
}

/** When every factor is lost: an operator's command. Returns how many there were. */
export async function resetFactors(
  client: Queryable,
  clock: Clock,
  user: FactorChange['user'],
): Promise<Factors> {
  const before = await factorsOf(client, user.id);
  const uuid = readUuid('usr_', user.id);
  await client.query('DELETE FROM authenticator_apps WHERE user_id = $1', [uuid]);
  await client.query('DELETE FROM passkeys WHERE user_id = $1', [uuid]);
  const by = { actor: { kind: 'command' } as const, door: 'cli', requestId: 'command' };
  if (hasFactor(before)) {
    await factorWasRemoved(client, clock, { user, factor: 'every second factor', ...by });
  }
  return before;
}

export async function recoveryCodeWasUsed(client: Queryable, userId: string): Promise<void> {
  const { recoveryCodes: left } = await factorsOf(client, userId);
  await owe(client, userId, 'recovery-code-used', { left });
}

async function tell(
  client: Queryable,
  clock: Clock,
  { user, factor, actor, door, requestId }: FactorChange,
  kind: 'factor-added' | 'factor-removed',
): Promise<void> {
  const accounts = (await membershipsOf(client, user.id)).map(({ id }) => id);
  const said = kind === 'factor-added' ? { after: { factor } } : { before: { factor } };
  await writeAudit(client, clock, {
    accountId: 0,
    ...{ actor, door, requestId },
    action: kind === 'factor-added' ? 'add_second_factor' : 'remove_second_factor',
    changes: (accounts.length > 0 ? accounts : [0]).map((account) => ({
      ...{ target: user.email, account, ...said },
    })),
  });
  await owe(client, user.id, kind, { factor });
}

const owe = (client: Queryable, userId: string, kind: string, detail: object): Promise<unknown> =>
  client.query('INSERT INTO notices (user_id, kind, detail) VALUES ($1, $2, $3)', [
    readUuid('usr_', userId),
    kind,
    JSON.stringify(detail),
  ]);

// ---- Accounts that require one ------------------------------------------------------------------

export async function isFactorRequired(database: Queryable, accountId: number): Promise<boolean> {
  const [row] = await database.query<{ required: boolean }>(
    'SELECT second_factor_required AS required FROM accounts WHERE id = $1',
    [accountId],
  );
  return row?.required ?? false;
}

export async function requireFactor(
  client: Queryable,
  accountId: number,
  required: boolean,
): Promise<void> {
  await client.query('UPDATE accounts SET second_factor_required = $2 WHERE id = $1', [
    accountId,
    required,
  ]);
}
