// Two people changed one text: what each did to the version both started from, region by region,
// and the text that results from the decisions. Lines are compared, as in version control.
import { diff } from '@codemirror/merge';

/** A range of lines; if nobody changed it, all three are equal. */
export interface Region {
  changedBy: 'nobody' | 'me' | 'them' | 'both';
  base: string[];
  mine: string[];
  theirs: string[];
}

export type Side = 'mine' | 'theirs';

export function compareThree(base: string, mine: string, theirs: string): Region[] {
  const [b, m, t] = [base, mine, theirs].map((text) => text.split('\n')) as [
    string[],
    string[],
    string[],
  ];
  const [byMe, byThem] = [changesOf(b, m), changesOf(b, t)];
  const regions: Region[] = [];
  let [atBase, atMine, atTheirs] = [0, 0, 0];
  const add = (upTo: { base: number; mine: number; theirs: number }) => {
    const region = {
      base: b.slice(atBase, upTo.base),
      mine: m.slice(atMine, upTo.mine),
      theirs: t.slice(atTheirs, upTo.theirs),
    };
    [atBase, atMine, atTheirs] = [upTo.base, upTo.mine, upTo.theirs];
    if (Object.values(region).some((lines) => lines.length > 0)) {
      regions.push({ changedBy: whoChanged(region), ...region });
    }
  };
  for (const [from, to] of joined([...byMe, ...byThem])) {
    const before = from - atBase;
    add({ base: from, mine: atMine + before, theirs: atTheirs + before });
    add({
      base: to,
      mine: to + shift(byMe, to),
      theirs: to + shift(byThem, to),
    });
  }
  add({ base: b.length, mine: m.length, theirs: t.length });
  return regions;
}

/** As one region: half of one side's JSON and half of the other's would not be JSON. */
export function compareWhole(base: string, mine: string, theirs: string): Region[] {
  const [b, m, t] = [base.split('\n'), mine.split('\n'), theirs.split('\n')];
  const region = { base: b, mine: m, theirs: t };
  return [{ changedBy: whoChanged(region), ...region }];
}

/**
 * What only one side changed is taken; where both did, the decision applies, which is `mine` by
 * default.
 */
export const mergedText = (regions: readonly Region[], decided: readonly Side[] = []): string =>
  regions
    .flatMap((region, place) =>
      region.changedBy === 'them' ? region.theirs : region[decided[place] ?? 'mine'],
    )
    .join('\n');

interface Change {
  from: number;
  to: number;
  /** By how many lines the text has grown after it. */
  longer: number;
}

/** By lines: each different line becomes one character for the character comparison. */
function changesOf(before: string[], after: string[]): Change[] {
  const characters = new Map<string, string>();
  const toText = (lines: string[]) =>
    lines
      .map((line) => {
        const known = characters.get(line) ?? String.fromCharCode(0x100 + characters.size);
        characters.set(line, known);
        return known;
      })
      .join('');
  return diff(toText(before), toText(after)).map(({ fromA, toA, fromB, toB }) => ({
    from: fromA,
    to: toA,
    longer: toB - fromB - (toA - fromA),
  }));
}

/**
 * Ranges of the base that were changed; adjacent ones count as one, because they are seen as one.
 */
function joined(changes: Change[]): [from: number, to: number][] {
  const stretches: [number, number][] = [];
  for (const { from, to } of changes.sort((one, other) => one.from - other.from)) {
    const last = stretches.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else stretches.push([from, to]);
  }
  return stretches;
}

/** How far a line of the base has moved down in a text, after all changes before it. */
const shift = (changes: readonly Change[], line: number): number =>
  changes.reduce((sum, { to, longer }) => (to <= line ? sum + longer : sum), 0);

function whoChanged({ base, mine, theirs }: Omit<Region, 'changedBy'>): Region['changedBy'] {
  if (same(mine, theirs)) return 'nobody';
  if (same(base, mine)) return 'them';
  return same(base, theirs) ? 'me' : 'both';
}

const same = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((line, place) => line === other[place]);
