// What loads a pixel or follows a link without a person: image proxies, link scanners, previews.
// Used by inbound/open.ts and click.ts; such events carry `machine: true` and a click by one does
// not raise the status. Only what their operators document or what is unmistakable: a wrong
// "machine" hides a person.
import { BlockList, isIP } from 'node:net';

/** Fields of the request, names in lower case (as in node). */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function isMachine(
  userAgent: string | undefined,
  ipAddress: string | undefined,
  headers: RequestHeaders = {},
): boolean {
  return (
    isMachineAgent(userAgent?.trim() ?? '') || isScannerAddress(ipAddress) || isPrefetch(headers)
  );
}

const AGENTS = new RegExp(
  [
    // Gmail's image proxy: "… Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    // support.google.com/mail/answer/145919.
    'googleimageproxy',
    // Yahoo and AOL: "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html".
    'yahoomailproxy',
    // Outlook and Bing previews, Teams and Skype: learn.microsoft.com (BingPreview,
    // SkypeUriPreview).
    'bingpreview|skypeuripreview|microsoft-?urlanalyzer|safelinks',
    // Link scanners that name themselves.
    'barracuda|proofpoint|mimecast|symantec|forcepoint|fireeye|trellix|trendmicro|sophos|ironport|fortinet|fortimail|checkpoint|zscaler|mcafee|kaspersky|urlscan|virustotal|cloudmark|vade ?secure|hornetsecurity|avanan',
    // Link previews of chats and networks, as their developer pages name them.
    'slackbot|slack-imgproxy|facebookexternalhit|facebot|twitterbot|linkedinbot|whatsapp|telegrambot|discordbot|pinterestbot|redditbot|applebot|iframely|embedly',
    // What crawlers call themselves; "cubot" is a phone.
    '(?<!cu)bot\\b|crawler|spider|crawling|slurp|mediapartners-google|feedfetcher|google-inspectiontool|google-read-aloud',
    // Browsers without a window. Not curl, node or python-requests: developers test their own links
    // with those, and a scanner that wants to see what a reader sees does not identify itself like
    // that.
    'headlesschrome|phantomjs|puppeteer|playwright|selenium',
  ].join('|'),
  'i',
);

function isMachineAgent(userAgent: string): boolean {
  // Apple's Mail Privacy Protection fetches every image through relays and sends only this
  // (support.apple.com/guide/iphone/iphf084865c7).
  if (userAgent === '' || userAgent === 'Mozilla/5.0') return true;
  return AGENTS.test(userAgent);
}

// Networks from which the filters fetch links, from their own published lists.
const NETWORKS: readonly string[] = [
  // Exchange Online Protection, which runs Safe Links: endpoint set 10 of endpoints.office.com;
  // 40.94 fetches the links.
  ...['40.92.0.0/15', '40.94.0.0/16', '40.107.0.0/16', '52.100.0.0/14', '104.47.0.0/17'],
  // Proofpoint: ARIN and RIPE allocations of Proofpoint, Inc. (URL Defense, TAP).
  ...[
    '67.231.144.0/20',
    '148.163.128.0/19',
    '205.220.160.0/19',
    '208.84.64.0/22',
    '208.86.200.0/22',
  ],
  ...[
    '185.132.180.0/22',
    '185.183.28.0/22',
    '91.207.212.0/23',
    '91.209.104.0/24',
    '62.209.50.0/23',
  ],
  // Barracuda Email Gateway Defense: campus.barracuda.com, "IP ranges used for configuration".
  ...['64.235.144.0/20', '209.222.80.0/21', '35.176.92.96/27', '35.157.190.224/27'],
  ...['3.24.133.128/25', '15.222.16.128/25'],
  // Mimecast: mimecastsupport.zendesk.com, "Data Centers and URLs".
  ...[
    '170.10.128.0/21',
    '205.139.110.0/23',
    '207.211.30.0/24',
    '216.205.24.0/24',
    '63.128.21.0/24',
  ],
  ...['91.220.42.0/24', '146.101.78.0/24', '195.130.217.0/24', '185.58.84.0/23', '51.163.158.0/23'],
  ...['193.7.206.0/23', '213.167.75.0/24', '213.167.81.0/24', '62.140.7.0/24', '62.140.10.0/24'],
  ...['103.13.69.0/24', '103.96.20.0/22', '124.47.150.0/24', '124.47.189.0/24', '41.74.192.0/20'],
  // Cisco Secure Email: ARIN allocations of Cisco Systems IronPort Division.
  ...['68.232.128.0/19', '139.138.32.0/19', '184.94.240.0/20', '216.71.128.0/19'],
];

const scanners = new BlockList();
for (const network of NETWORKS) {
  const [address, prefix] = network.split('/');
  scanners.addSubnet(address!, Number(prefix), 'ipv4');
}

function isScannerAddress(ipAddress: string | undefined): boolean {
  const address = ipAddress?.replace(/^::ffff:/i, '') ?? '';
  return isIP(address) === 4 && scanners.check(address, 'ipv4');
}

/**
 * What browsers send when they load a page before anyone asked for it (Sec-Purpose of the Fetch
 * standard, and its predecessors).
 */
function isPrefetch(headers: RequestHeaders): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /prefetch|preview|prerender/i.test(String(headers[name] ?? '')),
  );
}
