// Keys of tokens: the first one signs. Tokens that the others signed, before the secret was
// rotated, are still accepted.
export type TokenKeys = readonly [Buffer, ...Buffer[]];

/** The token's content by the first key that signed it; undefined: none did. */
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
