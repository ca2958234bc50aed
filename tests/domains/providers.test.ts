// Who serves the DNS of a domain, by its name servers, over a real resolver.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDns, type Dns } from '../../src/accounts/dns.ts';
import { findZone, relativeName } from '../../src/accounts/dns-providers.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';

let server: TestDns;
let dns: Dns;
beforeAll(async () => {
  server = await startDns();
  dns = createDns([server.address]);
});
afterAll(() => server.close());

it.each([
  ['kim.ns.cloudflare.com', 'Cloudflare'],
  ['ns-2048.awsdns-64.com', 'Amazon Route 53'],
  ['ns01.domaincontrol.com', 'GoDaddy'],
  ['dns1.registrar-servers.com', 'Namecheap'],
  ['ns01.squarespacedns.com', 'Squarespace'],
  ['ns-cloud-a1.googledomains.com', 'Google Cloud DNS'],
  ['ns1-01.azure-dns.com', 'Azure DNS'],
  ['ns1.digitalocean.com', 'DigitalOcean'],
  ['hydrogen.ns.hetzner.com', 'Hetzner'],
  ['dns10.ovh.net', 'OVHcloud'],
  ['ns-1-a.gandi.net', 'Gandi'],
  ['ns1045.ui-dns.org', 'IONOS'],
])('%s is %s', async (host, name) => {
  const domain = `${name.toLowerCase().replaceAll(' ', '-')}.example`;
  server.publish('NS', domain, host);
  expect(await findZone(dns, `a.b.${domain}`)).toMatchObject({
    zone: domain,
    nameServers: [host],
    provider: { name },
  });
});

it('names are written without the zone; the zone itself as the provider calls it', async () => {
  server.publish('NS', 'r53.example', 'ns-1.awsdns-01.net');
  server.publish('NS', 'own.example', 'ns1.nobody-knows.example');
  const route53 = (await findZone(dns, 'mail.r53.example'))!;
  const own = (await findZone(dns, 'own.example'))!;
  expect(own.provider).toBeNull();
  expect(relativeName('_dmarc.mail.r53.example', route53)).toBe('_dmarc.mail');
  expect(relativeName('r53.example', route53)).toBe('');
  expect(relativeName('own.example', own)).toBe('@');
  expect(relativeName('notown.example', own)).toBe('notown.example');
});

it('no name servers, or none that answer, is no fault', async () => {
  expect(await findZone(dns, 'nowhere.example')).toBeUndefined();
});
