// DATABASE_URL: one server, or several as libpq writes them. config/ reads it to check it, and
// store/servers.ts to connect.

const SHAPE = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)((?:[/?#].*)?)$/s;

/**
 * A URL for each host of `postgres://user:password@one:5432,two:5432/name`; undefined: not such a
 * URL.
 */
export function urlsOf(databaseUrl: string): string[] | undefined {
  const [, before, hosts = '', after] = SHAPE.exec(databaseUrl) ?? [];
  const each = hosts.split(',');
  const urls = each.map((host) => `${before}${host}${after}`);
  const complete = each.length === 1 || each.every((host) => host !== '');
  if (before === undefined || !complete || !urls.every((url) => URL.canParse(url)))
    return undefined;
  return urls.map(withoutWish);
}

/** The same database on another server of its cluster. */
export function urlAt(text: string, { host, port }: { host: string; port: number }): string {
  const url = new URL(text);
  url.searchParams.delete('host');
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.port = String(port);
  return url.href;
}

/** We always want the server that accepts writes; `pg` cannot ask for it. */
function withoutWish(text: string): string {
  if (!text.includes('target_session_attrs')) return text;
  const url = new URL(text);
  url.searchParams.delete('target_session_attrs');
  return url.href;
}
