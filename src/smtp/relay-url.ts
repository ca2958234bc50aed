// RELAY_URL, read. Before: config/ has the text. After: session.ts opens sessions to what it
// names.
import { isIP } from 'node:net';
import type { RelayEndpoint } from './session.ts';

const OPTIONS = ['tls', 'insecure', 'provider'];

/**
 * `smtp://user:password@host:port?tls=required|opportunistic|off&insecure`, or `smtps://` for TLS
 * from the first byte. Ports default to 465 (smtps), 587 (smtp with a login) and 25. TLS is
 * required if a login goes to another machine, otherwise used when offered. `insecure` accepts any
 * certificate and allows the login without TLS. `provider` is for relays/provider-headers.ts.
 */
export function parseRelayUrl(text: string): RelayEndpoint {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    throw new Error('the relay must be given as smtp://host:port or smtps://host:port');
  }
  const unknown = [...url.searchParams.keys()].find((key) => !OPTIONS.includes(key));
  if (unknown !== undefined)
    throw new Error(`the relay's address has an unknown option "${unknown}"`);
  const host = decodeURIComponent(url.hostname).replace(/^\[(.*)\]$/, '$1');
  const loopback =
    host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
  const insecure = url.searchParams.has('insecure');
  const credentials =
    url.username === ''
      ? undefined
      : { user: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
  const implicitTls = url.protocol === 'smtps:';
  const tls =
    url.searchParams.get('tls') ??
    (credentials && !loopback && !insecure ? 'required' : 'opportunistic');
  if (tls !== 'required' && tls !== 'opportunistic' && tls !== 'off') {
    throw new Error(`the relay's option tls is "${tls}": use required, opportunistic or off`);
  }
  const usualPort = implicitTls ? 465 : credentials ? 587 : 25;
  return {
    host,
    port: url.port === '' ? usualPort : Number(url.port),
    implicitTls,
    tls,
    // If TLS is not required, anyone in between could remove it, so checking the certificate would
    // protect nothing.
    verify: !insecure && (implicitTls || tls === 'required'),
    credentials,
    plaintextAuth: loopback || insecure,
  };
}

/** For people: without the password. */
export function shownRelayUrl(text: string): string {
  const url = new URL(text);
  url.password = '';
  return url.href;
}
