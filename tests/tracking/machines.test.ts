// Machines that open and click, and people who must not be taken for them.
import { describe, expect, it } from 'vitest';
import { isMachine } from '../../src/tracking/machines.ts';

const HOME = '203.0.113.9';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

describe('machines', () => {
  it.each([
    'Mozilla/5.0',
    '',
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b',
    'Barracuda Sentinel (EE)',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/119.0.0.0 Safari/537.36',
    'WhatsApp/2.23.20.0',
  ])('"%s"', (agent) => {
    expect(isMachine(agent, HOME)).toBe(true);
  });

  it.each([
    '40.94.36.12',
    '104.47.11.12',
    '::ffff:52.101.1.1',
    '148.163.135.7',
    '209.222.82.5',
    '207.211.30.44',
    '68.232.130.1',
  ])('a browser at %s', (address) => {
    expect(isMachine(FIREFOX, address)).toBe(true);
  });

  it.each([
    { purpose: 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'x-moz': 'prefetch' },
    { 'x-purpose': ['preview'] },
  ])('with %j', (headers) => {
    expect(isMachine(FIREFOX, HOME, headers)).toBe(true);
  });

  it('without a user agent', () => {
    expect(isMachine(undefined, HOME)).toBe(true);
  });
});

describe('people', () => {
  it.each([
    FIREFOX,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17628; Pro)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0',
    'Mozilla/5.0 (Linux; Android 12; CUBOT X50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/125.0.0.0 Mobile Safari/537.36',
    'Thunderbird/115.0',
    // Developers who try a link.
    'curl/8.5.0',
    'node',
    'python-requests/2.31.0',
  ])('%s', (agent) => {
    expect(isMachine(agent, HOME, { accept: 'image/*', 'accept-language': 'de' })).toBe(false);
  });

  it('at addresses of any form', () => {
    for (const address of [
      undefined,
      '',
      'nonsense',
      '2001:db8::1',
      '::ffff:203.0.113.9',
      '999.1.1.1',
    ]) {
      expect(isMachine(FIREFOX, address)).toBe(false);
    }
  });
});
