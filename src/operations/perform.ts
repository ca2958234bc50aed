// Performing an operation: rights, input, the work, the audit. Every door goes through here; doors
// differ only in how a call comes in and how its answer is written.
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { isOperators } from '../accounts/scopes.ts';
import { type Actor, type Change, writeAudit } from '../audit/audit.ts';
import { Problem } from '../errors.ts';
import { cameThrough } from '../messages/message.ts';
import type { LogFields } from '../process/log-fields.ts';
import { joined, type Queryable } from '../store/pool.ts';
import type { OperationDeps } from './deps.ts';
import { messageUuid, noMessage } from './message-lookup.ts';
import { type Operation, requireScope, type Via } from './operation.ts';
import { readInput } from './read-input.ts';

export type NewVia = Omit<Via, 'note'>;

/** Returns the operation's output, or throws a Problem. */
export async function perform<Input extends z.ZodObject, Output extends z.ZodObject>(
  deps: OperationDeps,
  operation: Operation<Input, Output>,
  caller: Caller,
  raw: unknown,
  via: NewVia,
): Promise<z.output<Output>> {
  requireScope(caller, operation.scope);
  const input = readInput(operation.input, raw, { blanksAreAbsent: !changes(operation) });
  await requireOwn(deps, operation, caller, input);
  const work = () => performChecked(deps, operation, caller, input, via);
  return operation.ofWholeEmails ? deps.wholeEmails.inTurn(caller.accountId, via, work) : work();
}

async function performChecked<Input extends z.ZodObject, Output extends z.ZodObject>(
  deps: OperationDeps,
  operation: Operation<Input, Output>,
  caller: Caller,
  input: z.output<Input>,
  via: NewVia,
): Promise<z.output<Output>> {
  await operation.before?.(deps, caller, input);
  const noted: Change[] = [];
  const call: Via = Object.assign(via, { note: (change: Change) => void noted.push(change) });
  if (operation.effect === 'changes') {
    const output = await deps.database.transaction(async (client) => {
      const inside = { ...deps, database: joined(client) };
      await lockThing(client, operation, caller, input);
      await call.precondition?.(inside, call);
      const result = await operation.run(inside, caller, input, call);
      await audit(deps, client, operation, caller, call, noted);
      return result;
    });
    forgetChanged(deps, caller, noted);
    return (await operation.after?.(deps, caller, output)) ?? output;
  }
  await call.precondition?.(deps, call);
  const sends = operation.effect === 'sends';
  const who = sends && caller.keyId === null ? await activeMember(deps, caller) : caller;
  const output = await operation.run(deps, who, input, call);
  if (sends) {
    const { door, requestId: request } = via;
    const { id, data: batch } = output;
    const what = Array.isArray(batch) ? { emails: batch.length } : { message: String(id) };
    const about: LogFields = { door, request, account: caller.accountId, ...what };
    deps.log.info(about, 'accepted');
  }
  if (operation.effect === 'talks') {
    await audit(deps, deps.database, operation, caller, call, noted);
    forgetChanged(deps, caller, noted);
  }
  return output;
}

/**
 * Changes to one thing happen one after the other, whichever door they came through: nobody else
 * gets in between the If-Match check and the change.
 */
async function lockThing(
  client: Queryable,
  operation: Pick<Operation, 'rest' | 'scope' | 'thing' | 'lock'>,
  caller: Caller,
  input: Record<string, unknown>,
): Promise<void> {
  const thing = operation.thing?.(caller, input) ?? pathOf(operation, caller, input);
  if (thing === undefined) return;
  await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [THING_LOCK, thing]);
  await operation.lock?.(client, caller, input);
}

/**
 * `/v1/templates/{slug}/publish` changes `/v1/templates/{slug}`. Undefined: what it makes is new.
 */
function pathOf(
  { rest, scope }: Pick<Operation, 'rest' | 'scope'>,
  { accountId }: Caller,
  input: Record<string, unknown>,
): string | undefined {
  const named = rest.path.slice(0, rest.path.lastIndexOf('}') + 1);
  if (named === '' && rest.method === 'POST') return undefined;
  const path = (named || rest.path).replace(/\{(\w+)\}/g, (_, name: string) => String(input[name]));
  return `${isOperators(scope) ? 0 : accountId} ${path}`;
}

const THING_LOCK = 7263011;

/** A key that may see only its own emails finds no other by its id, whatever the operation. */
async function requireOwn(
  { database }: OperationDeps,
  { ofAllEmails }: Pick<Operation, 'ofAllEmails'>,
  { accountId, keyId, limits }: Caller,
  { sm_mail_id: id }: { sm_mail_id?: unknown },
): Promise<void> {
  if (!limits?.ownMessages) return;
  if (ofAllEmails) {
    throw new Problem(
      'forbidden',
      'The rule own_messages of this key: it may read and change only what it sent itself, and this call concerns the emails of every key. The owner of the account can create a key without that rule.',
    );
  }
  if (typeof id !== 'string') return;
  const uuid = messageUuid(id);
  if (!(await cameThrough(database, accountId, uuid, keyId))) throw noMessage(id);
}

/**
 * For a key, the door has checked that the account pays and is not suspended; for people and
 * commands it is checked here.
 */
async function activeMember({ directory }: OperationDeps, caller: Caller): Promise<Caller> {
  const { paused } = await directory.member(caller.accountId);
  return { ...caller, paused };
}

export const changes = ({ effect }: Pick<Operation, 'effect'>): boolean =>
  effect === 'changes' || effect === 'talks';

/**
 * This process sees its own changes at once, such as a revoked key; others see them within a
 * second.
 */
function forgetChanged(
  { directory }: OperationDeps,
  caller: Caller,
  noted: readonly Change[],
): void {
  directory.forget(caller.accountId);
  for (const { account } of noted) if (account !== undefined) directory.forget(account);
}

const audit = (
  deps: OperationDeps,
  client: Parameters<typeof writeAudit>[0],
  operation: Pick<Operation, 'name' | 'scope'>,
  caller: Caller,
  call: Via,
  noted: readonly Change[],
): Promise<void> =>
  writeAudit(client, deps.clock, {
    // Operators act on the service as a whole, whatever account they are signed in to.
    accountId: isOperators(operation.scope) ? 0 : caller.accountId,
    actor: actorOf(caller, call),
    door: call.door,
    action: operation.name,
    requestId: call.requestId,
    changes: noted.filter(isChange),
  });

/** Saving what is already stored changes nothing. */
const isChange = ({ before, after }: Change): boolean =>
  !before || !after || !isDeepStrictEqual(before, after);

function actorOf(caller: Caller, { person }: Via): Actor {
  if (person !== null) return { kind: 'person', id: person.id, email: person.email };
  return caller.keyId === null ? { kind: 'command' } : { kind: 'key', id: caller.keyId };
}
