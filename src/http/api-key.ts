// The API key of a request: in X-API-Key, as the contract has it, or as a bearer token, as many
// programs prefer it.

/** Undefined: there is none. */
export function apiKeyIn(
  xApiKey: string | undefined,
  authorization: string | undefined,
): string | undefined {
  if (xApiKey !== undefined || authorization === undefined) return xApiKey;
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}
