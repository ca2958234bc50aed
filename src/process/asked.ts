// What requests say about where this process is reached: `doctor` compares it with BASE_URL, HOST
// and MCP_ALLOWED_HOSTS. One place for each thing, however many requests come; a stranger can write
// a wrong name there, and doctor then warns of it. Filled by the doors, stored by
// store/processes.ts.
import { isThisMachine } from '../networks.ts';

export interface Asked {
  /** A request named the host of BASE_URL or TRACKING_URL. */
  own: boolean;
  /** The last other host that was named, unless it stands for this machine. */
  other?: string;
  /** What MCP was called by, with a valid key, and refused: MCP_ALLOWED_HOSTS lacks it. */
  refused?: string;
  /** Where a browser opened a page. No page has called back since: its scripts were not found. */
  silentPage?: string;
}

/** Reads a header of the request. */
type Field = (name: 'host' | 'x-forwarded-host') => string | undefined;

export interface Asking {
  readonly asked: Readonly<Asked>;
  /** For any request, unless `asked.own` is already true: then there is nothing left to learn. */
  noteHost(field: Field): void;
  noteRefused(host: string | undefined): void;
  notePage(field: Field, url: string): void;
  notePageCall(): void;
}

const LONGEST = 255;
/** So that nothing else is printed at an operator's terminal. */
const HOST = /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i;

/** Enough to see which path a proxy passes on; what follows may be private. */
const FIRST_OF_PATH = /^(?:\/[\w.~-]{0,100}(?=[/?]|$)\/?)?/;

/** `urls`: the addresses that links lead to. */
export function createAsking(urls: readonly string[]): Asking {
  const own = new Set(urls.map((url) => new URL(url).hostname));
  const asked: Asked = { own: false };
  let last: string | undefined;
  return {
    asked,
    noteHost(field) {
      const host = hostIn(field);
      // Nearly every request names the same one.
      if (host === last) return;
      last = host;
      if (!isHost(host)) return;
      const { hostname } = new URL(`http://${host}`);
      if (own.has(hostname)) asked.own = true;
      else if (!isThisMachine(hostname)) asked.other = host;
    },
    noteRefused(host) {
      if (isHost(host)) asked.refused = host;
    },
    notePage(field, url) {
      const host = hostIn(field);
      if (isHost(host)) asked.silentPage = host + FIRST_OF_PATH.exec(url)![0];
    },
    notePageCall() {
      delete asked.silentPage;
    },
  };
}

/** The first proxy's word, if one has replaced what the client said. */
const hostIn = (field: Field): string | undefined =>
  field('x-forwarded-host')?.split(',', 1)[0] ?? field('host');

const isHost = (host: string | undefined): host is string =>
  host !== undefined && host.length <= LONGEST && HOST.test(host) && URL.canParse(`http://${host}`);
