// A sample call of every operation, for the tests that call them all. One file per resource in
// samples/: whoever adds an operation adds a row there.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { toJSONSchema } from 'zod';
import type { Operation } from '../../src/operations/operation.ts';
import type { Fields, Party, World } from './world.ts';

export interface Sample {
  /**
   * The input of a good call. What the call is about is created here first, in the account of
   * `whose`. Called again for each call: use `world.next()` for names that can be taken only once.
   * Put `whose.mark` into what is written.
   */
  input(world: World, whose: Party): Fields | Promise<Fields>;
  /**
   * What happens to the same input in another account: 404, or it works there and has nothing to do
   * with this one. 404 unless said, where the path names something; else `own`.
   */
  inAnotherAccount?: 'not-found' | 'own';
  /**
   * What `faults` cannot say field by field: inputs over the good one that are refused with 400.
   */
  refused?: Fields[];
  /**
   * Where a change of nothing leaves no row in the audit, though the operation `changes` or
   * `talks`.
   */
  leavesNoAudit?: true;
  /**
   * What it is about comes into being only when email is delivered; not called where nothing is.
   */
  needsDelivery?: true;
}

export type Samples = Record<string, Sample>;

export async function readSamples(): Promise<Samples> {
  const folder = join(import.meta.dirname, 'samples');
  const parts = await Promise.all(
    readdirSync(folder).map((file) => import(join(folder, file)) as Promise<{ samples: Samples }>),
  );
  return Object.assign({}, ...parts.map(({ samples }) => samples));
}

/** What to write, for whoever added an operation and no row. */
export function howToAdd({ name, client, input }: Operation): string {
  const { required = [] } = toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const fields = required.map((field) => `${field}: …`).join(', ');
  return `The operation ${name} has no sample. Add a row to tests/operations/samples/${client.split('.')[0]}.ts:

  ${name}: { input: (world, { mark }) => ({ ${fields} }) },

and make in it what the call is about (samples.ts says more). Every test over all operations then calls it.`;
}
