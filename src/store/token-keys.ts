// Keys of tokens: the first signs, and what the others signed, before the secret was rotated, is
// understood as well.
export type TokenKeys = readonly [Buffer, ...Buffer[]];

/** What the token says by the first key that knows it; undefined: none of them signed it. */
export function readWith<Read>(
  keys: TokenKeys,
  read: (key: Buffer) => Read | undefined,
): Read | undefined {
  for (const key of keys) {
    const said = read(key);
    if (said !== undefined) return said;
  }
  return undefined;
}
