// Whether emails are delivered: shown next to every status that an agent reads, so that nobody is
// told of a delivery that the sandbox only simulated.
import { z } from 'zod';
import { readUuid } from '../ids.ts';
import { sentWithSandboxKeys } from '../messages/message.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { type Operation, operation } from '../operations/operation.ts';

export const sandbox = z
  .literal(true)
  .optional()
  .describe('It is captured, and nobody receives it.');

type CapturedDeps = Pick<OperationDeps, 'database' | 'inSandbox'>;

/** Which of these messages go to the sandbox: all, or only those sent with sandbox keys. */
export async function capturedAmong(
  { database, inSandbox }: CapturedDeps,
  accountId: number,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (inSandbox() || ids.length === 0) return new Set(ids);
  const uuids = new Map(ids.map((id) => [readUuid('msg_', id)!, id]));
  const captured = await sentWithSandboxKeys(database, accountId, [...uuids.keys()]);
  return new Set([...captured].map((uuid) => uuids.get(uuid)!));
}

/** An operation about one email, with that fact added to its answer. */
export const sayingWhetherItLeaves = (of: Operation): Operation =>
  operation({
    ...of,
    output: of.output.extend({ sandbox }),
    async run(deps, caller, input, via) {
      const answer = await of.run(deps, caller, input, via);
      const id = String(input.sm_mail_id);
      const captured = await capturedAmong(deps, caller.accountId, [id]);
      return { ...answer, ...(captured.has(id) ? { sandbox: true } : {}) };
    },
  });
