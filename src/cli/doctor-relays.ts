// doctor on the ways out and back: does each relay work, does it report deliveries, and does an
// email to the return path come back through it?

import { createDns } from '../accounts/dns.ts';
import { isSpf } from '../accounts/spf.ts';
import type { Config } from '../config/config.ts';
import { readProbes } from '../feedback/return-path-probes.ts';
import { sendProbes } from '../relays/probing.ts';
import type { NamedRelay } from '../relays/relay-list.ts';
import { probeRelay } from '../smtp/probe.ts';
import type { Database } from '../store/pool.ts';
import type { Finding } from './finding.ts';
import { relaysHere } from './relays-here.ts';

/** How long a relay may take to bring an email back. */
const COMES_BACK_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 250;

export async function checkRelays(database: Database, config: Config): Promise<Finding[]> {
  const relays = await relaysHere(database, config);
  if (relays.length === 0) {
    const detail = 'No relay is set up (RELAY_URL, relay add): the sandbox captures every email.';
    return [{ check: 'relay', ok: true, detail }, await checkReturnPath(config, [])];
  }
  const enabled = relays.filter((relay) => relay.enabled);
  const findings: Finding[] = [];
  for (const relay of enabled) findings.push(await checkRelay(relay, config));
  if (enabled.length === 0) {
    const detail =
      'All relays are disabled: email waits. Enable one: sandmartin relay set NAME --enabled on';
    findings.push({ check: 'relay', ok: false, detail });
  }
  const path = await checkReturnPath(config, relays);
  findings.push(path);
  if (path.ok) {
    findings.push(await checkSpf(config), ...(await probe(database, config, enabled)));
  }
  return [...findings, ...(await checkOwnPaths(database, config))];
}

async function checkRelay({ name, url }: NamedRelay, config: Config): Promise<Finding> {
  const check = name === 'default' ? 'relay' : `relay ${name}`;
  const found = await probeRelay(url, config.bounceDomain);
  if (!found.ok) {
    const where = name === 'default' ? 'RELAY_URL' : `sandmartin relay set ${name} --url`;
    const detail = `The relay does not work: ${found.fault}. Check ${where}.`;
    return { check, ok: false, detail };
  }
  if (found.dsn) {
    const detail = 'The relay answers, accepts our login and reports deliveries.';
    return { check, ok: true, detail };
  }
  const detail =
    'The relay answers and accepts our login, but offers no DSN: no email becomes `delivered`, unless its provider notifies us (docs/deliverability.md).';
  return { check, ok: true, warning: true, detail };
}

async function checkReturnPath(config: Config, relays: readonly NamedRelay[]): Promise<Finding> {
  const check = 'return path';
  const domain = config.bounceDomain;
  if (domain === 'localhost' || domain.endsWith('.localhost')) {
    return relays.length === 0
      ? { check, ok: true, detail: 'BOUNCE_DOMAIN is local, which suits the sandbox.' }
      : {
          check,
          ok: false,
          detail: `BOUNCE_DOMAIN is ${domain}: no relay can send reports there. Set it to a domain whose MX points here.`,
        };
  }
  const { values, fault } = await createDns(config.dnsServers).mx(domain);
  if (values.length > 0) {
    return { check, ok: true, detail: `${domain} has MX ${values.join(', ')}.` };
  }
  // A relay with a transport of its own needs no MX: the probe shows it.
  return relays.length === 0
    ? { check, ok: false, detail: `${domain} has no MX (${fault}): bounces will not come back.` }
    : {
        check,
        ok: true,
        warning: true,
        detail: `${domain} has no MX (${fault}): only relays with a transport bring reports back.`,
      };
}

/**
 * Every sender's SPF record includes that of BOUNCE_DOMAIN. If there is none, or two, every
 * sender's own check ends in a permanent error (RFC 7208 5.2).
 */
async function checkSpf({ bounceDomain, dnsServers }: Config): Promise<Finding> {
  const check = 'SPF';
  const { values, fault, unknown } = await createDns(dnsServers).txt(bounceDomain);
  const records = values.filter(isSpf);
  if (unknown) {
    const detail = `The SPF record of ${bounceDomain} could not be looked up: ${fault}.`;
    return { check, ok: true, warning: true, detail };
  }
  if (records.length === 1) {
    const detail = `${bounceDomain} lists the sending hosts for every sender: ${records[0]}`;
    return { check, ok: true, detail };
  }
  const what = records.length === 0 ? 'no SPF record' : `${records.length} SPF records`;
  const detail = `${bounceDomain} has ${what}. The SPF record of every sender includes it, so receivers find a PermError. Publish one record there that names your relay's hosts, such as v=spf1 include:<your relay's SPF> ~all`;
  return { check, ok: true, warning: true, detail };
}

/**
 * The proof: an email through each relay to BOUNCE_DOMAIN, which the feedback listener must get.
 */
async function probe(
  database: Database,
  config: Config,
  relays: readonly NamedRelay[],
): Promise<Finding[]> {
  const { bounceDomain, systemSender } = config;
  const deps = { database, bounceDomain, sender: systemSender?.address, relays: () => relays };
  const batch = await sendProbes(deps, relays, { host: bounceDomain, of: null });
  const deadline = performance.now() + COMES_BACK_WITHIN_MS;
  for (;;) {
    const probes = await readProbes(database, batch);
    const waits = probes.some(({ fault, returned }) => fault === null && !returned);
    if (!waits || performance.now() > deadline) {
      return probes.map(({ relay, fault, returned }) => ({
        check: `probe ${relay}`,
        ok: returned,
        detail: returned
          ? `An email to ${bounceDomain} came back through ${relay}: reports reach us.`
          : fault !== null
            ? `${relay} did not accept an email to ${bounceDomain}: ${fault}. Reports cannot come back through it.`
            : `An email to ${bounceDomain} did not come back through ${relay} within ${COMES_BACK_WITHIN_MS / 1000} s. Point the MX of ${bounceDomain}, or a transport of the relay, to FEEDBACK_HOST:FEEDBACK_PORT, and run a process with the role feedback.`,
      }));
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** Domains whose CNAME leads here, and through which no probe has come back. */
async function checkOwnPaths(database: Database, { bounceDomain }: Config): Promise<Finding[]> {
  const rows = await database.query<{ domain: string }>(
    `SELECT DISTINCT domain FROM domains WHERE NOT return_path_seen
       AND findings @> '[{"purpose": "return-path", "ok": true}]' ORDER BY 1 LIMIT 11`,
  );
  if (rows.length === 0) return [];
  const names = rows.slice(0, 10).map(({ domain }) => `sm-bounces.${domain}`);
  const more = rows.length > 10 ? ' and others' : '';
  const detail = `No probe has come back through ${names.join(', ')}${more}, so their reports go to ${bounceDomain} instead and SPF does not align. Give the relay a transport for sm-bounces.* too (docs/operations.md), then: sandmartin identity check`;
  return [{ check: 'own paths', ok: true, warning: true, detail }];
}
