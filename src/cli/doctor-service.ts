// doctor on the service itself: is SECRET_KEY the right one, does everything that is sealed open,
// does every role run, and is an account paused?
import { listPauses } from '../accounts/pause.ts';
import type { Config } from '../config.ts';
import { Problem } from '../errors.ts';
import { checkSealed, openSecret } from '../secrets.ts';
import { listing } from '../store/installation.ts';
import type { Database } from '../store/pool.ts';
import { describeRole, readRoles } from '../store/processes.ts';
import { withDatabase } from './command.ts';
import type { Finding } from './finding.ts';

export async function checkService(): Promise<Finding[]> {
  try {
    return await withDatabase(async (database, config) => [
      await checkSecret(database, config),
      ...(await checkRoles(database)),
      await checkPauses(database),
    ]);
  } catch (error) {
    const detail = `Secret and roles could not be looked at: ${(error as Error).message}`;
    return [{ check: 'service', ok: false, detail }];
  }
}

/** Is it the right one, and does it open everything that lies sealed? */
async function checkSecret(database: Database, { secretKey }: Config): Promise<Finding> {
  const check = 'secret';
  try {
    const { total, stranded } = await checkSealed(database, await openSecret(database, secretKey));
    if (stranded.length > 0) {
      const detail = `${listing(stranded)} Make them anew: remove such a domain and add it again, rotate such a webhook secret.`;
      return { check, ok: false, detail };
    }
    const whose =
      secretKey === undefined
        ? 'SECRET_KEY is unset: the secret lies in the database'
        : 'SECRET_KEY is the right one';
    return { check, ok: true, detail: `${whose}; it opens all ${total} sealed values.` };
  } catch (error) {
    if (error instanceof Problem) return { check, ok: false, detail: error.detail };
    throw error;
  }
}

/** A paused account waits for the operator. */
async function checkPauses(database: Database): Promise<Finding> {
  const check = 'accounts';
  const pauses = [...(await listPauses(database))];
  if (pauses.length === 0) return { check, ok: true, detail: 'No account is paused.' };
  const each = pauses.slice(0, 10).map(([id, { reason }]) => `${id} (${reason})`);
  const more = pauses.length > 10 ? ` and ${pauses.length - 10} more` : '';
  const detail = `Paused: ${each.join('; ')}${more}. Look at their mail, then: npx sandmartin account resume <id>`;
  return { check, ok: false, detail };
}

async function checkRoles(database: Database): Promise<Finding[]> {
  return (await readRoles(database)).map((state) => ({
    check: `role ${state.role}`,
    ok: !state.missing,
    detail: describeRole(state),
  }));
}
