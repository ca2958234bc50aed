// Configuration: the one list of settings. Read once by main.ts and the CLI; docs/configuration.md
// is generated from it.

import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { type Mailbox, parseMailbox } from './addresses.ts';
import { urlsOf } from './database-url.ts';
import { Problem } from './errors.ts';
import { isNetwork } from './networks.ts';

export const ROLES = ['api', 'delivery', 'webhooks', 'feedback'] as const;
export type Role = (typeof ROLES)[number];

interface Setting {
  schema: z.ZodType;
  /** Shown in the documentation where the default is worked out from something else. */
  shownDefault?: string;
  description: string;
}

const wholeNumber = (least: number, most: number) =>
  z.coerce.number(`must be a whole number from ${least} to ${most}`).int().min(least).max(most);
const port = wholeNumber(0, 65_535);
const list = z
  .string()
  .default('')
  .transform((text) => text.split(',').map((item) => item.trim()))
  .transform((items) => items.filter((item) => item !== ''));
const days = wholeNumber(1, 3650);
const percent = z.coerce.number('must be a percentage').positive().max(100);

/** An absent variable and an empty one mean the same: the default. */
const settings = {
  PORT: {
    schema: port.default(3000),
    description: 'Port of the REST API, the MCP server and the dashboard.',
  },
  HOST: {
    schema: z.string().default('127.0.0.1'),
    description: 'Address to listen on. `0.0.0.0` opens the service to the network.',
  },
  BASE_URL: {
    schema: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
    shownDefault: '`http://HOST:PORT`',
    description: 'The address at which users reach the service; used in links and documents.',
  },
  MCP_PORT: {
    schema: port.optional(),
    shownDefault: 'unset: MCP is at `/mcp` and `/v1/mcp` on `PORT` only',
    description: 'A separate port for MCP, which is then also at `/mcp` there.',
  },
  MCP_ALLOWED_HOSTS: {
    schema: z
      .string()
      .default('')
      .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
      .transform((hosts) => hosts.filter((host) => host !== '')),
    shownDefault: 'unset: loopback names, `HOST` and the name in `BASE_URL`',
    description:
      'Further host names at which MCP is reached, comma-separated and without ports. Requests with another Host, and web pages of another Origin, are refused with 403.',
  },
  TRACKING_URL: {
    schema: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
    shownDefault: '`BASE_URL`',
    description:
      'The address in pixels, tracked links and unsubscribe links; must lead to this service. While neither it nor `BASE_URL` is set, emails to a real relay are not tracked: nobody outside could follow their links.',
  },
  TRUSTED_PROXIES: {
    schema: list
      .transform((items) => (items.length === 0 ? ['127.0.0.0/8', '::1'] : items))
      .refine((items) => items.every(isNetwork), 'must be a list of addresses or networks'),
    shownDefault: '`127.0.0.0/8,::1`',
    description:
      'Addresses and networks of your reverse proxies, comma-separated. Only they are trusted when `X-Forwarded-For` says where a request came from: for opens and clicks, sign-ins, and keys restricted to certain networks.',
  },
  METRICS_PORT: {
    schema: port.optional(),
    shownDefault: 'unset: the role `api` alone answers them, on `PORT`',
    description:
      'A separate port for `/healthz`, `/readyz` and `/metrics`, whatever the roles of the process.',
  },
  METRICS_HOST: {
    schema: z.string().default('127.0.0.1'),
    description:
      'Address that `METRICS_PORT` listens on. Anyone who can reach it can read the metrics, unless `METRICS_TOKEN` is set.',
  },
  METRICS_TOKEN: {
    schema: z.string().min(16, 'must have at least 16 characters').optional(),
    shownDefault: 'unset: on `PORT`, `/metrics` answers only where `HOST` is loopback',
    description: 'The token that `/metrics` requires, on every port, as `Authorization: Bearer`.',
  },
  DATA_DIR: {
    schema: z.string().default('.sandmartin'),
    description:
      'Folder of the embedded PostgreSQL. Only used while `DATABASE_URL` is unset. Relative to the current folder.',
  },
  DATABASE_URL: {
    schema: z
      .string()
      .refine(
        (text) => urlsOf(text) !== undefined,
        'must be a postgres:// URL; several servers as postgres://user:password@one:5432,two:5432/name',
      )
      .optional(),
    shownDefault: 'unset: PostgreSQL runs embedded in `DATA_DIR`',
    description:
      'The PostgreSQL server (15 or newer) to use, for any number of processes. Several hosts, comma-separated (`postgres://user:password@one:5432,two:5432/name`): the one that accepts writes is used, and a promoted standby is found without a restart.',
  },
  DATABASE_CONNECTIONS: {
    schema: wholeNumber(4, 500).default(12),
    description:
      'The most connections one process opens to PostgreSQL for its work. Up to three more are for the heartbeat and for maintenance.',
  },
  ROLES: {
    schema: z
      .string()
      .default(ROLES.join(','))
      .transform((text) => text.split(',').map((role) => role.trim()))
      .pipe(z.array(z.enum(ROLES, `must be a list of ${ROLES.join(', ')}`)).min(1)),
    description:
      'What this process does, as a comma-separated list. Run several processes with different roles on one database to scale.',
  },
  THREADS: {
    schema: wholeNumber(2, 64).optional(),
    shownDefault: 'one for each core, at least 2 and at most 8',
    description:
      'The most threads that render templates and read reports. They start when they are needed; each takes about 30 MB.',
  },
  RELAY_URL: {
    schema: z
      .url({ protocol: /^smtps?$/, error: 'must be smtp://user:password@host:port or smtps://…' })
      .optional(),
    shownDefault: 'unset: the sandbox relay captures every email',
    description:
      'The SMTP relay that email is handed to. `smtp://` uses STARTTLS when offered, `smtps://` TLS from the first byte.',
  },
  RELAY_CONNECTIONS: {
    schema: wholeNumber(1, 200).default(8),
    description: 'The most SMTP connections one delivery process opens to the relay.',
  },
  RELAY_DOWN: {
    schema: z.enum(['refuse', 'queue'], 'must be refuse or queue').default('refuse'),
    description:
      'While the relay cannot be reached: `refuse` answers new sends with 502, `queue` accepts them and waits.',
  },
  DELIVERY_LEASE_SECONDS: {
    schema: wholeNumber(2, 3600).default(60),
    description:
      'How long emails stay with a delivery process that died or froze before others take them. It is renewed every second, so it also limits how long the database may be unreachable before emails not yet started are given back.',
  },
  QUEUE_LIMIT: {
    schema: wholeNumber(1, 1_000_000_000).default(1_000_000),
    description:
      'Emails that may wait for the relay, across all accounts. Beyond it, sends get 503 with `retry-after` until the queue is shorter. Scheduled emails may take half of it.',
  },
  QUEUE_LIMIT_BYTES: {
    schema: z.string().default('10GB').transform(readBytes),
    shownDefault: '`10GB`',
    description:
      'The same for what waiting emails take on disk: a number of bytes, or one with `MB` or `GB`.',
  },
  ALLOWED_HEADERS: {
    schema: list.transform((names) => names.map((name) => name.toLowerCase())),
    shownDefault: 'unset: none',
    description:
      'Headers that senders may set although relays act on them, comma-separated, such as `X-PM-Tag`. Refused otherwise: those of SendGrid, Amazon SES, Mailgun, Postmark, SparkPost, Mandrill, Brevo, Mailjet and others, by which a sender could add recipients or get around your tracking and routing.',
  },
  SMTP_PORT: {
    schema: port.optional(),
    shownDefault: 'unset: programs cannot send by SMTP',
    description:
      'Port on which programs send by SMTP, such as 587: any username, and an API key as the password. With `TLS_CERT` it offers STARTTLS; without, only programs on this machine can log in. See [smtp.md](smtp.md).',
  },
  SMTPS_PORT: {
    schema: port.optional(),
    shownDefault: 'unset',
    description: 'The same with TLS from the first byte, such as 465. Needs `TLS_CERT`.',
  },
  SMTP_HOST: {
    schema: z.string().optional(),
    shownDefault: '`HOST`',
    description: 'Address that `SMTP_PORT` and `SMTPS_PORT` listen on.',
  },
  TLS_CERT: {
    schema: z.string().optional(),
    shownDefault: 'unset',
    description:
      'File with the certificate (PEM, with its chain) for `SMTP_PORT` and `SMTPS_PORT`. Needs `TLS_KEY`. A renewed certificate is used within seconds, without a restart.',
  },
  TLS_KEY: {
    schema: z.string().optional(),
    shownDefault: 'unset',
    description: 'File with the private key (PEM) of `TLS_CERT`.',
  },
  FEEDBACK_PORT: {
    schema: port.default(2526),
    description: 'Port of the SMTP listener for delivery reports and complaints.',
  },
  FEEDBACK_HOST: {
    schema: z.string().optional(),
    shownDefault: '`HOST`',
    description: 'Address the feedback listener listens on.',
  },
  FEEDBACK_TLS_CERT: {
    schema: z.string().optional(),
    shownDefault: 'unset: a self-signed certificate, which opportunistic TLS allows',
    description:
      'File with the certificate (PEM, with its chain) that the feedback listener shows for STARTTLS. Needs `FEEDBACK_TLS_KEY`.',
  },
  FEEDBACK_TLS_KEY: {
    schema: z.string().optional(),
    shownDefault: 'unset',
    description: 'File with the private key (PEM) of `FEEDBACK_TLS_CERT`.',
  },
  BOUNCE_DOMAIN: {
    schema: z
      .string()
      .regex(/^[a-z\d-]+(\.[a-z\d-]+)*$/i, 'must be a domain name, in ASCII')
      .default('bounces.localhost'),
    description:
      'Domain of the return path `bounce+…@`. Its MX, or a transport of your relay, must point to the feedback listener.',
  },
  OPERATOR_DOMAIN: {
    schema: z
      .string()
      .regex(/^[a-z\d-]+(\.[a-z\d-]+)*$/i, 'must be a domain name, in ASCII')
      .optional(),
    shownDefault: 'unset: only the domain that the email is from signs it',
    description:
      'A domain of yours that signs every email as well, so that feedback loops that are registered by signing domain, such as Yahoo’s, cover all email of the installation. Add it to one of your accounts (`identity add`) and publish its records; a name equal to `BOUNCE_DOMAIN` also makes `CFBL-Address` valid for every sender. Each signature costs about 0.6 ms of CPU.',
  },
  TRUSTED_REPORTERS: {
    schema: list.refine(
      (items) => items.every((item) => isNetwork(item) || isDomain(item)),
      'must be a list of addresses, networks or domain names',
    ),
    shownDefault: 'unset: only reports that bring back a token of ours count',
    description:
      'Who is trusted without a token of ours, comma-separated: addresses and networks from which reports come, and domains whose valid DKIM signature a complaint has, such as `192.0.2.0/24,fbl.example`. Name only domains that send nothing but reports: whoever can write from one can report anything.',
  },
  SES_TOPICS: {
    schema: list.refine(
      (items) => items.every((item) => /^arn:aws[\w-]*:sns:[\w-]+:\d{12}:[\w.-]+$/.test(item)),
      'must be a list of ARNs of SNS topics',
    ),
    shownDefault: 'unset: `/inbound/ses` refuses everything',
    description:
      'ARNs of the Amazon SNS topics, comma-separated, whose SES notifications `/inbound/ses` accepts.',
  },
  POSTMARK_WEBHOOK_TOKENS: {
    schema: list.refine(
      (items) => items.every((item) => /^[\w-]{16,200}$/.test(item)),
      'must be a list of tokens of at least 16 letters, digits, hyphens and underscores',
    ),
    shownDefault: 'unset: `/inbound/postmark` refuses everything',
    description:
      'Tokens that you make up, comma-separated. Postmark’s webhooks carry one: `/inbound/postmark/TOKEN`, or as the password of basic authentication.',
  },
  MAILGUN_SIGNING_KEYS: {
    schema: list,
    shownDefault: 'unset: `/inbound/mailgun` refuses everything',
    description:
      'HTTP webhook signing keys of Mailgun, comma-separated, whose webhooks `/inbound/mailgun` accepts.',
  },
  SENDGRID_VERIFICATION_KEYS: {
    schema: list.refine((items) => items.every(isPublicKey), 'must be a list of verification keys'),
    shownDefault: 'unset: `/inbound/sendgrid` refuses everything',
    description:
      'Verification keys of SendGrid’s Signed Event Webhook, comma-separated, as SendGrid shows them, whose events `/inbound/sendgrid` accepts.',
  },
  SYSTEM_SENDER: {
    schema: z
      .string()
      .transform((text, context) => {
        const mailbox = parseMailbox(text);
        if (!('fault' in mailbox)) return mailbox;
        context.addIssue({ code: 'custom', message: `is not an address: ${mailbox.fault}` });
        return z.NEVER;
      })
      .optional(),
    shownDefault:
      'unset: in the sandbox any verified sender; otherwise only operators can verify addresses',
    description:
      'The address from which the service itself sends, for example the links that verify addresses. Must be a verified identity of a paying account, through which it is sent.',
  },
  DNS_SERVERS: {
    schema: list.refine(
      (items) => items.every(isServer),
      'must be a list of addresses, with or without a port',
    ),
    shownDefault: 'unset: those of the machine',
    description:
      'DNS servers to ask about domains, comma-separated, such as `192.0.2.53` or `127.0.0.1:5353`.',
  },
  WEBHOOK_ALLOW: {
    schema: list.refine(
      (items) => items.every(isNetwork),
      'must be a list of networks such as 10.1.0.0/16,::1',
    ),
    shownDefault: 'unset: none',
    description:
      'Addresses and networks, comma-separated, where webhooks may go although they are private, loopback or otherwise special, and where `http://` is allowed.',
  },
  PAUSE_BOUNCE_PERCENT: {
    schema: percent.optional(),
    shownDefault: 'unset: off',
    description:
      'Pauses an account when more than this percentage of its recipients in the last 24 hours bounced permanently: its sends get 403 until an operator resumes it (`sandmartin account resume`, or the dashboard). Amazon SES pauses at 10.',
  },
  PAUSE_COMPLAINT_PERCENT: {
    schema: percent.optional(),
    shownDefault: 'unset: off',
    description: 'The same for complaints. Large mailbox providers start rejecting email at 0.3.',
  },
  PAUSE_FEWEST: {
    schema: wholeNumber(1, 1_000_000).default(200),
    description:
      'The fewest recipients in 24 hours for which an account is paused: below that, a rate says little.',
  },
  RAMP_START: {
    schema: wholeNumber(1, 2_000_000_000).optional(),
    shownDefault: 'unset: no ramp',
    description:
      'Recipients that a new account may send to on its first day, such as 200. It doubles every day until the account’s own quota is reached. `sandmartin account set --ramp-start 0` ends it for one account.',
  },
  SECRET_KEY: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    shownDefault: 'unset: generated once and stored in the database',
    description:
      'Signs tokens in links and return paths, and encrypts private keys and webhook secrets at rest. Give every process and command the same value; without it, only the database protects them. If you set it later, what is already stored is re-encrypted. Change it only with `sandmartin secret rotate`.',
  },
  RETENTION_DAYS: {
    schema: days.default(90),
    description:
      'Days for which messages and their events are kept. Those of one day are deleted together; if some were scheduled, the days count from the time the last one was to go out.',
  },
  CONTENT_RETENTION_DAYS: {
    schema: days.default(30),
    description: 'Days for which bodies and attachments are kept; counted in the same way.',
  },
  LOG_LEVEL: {
    schema: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
    description: 'How much is logged to standard error, as JSON lines.',
  },
} satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
type Parsed = { [Name in SettingName]: z.output<(typeof settings)[Name]['schema']> };

export interface Config {
  port: number;
  host: string;
  baseUrl: string;
  /** Undefined: the same as baseUrl. */
  trackingUrl: string | undefined;
  /** Somebody set the address at which recipients reach us. */
  isPublic: boolean;
  trustedProxies: readonly string[];
  mcpPort: number | undefined;
  /** Names that MCP may be asked under, without ports. */
  mcpHosts: readonly string[];
  metricsPort: number | undefined;
  metricsHost: string;
  metricsToken: string | undefined;
  /** HOST is an address of this machine only. */
  isLoopback: boolean;
  dataDir: string;
  databaseUrl: string | undefined;
  databaseConnections: number;
  roles: ReadonlySet<Role>;
  threads: number;
  relayUrl: string | undefined;
  relayConnections: number;
  deliveryLeaseMs: number;
  relayDown: 'refuse' | 'queue';
  queueLimit: { emails: number; bytes: number };
  /** In lower case. */
  allowedHeaders: ReadonlySet<string>;
  /** SMTP submission; its ports are undefined where there is none. */
  smtp: {
    host: string;
    port: number | undefined;
    securePort: number | undefined;
    tls: { certFile: string; keyFile: string } | undefined;
  };
  feedbackPort: number;
  feedbackHost: string;
  feedbackTls: { certFile: string; keyFile: string } | undefined;
  bounceDomain: string;
  operatorDomain: string | undefined;
  trustedReporters: readonly string[];
  sesTopics: readonly string[];
  /** Of the providers whose notifications are taken, by name. */
  providerSecrets: Readonly<Record<'postmark' | 'mailgun' | 'sendgrid', readonly string[]>>;
  systemSender: Mailbox | undefined;
  dnsServers: readonly string[];
  webhookAllow: readonly string[];
  pauseLimits: {
    bouncePercent: number | undefined;
    complaintPercent: number | undefined;
    fewest: number;
  };
  /** First day's quota of new accounts; undefined: no ramp. */
  rampStart: number | undefined;
  secretKey: string | undefined;
  retentionDays: number;
  contentRetentionDays: number;
  logLevel: string;
}

/** Reads the environment; every fault is reported at once. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, setting] of Object.entries(settings)) {
    const result = setting.schema.safeParse(env[name] === '' ? undefined : env[name]);
    if (result.success) parsed[name] = result.data;
    else faults.push(`${name}: ${result.error.issues[0]?.message ?? 'is not valid'}`);
  }
  if ((parsed.FEEDBACK_TLS_CERT === undefined) !== (parsed.FEEDBACK_TLS_KEY === undefined)) {
    faults.push('FEEDBACK_TLS_CERT and FEEDBACK_TLS_KEY: one needs the other');
  }
  if ((parsed.TLS_CERT === undefined) !== (parsed.TLS_KEY === undefined)) {
    faults.push('TLS_CERT and TLS_KEY: one needs the other');
  }
  if (parsed.SMTPS_PORT !== undefined && parsed.TLS_CERT === undefined) {
    faults.push('SMTPS_PORT: needs TLS_CERT and TLS_KEY');
  }
  if (faults.length > 0) {
    throw new Problem(
      'invalid',
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}\nEach setting is explained in docs/configuration.md.`,
    );
  }
  return toConfig(parsed as Parsed);
}

function toConfig(read: Parsed): Config {
  const baseUrl = (read.BASE_URL ?? `http://${showHost(read.HOST)}:${read.PORT}`).replace(
    /\/+$/,
    '',
  );
  return {
    port: read.PORT,
    host: read.HOST,
    baseUrl,
    mcpPort: read.MCP_PORT,
    mcpHosts: [
      ...LOOPBACK,
      showHost(read.HOST),
      new URL(baseUrl).hostname,
      ...read.MCP_ALLOWED_HOSTS,
    ],
    metricsPort: read.METRICS_PORT,
    metricsHost: read.METRICS_HOST,
    metricsToken: read.METRICS_TOKEN,
    isLoopback: isLoopback(read.HOST),
    trackingUrl: read.TRACKING_URL?.replace(/\/+$/, ''),
    isPublic: read.TRACKING_URL !== undefined || read.BASE_URL !== undefined,
    trustedProxies: read.TRUSTED_PROXIES,
    dataDir: isAbsolute(read.DATA_DIR) ? read.DATA_DIR : resolve(read.DATA_DIR),
    databaseUrl: read.DATABASE_URL,
    databaseConnections: read.DATABASE_CONNECTIONS,
    roles: new Set(read.ROLES),
    threads: read.THREADS ?? Math.min(8, Math.max(2, availableParallelism())),
    relayUrl: read.RELAY_URL,
    relayConnections: read.RELAY_CONNECTIONS,
    deliveryLeaseMs: read.DELIVERY_LEASE_SECONDS * 1000,
    relayDown: read.RELAY_DOWN,
    queueLimit: { emails: read.QUEUE_LIMIT, bytes: read.QUEUE_LIMIT_BYTES },
    allowedHeaders: new Set(read.ALLOWED_HEADERS),
    smtp: {
      host: read.SMTP_HOST ?? read.HOST,
      port: read.SMTP_PORT,
      securePort: read.SMTPS_PORT,
      tls: certificateFiles(read.TLS_CERT, read.TLS_KEY),
    },
    feedbackPort: read.FEEDBACK_PORT,
    feedbackHost: read.FEEDBACK_HOST ?? read.HOST,
    feedbackTls: certificateFiles(read.FEEDBACK_TLS_CERT, read.FEEDBACK_TLS_KEY),
    bounceDomain: read.BOUNCE_DOMAIN.toLowerCase(),
    operatorDomain: read.OPERATOR_DOMAIN?.toLowerCase(),
    trustedReporters: read.TRUSTED_REPORTERS,
    sesTopics: read.SES_TOPICS,
    providerSecrets: {
      postmark: read.POSTMARK_WEBHOOK_TOKENS,
      mailgun: read.MAILGUN_SIGNING_KEYS,
      sendgrid: read.SENDGRID_VERIFICATION_KEYS,
    },
    systemSender: read.SYSTEM_SENDER,
    dnsServers: read.DNS_SERVERS,
    webhookAllow: read.WEBHOOK_ALLOW,
    pauseLimits: {
      bouncePercent: read.PAUSE_BOUNCE_PERCENT,
      complaintPercent: read.PAUSE_COMPLAINT_PERCENT,
      fewest: read.PAUSE_FEWEST,
    },
    rampStart: read.RAMP_START,
    secretKey: read.SECRET_KEY,
    retentionDays: read.RETENTION_DAYS,
    contentRetentionDays: read.CONTENT_RETENTION_DAYS,
    logLevel: read.LOG_LEVEL,
  };
}

const certificateFiles = (certFile: string | undefined, keyFile: string | undefined) =>
  certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };

const BYTES = { '': 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

function readBytes(text: string, context: z.RefinementCtx<string>): number {
  const [, number, unit = ''] = /^(\d{1,12}) ?([KMGT]B)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(number) * BYTES[unit.toUpperCase() as keyof typeof BYTES];
  if (bytes > 0) return bytes;
  context.addIssue({ code: 'custom', message: 'must be a size such as 10GB or 500MB' });
  return z.NEVER;
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** `192.0.2.53`, `192.0.2.53:5353`, `2001:db8::53` or `[2001:db8::53]:5353`. */
/** Base64 of the DER form, as SendGrid shows it. */
function isPublicKey(text: string): boolean {
  try {
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}

function isServer(text: string): boolean {
  const [, address] = /^\[?([^\]]*?)\]?(?::\d{1,5})?$/.exec(text) ?? [];
  return isIP(text) > 0 || isIP(address ?? '') > 0;
}

function isDomain(text: string): boolean {
  return /^[a-z\d_-]+(\.[a-z\d_-]+)+$/i.test(text);
}

function showHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** docs/configuration.md, generated so that it cannot lag behind. */
export function describeConfig(): string {
  const rows = Object.entries(settings as Record<string, Setting>).map(([name, setting]) => {
    const fallback = setting.shownDefault ?? `\`${String(setting.schema.parse(undefined))}\``;
    return `| \`${name}\` | ${fallback} | ${setting.description} |`;
  });
  return [
    '# Configuration',
    '',
    'Generated from `src/config.ts` by `npm run generate`; change it there.',
    '',
    'Everything is set by environment variables. None is needed to start. An empty variable counts as unset.',
    'If any is wrong, the service does not start and names all that are wrong.',
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
