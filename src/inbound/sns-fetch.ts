// Fetching from Amazon SNS: certificates and confirmations of subscriptions. Called only with URLs
// that sns.ts accepted.
import { Problem } from '../errors.ts';

const TIMEOUT_MS = 5000;
const MOST_CHARS = 64 * 1024;
const MOST_KEPT = 20;

/** Anyone who knows a topic's name can make us ask Amazon for certificates that do not exist. */
const MOST_AT_ONCE = 4;

/** Certificates are cached: their URL changes with the key. */
export function createSnsFetch(): (url: string) => Promise<string> {
  const kept = new Map<string, string>();
  let asking = 0;
  return async (url) => {
    const known = kept.get(url);
    if (known !== undefined) return known;
    if (asking >= MOST_AT_ONCE)
      throw new Problem('unavailable', 'Amazon SNS is being asked for other certificates.');
    asking++;
    const text = await fetchText(url).finally(() => asking--);
    if (url.endsWith('.pem')) {
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(url, text);
    }
    return text;
  };
}

async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) {
    throw new Problem('unavailable', `Amazon SNS answered ${answer.status} when asked for ${url}`);
  }
  const text = await answer.text();
  if (text.length > MOST_CHARS) throw new Problem('invalid', `${url} is larger than expected`);
  return text;
}
