// What we send to a provider with an email so that it repeats it in its notifications: the token of
// the copy. member.ts adds it in front of the email, unsigned; the provider removes the header.
// After it: feedback/providers reads it.
import { type Chunk, isLate } from '../bytes/chunks.ts';

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

/** Whether its provider reports by HTTP what happened to email; Amazon SES does too. */
export const isOfProvider = (url: string): boolean =>
  headerFor(url) !== undefined || /(^|\.)amazonaws\.com$/.test(new URL(url).hostname);

/** Undefined if the relay is not theirs, by its host or by `?provider=` in its address. */
function headerFor(url: string) {
  const { hostname, searchParams } = new URL(url);
  const named = searchParams.get('provider');
  return named === null
    ? Object.values(HEADERS).find(({ host }) => host.test(hostname))
    : HEADERS[named];
}

export function providerHeader(
  url: string,
): ((returnPath: string, chunks: readonly Chunk[]) => readonly Chunk[]) | undefined {
  const header = headerFor(url);
  if (header === undefined) return undefined;
  const { name, value } = header;
  const own = new RegExp(`^${name}:`, 'im');
  return (returnPath, chunks) => {
    const [, token] = /^bounce\+(\w+)@/.exec(returnPath) ?? [];
    // If a sender set the header (ALLOWED_HEADERS), it stays: two would confuse the provider.
    if (token === undefined || own.test(headOf(chunks))) return chunks;
    return [Buffer.from(`${name}: ${value(token)}\r\n`), ...chunks];
  };
}

/**
 * compose.ts puts the whole header into the first chunk; up to 33 MB follow and are not copied
 * here.
 */
function headOf([first]: readonly Chunk[]): string {
  const start = first && !isLate(first) ? first.toString('latin1') : '';
  const end = start.indexOf('\r\n\r\n');
  return end < 0 ? start : start.slice(0, end);
}
