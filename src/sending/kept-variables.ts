// The variables of a send as they are kept in its head (stored-head.ts): a later version of the
// template is tried on them before it is published. Before it: content.ts has rendered them. After
// it: operations/template-rehearsals.ts.

/** Enough for nearly every email. Anything longer would slow accepting down, and is not kept. */
const MOST_CHARACTERS = 8192;

/** As JSON; null: there are none, they are too long, or JSON cannot say them (large integers). */
export function keptVariables(variables: Record<string, unknown> | undefined): string | null {
  if (variables === undefined || left(variables, MOST_CHARACTERS) < 0) return null;
  return JSON.stringify(variables);
}

/** What is left of `room`; below nothing as soon as they do not fit: 25 MB are not walked. */
function left(value: unknown, room: number): number {
  if (typeof value === 'bigint') return -1;
  if (typeof value === 'string') return room - value.length - 3;
  if (typeof value !== 'object' || value === null) return room - 6;
  let rest = room - 2;
  for (const key in value) {
    rest = left((value as Record<string, unknown>)[key], rest - key.length - 3);
    if (rest < 0) return rest;
  }
  return rest;
}
