// Which large receiver a recipient belongs to: by the host that answered for it, if a report names
// one (a company's own domain may be at Google), otherwise by the domain. One list, turned into the
// SQL that counts (receivers.ts).

interface Receiver {
  name: string;
  /** Matches the hosts that answer for it. */
  hosts: RegExp;
  domains: RegExp;
}

export const RECEIVERS: readonly Receiver[] = [
  {
    name: 'gmail',
    hosts: /(^|\.)(google|googlemail)\.com$/,
    domains: /^(gmail|googlemail|google)\.com$/,
  },
  {
    name: 'outlook',
    hosts: /(^|\.)(outlook|hotmail)\.com$/,
    domains: /^(outlook|hotmail|live|msn|passport)\.[a-z]+(\.[a-z]+)?$/,
  },
  {
    name: 'yahoo',
    hosts: /(^|\.)(yahoodns\.net|yahoo\.com|yahoo\.co\.jp)$/,
    domains: /^((yahoo|aol)\.[a-z]+(\.[a-z]+)?|(ymail|rocketmail|myyahoo|aim)\.com)$/,
  },
  { name: 'apple', hosts: /(^|\.)(icloud|apple)\.com$/, domains: /^(icloud|me|mac)\.com$/ },
  {
    name: 'gmx',
    hosts: /(^|\.)(gmx\.net|web\.de|mail\.com)$/,
    domains: /^(gmx\.[a-z]+|web\.de|mail\.com)$/,
  },
  { name: 't-online', hosts: /(^|\.)t-online\.de$/, domains: /^(t-online|magenta)\.de$/ },
  { name: 'comcast', hosts: /(^|\.)comcast\.net$/, domains: /^comcast\.net$/ },
  {
    name: 'proton',
    hosts: /(^|\.)(protonmail|proton)\.(ch|me)$/,
    domains: /^(protonmail\.(com|ch)|proton\.me|pm\.me)$/,
  },
  { name: 'mail.ru', hosts: /(^|\.)mail\.ru$/, domains: /^(mail|inbox|list|bk)\.ru$/ },
  { name: 'yandex', hosts: /(^|\.)yandex\.(ru|net)$/, domains: /^(yandex\.[a-z]+|ya\.ru)$/ },
  { name: 'qq', hosts: /(^|\.)qq\.com$/, domains: /^(qq|foxmail)\.com$/ },
];

/** All other receivers, which are too small to have their own limits. */
export const OTHERS = 'others';

const arm = (column: string, pattern: (receiver: Receiver) => RegExp): string =>
  RECEIVERS.map((it) => `WHEN ${column} ~ '${pattern(it).source}' THEN '${it.name}'`).join(
    '\n    ',
  );

/** For a row with `host` and `domain`, both in lower case. */
export const RECEIVER_OF = `CASE
    ${arm('host', ({ hosts }) => hosts)}
    ${arm('domain', ({ domains }) => domains)}
    ELSE '${OTHERS}' END`;
