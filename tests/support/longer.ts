// What tests draw at random: the same in every `npm test`, so that a run shows the effect of a
// change and nothing else. `npm run test:search` draws new cases, LONGER times as many, and looks
// for what breaks something.
import fc from 'fast-check';

export const LONGER = Number(process.env.LONGER ?? 1);
const searching = LONGER > 1;

if (!searching) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_117 });

/** A number below `count`. */
export const draw = (count: number): number => (searching ? Math.floor(Math.random() * count) : 0);

/**
 * Where the cases of a test are a long list, `npm test` has those that found faults, and `npm run
 * test:search` all of them.
 */
export const inFull = <Case>(all: readonly Case[], atLeast: readonly Case[]): readonly Case[] =>
  searching ? all : atLeast;

/** Again and again for as long as the search has time; once in `npm test`. */
export async function searchFor(ms: number, look: () => unknown): Promise<void> {
  const until = performance.now() + ms * LONGER;
  do await look();
  while (searching && performance.now() < until);
}
