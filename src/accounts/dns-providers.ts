// Which provider serves the DNS of a domain, found by its name servers: people are told where to
// put records, and under which names that provider's form expects them. Called by an operation.
import type { Dns } from './dns.ts';

export interface DnsProvider {
  name: string;
  /** Where its records are edited. */
  url: string;
  /** What the provider's form calls the zone itself. */
  apex: '@' | '';
}

export interface DnsZone {
  /** The domain, or the one above it that has name servers of its own. */
  zone: string;
  nameServers: string[];
  /** Null: not a provider we know. */
  provider: DnsProvider | null;
}

const KNOWN: readonly [sign: RegExp, provider: Omit<DnsProvider, 'apex'> & { apex?: '' }][] = [
  [/\.ns\.cloudflare\.com$/, { name: 'Cloudflare', url: 'https://dash.cloudflare.com/' }],
  [
    /(^|\.)awsdns-\d+\./,
    {
      name: 'Amazon Route 53',
      url: 'https://console.aws.amazon.com/route53/v2/hostedzones',
      apex: '',
    },
  ],
  [/\.domaincontrol\.com$/, { name: 'GoDaddy', url: 'https://dcc.godaddy.com/control/dns' }],
  [/\.registrar-servers\.com$/, { name: 'Namecheap', url: 'https://ap.www.namecheap.com/' }],
  [
    /\.squarespacedns\.com$/,
    { name: 'Squarespace', url: 'https://account.squarespace.com/domains' },
  ],
  [
    /^ns-cloud-\w+\.googledomains\.com$/,
    { name: 'Google Cloud DNS', url: 'https://console.cloud.google.com/net-services/dns' },
  ],
  [/\.azure-dns\.\w+$/, { name: 'Azure DNS', url: 'https://portal.azure.com/' }],
  [
    /\.digitalocean\.com$/,
    { name: 'DigitalOcean', url: 'https://cloud.digitalocean.com/networking/domains' },
  ],
  [/\.hetzner\.(com|de)$/, { name: 'Hetzner', url: 'https://dns.hetzner.com/' }],
  [/\.(ovh\.(net|ca)|anycast\.me)$/, { name: 'OVHcloud', url: 'https://www.ovh.com/manager/' }],
  [/\.gandi\.net$/, { name: 'Gandi', url: 'https://admin.gandi.net/' }],
  [/\.ui-dns\.\w+$/, { name: 'IONOS', url: 'https://my.ionos.com/domains' }],
  [/\.vercel-dns\.com$/, { name: 'Vercel', url: 'https://vercel.com/domains' }],
  [/\.porkbun\.com$/, { name: 'Porkbun', url: 'https://porkbun.com/account/domainsSpeedy' }],
];

/** Upwards, as far as someone could own it: a subdomain is rarely a zone of its own. */
export async function findZone(dns: Dns, domain: string): Promise<DnsZone | undefined> {
  const labels = domain.split('.');
  for (let at = 0; at <= labels.length - 2; at++) {
    const zone = labels.slice(at).join('.');
    const { values } = await dns.ns(zone);
    if (values.length > 0)
      return { zone, nameServers: values.sort(), provider: providerOf(values) };
  }
  return undefined;
}

function providerOf(nameServers: readonly string[]): DnsProvider | null {
  const known = KNOWN.find(([sign]) => nameServers.some((host) => sign.test(host)));
  return known ? { apex: '@', ...known[1] } : null;
}

/** As the provider's form expects it: without the zone, which the form adds. */
export function relativeName(name: string, { zone, provider }: DnsZone): string {
  if (name === zone) return provider?.apex ?? '@';
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
