// The API key of a request: in X-API-Key, as the contract says, or as a bearer token, which many
// programs prefer.

/** Undefined: there is none. */
export function apiKeyIn(
  xApiKey: string | undefined,
  authorization: string | undefined,
): string | undefined {
  if (xApiKey !== undefined || authorization === undefined) return xApiKey;
  return /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}
