// doctor on the service itself: is SECRET_KEY the right one, can everything sealed be opened, does
// every role run, is an account paused, and can recipients leave broadcasts?
import { isIP } from 'node:net';
import { unalignedSenders } from '../accounts/alignment.ts';
import { accountsWithDomain } from '../accounts/domains.ts';
import { dueRotations } from '../accounts/key-rotation.ts';
import { listPauses } from '../accounts/pause.ts';
import { addressKey } from '../addresses.ts';
import type { Config } from '../config/config.ts';
import { Problem } from '../errors.ts';
import { bareAddress, isThisMachine } from '../networks.ts';
import { checkSealed, openSecret } from '../roles/secrets.ts';
import { listing } from '../store/installation.ts';
import type { Database } from '../store/pool.ts';
import { describeRole, readRoles, whatWasAsked, whereOpened } from '../store/processes.ts';
import { countBroadcasts } from '../streams/streams.ts';
import { isSpecialAddress } from '../webhooks/address-guard.ts';
import { withDatabase } from './command.ts';
import { checkRelays } from './doctor-relays.ts';
import type { Finding } from './finding.ts';
import { relaysHere } from './relays-here.ts';

const CHECKS: ((database: Database, config: Config) => Promise<Finding[]>)[] = [
  async (database, config) => [await checkSecret(database, config)],
  checkRoles,
  async (database) => [await checkPauses(database)],
  async (database, config) => [await checkAddress(database, config)],
  checkAsked,
  checkStreams,
  checkSigning,
  async (database, config) => [await checkAlignment(database, config)],
  checkSystemSender,
  checkRelays,
];

export async function checkService(): Promise<Finding[]> {
  try {
    return await withDatabase(async (database, config) => {
      const findings: Finding[] = [];
      for (const look of CHECKS) findings.push(...(await look(database, config).catch(notLooked)));
      return findings;
    });
  } catch (error) {
    return notLooked(error as Error);
  }
}

/** A check that fails, for example without the right secret, does not hide the others. */
const notLooked = (error: Error): Finding[] => [
  { check: 'service', ok: false, detail: `Something could not be checked: ${error.message}` },
];

/** Is it the right secret, and does it open everything sealed? */
async function checkSecret(database: Database, config: Config): Promise<Finding> {
  const check = 'secret';
  const { secretKey } = config;
  try {
    const { total, stranded } = await checkSealed(database, await openSecret(database, secretKey));
    if (stranded.length > 0) {
      const detail = `${listing(stranded)} Replace them: remove each such domain and add it again, and rotate each such webhook secret.`;
      return { check, ok: false, detail };
    }
    const whose =
      secretKey === undefined
        ? 'SECRET_KEY is unset: the secret is kept in the database'
        : 'SECRET_KEY is correct';
    const opens = `it opens all ${total} sealed values`;
    const inUse = secretKey === undefined && (await relaysHere(database, config)).length > 0;
    return inUse
      ? {
          ...{ check, ok: true, warning: true },
          detail: `${whose}; ${opens}. Whoever has a copy of the database has the private keys too: set SECRET_KEY for every process.`,
        }
      : { check, ok: true, detail: `${whose}; ${opens}.` };
  } catch (error) {
    if (error instanceof Problem) return { check, ok: false, detail: error.detail };
    throw error;
  }
}

/** Keys that are being changed or should be, and the operator's own signature. */
async function checkSigning(database: Database, { operatorDomain }: Config): Promise<Finding[]> {
  const due = await dueRotations(database);
  const keys = due.length === 0 ? ['No change of signing keys is due.'] : due;
  const findings = keys.map((detail) => ({ check: 'DKIM keys', ok: true, detail }));
  if (operatorDomain === undefined) return findings;
  const check = 'second signature';
  if ((await accountsWithDomain(database, operatorDomain, 'verified')).length > 0) {
    const detail = `Every email is also signed by ${operatorDomain} (OPERATOR_DOMAIN).`;
    return [...findings, { check, ok: true, detail }];
  }
  const detail = `OPERATOR_DOMAIN is ${operatorDomain}, but no account has verified that domain, so it signs nothing. Add it and publish its records: npx sandmartin identity add ${operatorDomain} --account ID`;
  return [...findings, { check, ok: false, detail }];
}

/** Senders whose email the large receivers reject. */
async function checkAlignment(database: Database, { bounceDomain }: Config): Promise<Finding> {
  const check = 'DMARC';
  const found = await unalignedSenders(database, bounceDomain);
  if (found.length === 0) {
    return { check, ok: true, detail: 'Email of every domain that was checked can pass DMARC.' };
  }
  const senders = found.map(({ value, accountId }) => `${value} (account ${accountId})`);
  const detail = `Email from ${senders.join(', ')} cannot pass DMARC: neither a DKIM key nor a return path of that domain is in DNS, and Gmail, Yahoo and Microsoft reject it. Add the domain, publish its records, and see: npx sandmartin identity check DOMAIN`;
  // A single address was verified by its owner, who may not control its domain.
  return found.some(({ hasKeys }) => hasKeys)
    ? { check, ok: false, detail }
    : { check, ok: true, warning: true, detail };
}

/** A paused account waits for the operator. */
async function checkPauses(database: Database): Promise<Finding> {
  const check = 'accounts';
  const pauses = [...(await listPauses(database))];
  if (pauses.length === 0) return { check, ok: true, detail: 'No account is paused.' };
  const each = pauses.slice(0, 10).map(([id, { reason }]) => `${id} (${reason})`);
  const more = pauses.length > 10 ? ` and ${pauses.length - 10} more` : '';
  const detail = `Paused: ${each.join('; ')}${more}. Look at what they send, then: npx sandmartin account resume <id>`;
  return { check, ok: false, detail };
}

/** Links in emails lead to BASE_URL: can people reach it? */
async function checkAddress(database: Database, config: Config): Promise<Finding> {
  const check = 'address';
  const { baseUrl, isPublic } = config;
  const isReal = (await relaysHere(database, config)).length > 0;
  const links = isReal ? checkLinks(check, config) : undefined;
  if (links?.ok === false) return links;
  const openedAt = await whereOpened(database);
  const set = isPublic ? `BASE_URL is ${baseUrl}` : `BASE_URL is unset, so ${baseUrl}`;
  if (openedAt === null) return links ?? { check, ok: true, detail: `${set}.` };
  if (isSameAddress(openedAt, baseUrl)) {
    const detail = `${set}, and people open the dashboard there.`;
    return links ?? { check, ok: true, detail };
  }
  const detail = `${set}, but people open the dashboard at ${openedAt}. Links in emails and documents lead to BASE_URL: set BASE_URL=${openedAt}, with the path if there is one.`;
  return { check, ok: false, detail };
}

/**
 * HOST, MCP_ALLOWED_HOSTS and the rest of BASE_URL beside what requests say. Anyone may write
 * anything in a request: none of this is more than a warning.
 */
async function checkAsked(database: Database, config: Config): Promise<Finding[]> {
  const asked = await whatWasAsked(database);
  if (asked === undefined) return [];
  const { baseUrl, host, isLoopback, isPublic, mcpHosts } = config;
  const { own, other, refused, silentPage } = asked;
  const { hostname, pathname } = new URL(baseUrl);
  const warnings: [check: string, detail: string][] = [];
  if (!own && other !== undefined) {
    const set = isPublic ? `None has named ${hostname} (BASE_URL)` : 'BASE_URL is unset';
    const detail = `Requests name ${other}. ${set}: links in emails and documents lead to ${baseUrl}. If people or recipients use ${other}, set BASE_URL to that address.`;
    warnings.push(['requests', detail]);
  } else if (!own && isLoopback && !isThisMachine(hostname)) {
    const detail = `HOST is ${host}, which nothing outside this machine (or container) reaches, and no request for ${hostname} has come yet. Check the proxy in front of the service; if there is none here, set HOST=0.0.0.0.`;
    warnings.push(['requests', detail]);
  }
  const lacking = refused && new URL(`http://${refused}`).hostname;
  if (lacking && !mcpHosts.includes(lacking)) {
    const detail = `Agents call MCP at ${refused} and are refused. If that is this service, set MCP_ALLOWED_HOSTS=${lacking}, or BASE_URL.`;
    warnings.push(['MCP host', detail]);
  }
  if (silentPage !== undefined) {
    const detail = `A browser opened ${silentPage}, and the page has not called back: it did not find its scripts. BASE_URL has the path ${pathname}: it must be the one that browsers use. Correct BASE_URL or the proxy.`;
    warnings.push(['dashboard', detail]);
  }
  return warnings.map(([check, detail]) => ({ check, ok: true, warning: true, detail }));
}

/** Undefined: recipients anywhere can follow them, as far as the name shows. */
function checkLinks(check: string, { baseUrl, trackingUrl, isPublic }: Config) {
  const setting = trackingUrl === undefined ? 'BASE_URL' : 'TRACKING_URL';
  const at = new URL(trackingUrl ?? baseUrl);
  const toDo = `Set ${setting} to the address at which recipients reach this service.`;
  if (!isPublic || isThisMachine(at.hostname)) {
    const what = isPublic
      ? `${setting} is ${at.origin}, which only this machine reaches`
      : 'BASE_URL is unset';
    const detail = `${what}, and email goes to real relays: unsubscribe links, opens and clicks cannot work. ${toDo}`;
    return { check, ok: false, detail };
  }
  if (!isInside(at)) return undefined;
  const detail = `${setting} is ${at.origin}, which only your own network reaches: for recipients elsewhere, unsubscribe links, opens and clicks cannot work. ${toDo}`;
  return { check, ok: true, warning: true as const, detail };
}

/**
 * If this service cannot be reached, nobody can unsubscribe: large receivers refuse such bulk
 * email.
 */
async function checkStreams(database: Database, { isPublic }: Config): Promise<Finding[]> {
  const broadcasts = await countBroadcasts(database);
  if (broadcasts === 0 || isPublic) return [];
  const streams = broadcasts === 1 ? 'One stream sends' : `${broadcasts} streams send`;
  const detail = `${streams} broadcasts, and BASE_URL is unset: their emails have no unsubscribe link, and large receivers refuse them. Set BASE_URL (or TRACKING_URL) to the address at which recipients reach this service.`;
  return [{ check: 'streams', ok: false, detail }];
}

/** All names of loopback count as one. */
function isSameAddress(openedAt: string, baseUrl: string): boolean {
  const [one, other] = [new URL(openedAt), new URL(baseUrl)];
  return (
    one.origin === other.origin ||
    ([one, other].every((it) => isThisMachine(it.hostname)) && one.port === other.port)
  );
}

/** An address of a private network, or a name that no public DNS has (RFC 6762, RFC 8375). */
function isInside({ hostname }: URL): boolean {
  const address = bareAddress(hostname);
  if (isIP(address) !== 0) return isSpecialAddress(address);
  return !hostname.includes('.') || /\.(local|internal|home\.arpa)$/.test(hostname);
}

/** Invitations, password resets and notices are sent from it. */
async function checkSystemSender(database: Database, { systemSender }: Config): Promise<Finding[]> {
  if (systemSender === undefined) return [];
  const check = 'system sender';
  const { address, domain } = systemSender;
  const rows = await database.query(
    'SELECT FROM identities WHERE value = ANY ($1) AND verified_at IS NOT NULL LIMIT 1',
    [[addressKey(address), domain]],
  );
  return [
    rows.length > 0
      ? { check, ok: true, detail: `${address} is a verified sender.` }
      : {
          ...{ check, ok: false },
          detail: `SYSTEM_SENDER is ${address}, which no account has verified: invitations, password resets and notices cannot be sent. Add it: sandmartin identity add ${domain} --account ID`,
        },
  ];
}

async function checkRoles(database: Database): Promise<Finding[]> {
  return (await readRoles(database)).map((state) => ({
    check: `role ${state.role}`,
    ok: !state.missing,
    detail: describeRole(state),
  }));
}
