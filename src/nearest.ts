// What someone may have meant: the known name nearest to a mistyped one. For refusals that suggest
// a fix.

/** No name is longer, and longer input is not compared. */
const MOST_LETTERS = 64;

/**
 * The known name that is longer or shorter by whole words (`from` → `from_email`), or at most a
 * third of its letters away.
 */
export function nearest(long: string, known: readonly string[]): string | undefined {
  const word = long.slice(0, MOST_LETTERS);
  const related = known.find((name) => name.startsWith(`${word}_`) || word.startsWith(`${name}_`));
  if (related !== undefined) return related;
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const name of known) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best !== undefined && bestDistance <= Math.ceil(best.length / 3) ? best : undefined;
}

const MOST_SUGGESTIONS = 3;

/**
 * Typos first, then slugs that share words in any order: `reset-password` finds `password-reset`.
 */
export function similarSlugs(slug: string, known: readonly string[]): string[] {
  const words = new Set(
    slug
      .slice(0, MOST_LETTERS)
      .toLowerCase()
      .split(/[^a-z0-9]+/),
  );
  const shared = (other: string) => other.split('-').filter((word) => words.has(word)).length;
  const typo = nearest(slug, known);
  const alike = known
    .filter((other) => other !== typo && shared(other) > 0)
    .sort((one, other) => shared(other) - shared(one));
  return [...(typo === undefined ? [] : [typo]), ...alike].slice(0, MOST_SUGGESTIONS);
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        row[j]! + 1,
        next[j - 1]! + 1,
        row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length]!;
}
