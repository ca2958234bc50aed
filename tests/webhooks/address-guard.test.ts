// The guard's decisions without a connection: URLs, addresses, ports, names and WEBHOOK_ALLOW.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  addressGuard,
  checkUrl,
  dnsResolver,
  guardedLookup,
  isSpecialAddress,
  type Resolve,
} from '../../src/webhooks/address-guard.ts';
import samples from '../fixtures/ssrf-urls.json' with { type: 'json' };
import { startDnsServer } from '../support/dns-server.ts';

const publicAnswer: Resolve = async () => ['93.184.215.14', '2606:4700:4700::1111'];
const unresolved: Resolve = async (host) => {
  throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' });
};
const noDns: Resolve = async (host) => {
  throw new Error(`asked for ${host}, but it is no name`);
};
const https = (url: string) => url.replace('http:', 'https:');

async function refusal(url: string, allow: string[] = [], resolve = publicAnswer) {
  return checkUrl(addressGuard(allow, resolve), url).then(
    () => undefined,
    (problem) => {
      expect(problem).toMatchObject({ name: 'Problem', code: 'invalid' });
      return problem.detail as string;
    },
  );
}

describe('the samples', () => {
  it('has all of them', () => {
    expect([samples.deny.length, samples.allow.length]).toEqual([66, 25]);
  });

  it.each(samples.deny)('refuses %s over https', async (url) => {
    // noDns: the literal itself is refused, nothing is left to a DNS answer.
    expect(await refusal(https(url), [], noDns)).toBeDefined();
  });

  it.each(samples.allow)('takes %s over https, but not over http', async (url) => {
    expect(await refusal(https(url), [], noDns)).toBeUndefined();
    expect(await refusal(url, [], noDns)).toMatch(/must start with https/);
  });

  it.each(samples.deny)('calls the address of %s special', (url) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    // Names are not addresses; isSpecialAddress refuses what it cannot read.
    expect(isSpecialAddress(host)).toBe(true);
  });

  it.each(samples.allow)('calls the address of %s public', (url) => {
    expect(isSpecialAddress(new URL(url).hostname.replace(/^\[|\]$/g, ''))).toBe(false);
  });
});

describe('isSpecialAddress', () => {
  it('sees an IPv4 address alike in its mapped and NAT64 form', () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const special = isSpecialAddress(ip);
        expect(isSpecialAddress(`::ffff:${ip}`)).toBe(special);
        expect(isSpecialAddress(`0:0:0:0:0:FFFF:${ip}`)).toBe(special);
        expect(isSpecialAddress(`64:ff9b::${ip}`)).toBe(special);
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes no IPv6 address outside 2000::/3 for public, but for those two', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        fc.pre(bytes[0]! >> 5 !== 1);
        const hex = Buffer.from(bytes).toString('hex');
        fc.pre(
          !hex.startsWith(`${'0'.repeat(20)}ffff`) && !hex.startsWith(`0064ff9b${'0'.repeat(16)}`),
        );
        expect(isSpecialAddress(hex.match(/.{4}/g)!.join(':'))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['fe80::1%eth0', '', 'localhost', '127.1', '1.2.3.4.5', '1.1.1.1 ', '[2606:4700::1]'])(
    'refuses %j',
    (text) => {
      expect(isSpecialAddress(text)).toBe(true);
    },
  );

  it('knows the edges of the IPv6 blocks', () => {
    const special = [
      '2001:1ff:ffff::1',
      '2001:db8:ffff::1',
      '2002:808:808::1',
      '3fff:fff::1',
      '4000::1',
      '1fff::1',
    ];
    const open = [
      '2001:200::1',
      '2001:db7::1',
      '2001:db9::1',
      '2003::1',
      '3ffe::1',
      '3fff:1000::1',
      '2000::1',
    ];
    expect(special.filter((ip) => !isSpecialAddress(ip))).toEqual([]);
    expect(open.filter(isSpecialAddress)).toEqual([]);
  });
});

describe('checkUrl', () => {
  it.each([
    ['not a url', /not a URL/],
    ['ftp://example.com/', /https/],
    ['javascript:alert(1)', /https/],
    ['file:///etc/passwd', /https/],
    ['http://example.com/', /https/],
    ['https://user@example.com/', /user name or password/],
    ['https://:pw@example.com/', /user name or password/],
    ['https://127.0.0.1../', /loopback/],
    ['https://168.63.129.16/', /otherwise special/],
  ])('refuses %s', async (url, why) => {
    expect(await refusal(url)).toMatch(why);
  });

  it.each([
    1, 21, 22, 23, 25, 53, 110, 143, 465, 587, 993, 1023, 2525, 3306, 5432, 6379, 6667, 11211,
    27017,
  ])('refuses port %i, inside WEBHOOK_ALLOW too', async (port) => {
    expect(await refusal(`https://example.com:${port}/`)).toMatch(/^Port/);
    expect(await refusal(`http://10.1.2.3:${port}/`, ['10.0.0.0/8'])).toMatch(/^Port/);
  });

  it.each(['', ':443', ':80', ':1024', ':3000', ':8080', ':8443', ':65535'])(
    'takes port %j',
    async (port) => {
      expect(await refusal(`https://example.com${port}/`)).toBeUndefined();
    },
  );

  it('refuses a name when any one of its answers is special, and does not say which', async () => {
    for (const special of ['10.9.8.7', '::1', '::ffff:169.254.169.254', 'fd00::1']) {
      const detail = await refusal('https://hooks.example.com/', [], async () => [
        '8.8.8.8',
        special,
      ]);
      expect(detail).toMatch(/resolves to one/);
      expect(detail).not.toContain(special);
    }
  });

  it.each(['localhost', 'LOCALHOST.', 'localhost..', 'a.b.localhost'])(
    'asks no DNS about %s',
    async (host) => {
      expect(await refusal(`https://${host}/`, [], noDns)).toMatch(/loopback/);
      expect(await refusal(`https://${host}/`, ['127.0.0.0/8'], noDns)).toMatch(/loopback/);
      expect(await refusal(`http://${host}:3000/`, ['127.0.0.0/8', '::1'], noDns)).toBeUndefined();
    },
  );

  it('takes an https name that does not resolve yet, with a warning', async () => {
    const guard = addressGuard([], unresolved);
    const { url, warning } = await checkUrl(guard, 'https://Soon.Example.com/hook?a=1');
    expect(url.href).toBe('https://soon.example.com/hook?a=1');
    expect(warning).toMatch(/does not resolve yet/);
    expect(await refusal('http://soon.example.com/', ['10.0.0.0/8'], unresolved)).toMatch(/https/);
  });
});

describe('WEBHOOK_ALLOW', () => {
  it('opens its ranges to http and https, in every spelling, and nothing beside them', async () => {
    const allow = ['10.20.0.0/16', '192.168.7.9', 'fd12::/16', ' 127.0.0.0/8 '];
    for (const host of [
      '10.20.255.1',
      '192.168.7.9',
      '[fd12:3::4]',
      '[::ffff:10.20.1.1]',
      '2130706433',
      '0x7f.1',
    ]) {
      expect(await refusal(`http://${host}:8080/`, allow, noDns)).toBeUndefined();
      expect(await refusal(`https://${host}/`, allow, noDns)).toBeUndefined();
    }
    for (const host of ['10.21.0.1', '192.168.7.8', '[fd13::1]', '[64:ff9b::a14:101]', '[::1]']) {
      expect(await refusal(`https://${host}/`, allow, noDns)).toMatch(/special address/);
    }
  });

  it('wants all answers inside for http', async () => {
    const mixed: Resolve = async () => ['10.20.0.1', '8.8.8.8'];
    expect(await refusal('http://app.internal/', ['10.0.0.0/8'], mixed)).toMatch(/https/);
    expect(await refusal('https://app.internal/', ['10.0.0.0/8'], mixed)).toBeUndefined();
    expect(
      await refusal('http://app.internal/', ['10.0.0.0/8'], async () => ['10.0.0.1']),
    ).toBeUndefined();
  });

  it('does not let an IPv6 range speak for IPv4', async () => {
    expect(await refusal('https://10.0.0.1/', ['::/0'])).toMatch(/special/);
    expect(await refusal('https://[fd00::1]/', ['0.0.0.0/0'])).toMatch(/special/);
  });

  it.each([
    '10.0.0.0/33',
    '10.0.0/8',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    'example.com',
    '',
  ])('refuses %j', (cidr) => {
    expect(() => addressGuard([cidr])).toThrow(/is not an address or a range/);
  });
});

describe('names, over a real DNS server', () => {
  const started: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const server of started.splice(0)) await server.close();
  });
  const lookup = (resolve: Resolve, host: string) =>
    new Promise<unknown>((done) => {
      guardedLookup(addressGuard([], resolve), 'https:')(host, { all: true }, (error, found) =>
        done(error?.code ?? found),
      );
    });

  it('gives all answers of both families, or none', async () => {
    const zone: Record<string, string[]> = {
      'A open.example.com': ['8.8.8.8', '1.1.1.1'],
      'AAAA open.example.com': ['2620:fe::fe'],
      'A half.example.com': ['8.8.8.8'],
      'AAAA half.example.com': ['fd00:ec2::254'],
      'A four.example.com': ['9.9.9.9'],
    };
    const dns = await startDnsServer((name, type) => zone[`${type} ${name}`] ?? []);
    started.push(dns);
    const resolve = dnsResolver([dns.address]);
    expect(await lookup(resolve, 'open.example.com')).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '1.1.1.1', family: 4 },
      { address: '2620:fe::fe', family: 6 },
    ]);
    expect(await lookup(resolve, 'half.example.com')).toBe('ERR_BLOCKED_ADDRESS');
    expect(await lookup(resolve, 'four.example.com.')).toEqual([{ address: '9.9.9.9', family: 4 }]);
  });

  it('asks the system for what DNS does not know, such as names of /etc/hosts', async () => {
    const dns = await startDnsServer(() => undefined);
    started.push(dns);
    // The one name every system knows by itself.
    expect(await dnsResolver([dns.address])('localhost')).toContain('127.0.0.1');
  });
});
