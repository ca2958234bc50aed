// What a provider is told with an email, so that it tells us again in its notifications: the token
// of the copy. Set by member.ts in front of the email, unsigned; the provider takes the header off.
// After: feedback/providers reads it.

const HEADERS: Record<string, { host: RegExp; name: string; value: (token: string) => string }> = {
  postmark: {
    host: /(^|\.)postmarkapp\.com$/,
    name: 'X-PM-Metadata-sm-token',
    value: (token) => token,
  },
  mailgun: {
    host: /(^|\.)mailgun\.(org|net)$/,
    name: 'X-Mailgun-Variables',
    value: (token) => JSON.stringify({ sm_token: token }),
  },
  sendgrid: {
    host: /(^|\.)sendgrid\.net$/,
    name: 'X-SMTPAPI',
    value: (token) => JSON.stringify({ unique_args: { sm_token: token } }),
  },
};

export const PROVIDER_NAMES = Object.keys(HEADERS);

/** Whether its owner tells by HTTP what happened to email, as Amazon SES does too. */
export const isOfProvider = (url: string): boolean =>
  headerFor(url) !== undefined || /(^|\.)amazonaws\.com$/.test(new URL(url).hostname);

/** Undefined where the relay is not theirs, by its host or by `?provider=` in its address. */
function headerFor(url: string) {
  const { hostname, searchParams } = new URL(url);
  const named = searchParams.get('provider');
  return named === null
    ? Object.values(HEADERS).find(({ host }) => host.test(hostname))
    : HEADERS[named];
}

export function providerHeader(
  url: string,
): ((returnPath: string, chunks: readonly Buffer[]) => readonly Buffer[]) | undefined {
  const header = headerFor(url);
  if (header === undefined) return undefined;
  const { name, value } = header;
  const own = new RegExp(`^${name}:`, 'im');
  return (returnPath, chunks) => {
    const [, token] = /^bounce\+(\w+)@/.exec(returnPath) ?? [];
    // A sender who may set the header (ALLOWED_HEADERS) has it: two would confuse the provider.
    if (token === undefined || own.test(headOf(chunks))) return chunks;
    return [Buffer.from(`${name}: ${value(token)}\r\n`), ...chunks];
  };
}

/** compose.ts begins with all of the header; what follows may be 33 MB, which nobody copies here. */
function headOf([first]: readonly Buffer[]): string {
  const start = first?.toString('latin1') ?? '';
  const end = start.indexOf('\r\n\r\n');
  return end < 0 ? start : start.slice(0, end);
}
