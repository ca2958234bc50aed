// The only list of settings, in the order of docs/configuration.md, which is generated from it.
// After it: config.ts reads the environment by it.
import { z } from 'zod';
import { isNetwork } from '../networks.ts';
import { ROLES } from '../process/roles.ts';
import { urlsOf } from '../store/database-url.ts';
import {
  days,
  domainName,
  httpUrl,
  isDomain,
  isPublicKey,
  isServer,
  list,
  lowerCaseList,
  mailbox,
  percent,
  port,
  size,
  wholeNumber,
} from './kinds.ts';

interface Setting {
  schema: z.ZodType;
  /** Shown in the documentation if the default is derived from something else. */
  shownDefault?: string;
  description: string;
}

/** An absent variable and an empty one mean the same: the default. */
export const SETTINGS = {
  PORT: {
    schema: port.default(3000),
    description: 'Port of the REST API, the MCP server and the dashboard.',
  },
  HOST: {
    schema: z.string().default('127.0.0.1'),
    description: 'Address to listen on. `0.0.0.0` opens the service to the network.',
  },
  BASE_URL: {
    schema: httpUrl.optional(),
    shownDefault: '`http://HOST:PORT`',
    description: 'The address at which users reach the service; used in links and documents.',
  },
  MCP_PORT: {
    schema: port.optional(),
    shownDefault: 'unset: MCP is at `/mcp` and `/v1/mcp` on `PORT` only',
    description: 'A separate port for MCP, which is then also at `/mcp` there.',
  },
  MCP_ALLOWED_HOSTS: {
    schema: lowerCaseList,
    shownDefault: 'unset: loopback names, `HOST` and the name in `BASE_URL`',
    description:
      'Further host names at which MCP is reached, comma-separated and without ports. Requests with another Host, and web pages of another Origin, are refused with 403.',
  },
  TRACKING_URL: {
    schema: httpUrl.optional(),
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
    schema: size.prefault('10GB'),
    shownDefault: '`10GB`',
    description:
      'The same for what waiting emails take on disk: a number of bytes, or one with `MB` or `GB`.',
  },
  ALLOWED_HEADERS: {
    schema: lowerCaseList,
    shownDefault: 'unset: none',
    description:
      'Headers that senders may set although relays act on them, comma-separated, such as `X-PM-Tag`. All others that control a relay (of SendGrid, Amazon SES, Mailgun, Postmark, SparkPost, Mandrill, Brevo, Mailjet and others) are refused, because a sender could use them to add recipients or get around your tracking and routing.',
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
    schema: domainName.default('bounces.localhost'),
    description:
      'Domain of the return path `bounce+…@`. Its MX, or a transport of your relay, must point to the feedback listener.',
  },
  OPERATOR_DOMAIN: {
    schema: domainName.optional(),
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
      'Who is trusted without a token of ours, comma-separated: addresses and networks that send reports, and domains that sign complaints with DKIM, such as `192.0.2.0/24,fbl.example`. Name only domains that send nothing but reports: whoever can write from one can report anything.',
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
    schema: mailbox.optional(),
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

/** docs/configuration.md, generated so that it is never out of date. */
export function describeConfig(): string {
  const rows = Object.entries<Setting>(SETTINGS).map(([name, setting]) => {
    const fallback = setting.shownDefault ?? `\`${String(setting.schema.parse(undefined))}\``;
    return `| \`${name}\` | ${fallback} | ${setting.description} |`;
  });
  return [
    '# Configuration',
    '',
    'Generated from `src/config/settings.ts` by `npm run generate`; change it there.',
    '',
    'Everything is set by environment variables. None is needed to start. An empty variable counts as unset.',
    'If any value is wrong, the service does not start and lists every wrong one.',
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
