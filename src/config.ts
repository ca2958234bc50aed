// Configuration: the one list of settings. Read once by main.ts and the CLI; docs/configuration.md is generated from it.
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { Problem } from './errors.ts';

export const ROLES = ['api', 'delivery', 'webhooks', 'feedback'] as const;
export type Role = (typeof ROLES)[number];

interface Setting {
  schema: z.ZodType;
  /** Shown in the documentation where the default is worked out from something else. */
  shownDefault?: string;
  description: string;
}

const port = z.coerce.number('must be a port number').int().min(0).max(65535);
const days = z.coerce.number('must be a number of days').int().min(1).max(3650);

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
    description: 'The address under which users reach the service; printed in links and documents.',
  },
  MCP_PORT: {
    schema: port.optional(),
    shownDefault: 'unset: MCP is at `/mcp` and `/v1/mcp` on `PORT` only',
    description: 'A port of its own for MCP, which is then also at `/mcp` there.',
  },
  MCP_ALLOWED_HOSTS: {
    schema: z
      .string()
      .default('')
      .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
      .transform((hosts) => hosts.filter((host) => host !== '')),
    shownDefault: 'unset: loopback names, `HOST` and the name in `BASE_URL`',
    description:
      'More host names under which MCP is reached, comma-separated and without ports. Requests with another Host, and web pages of another Origin, are refused with 403.',
  },
  DATA_DIR: {
    schema: z.string().default('.sandmartin'),
    description:
      'Folder of the embedded PostgreSQL. Only used while `DATABASE_URL` is unset. Relative to the current folder.',
  },
  DATABASE_URL: {
    schema: z.url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' }).optional(),
    shownDefault: 'unset: PostgreSQL runs embedded in `DATA_DIR`',
    description: 'The PostgreSQL server (15 or newer) to use, for any number of processes.',
  },
  DATABASE_CONNECTIONS: {
    schema: z.coerce.number('must be a number').int().min(4).max(500).default(12),
    description: 'Connections one process opens to PostgreSQL at most.',
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
  RELAY_URL: {
    schema: z
      .url({ protocol: /^smtps?$/, error: 'must be smtp://user:password@host:port or smtps://…' })
      .optional(),
    shownDefault: 'unset: the sandbox relay captures every mail',
    description:
      'The SMTP relay that mail is handed to. `smtp://` uses STARTTLS when offered, `smtps://` TLS from the first byte.',
  },
  RELAY_CONNECTIONS: {
    schema: z.coerce.number('must be a number').int().min(1).max(200).default(8),
    description: 'SMTP connections one delivery process opens to the relay at most.',
  },
  RELAY_DOWN: {
    schema: z.enum(['refuse', 'queue'], 'must be refuse or queue').default('refuse'),
    description:
      'While the relay cannot be reached: `refuse` answers new sends with 502, `queue` accepts them and waits.',
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
  BOUNCE_DOMAIN: {
    schema: z.string().default('bounces.localhost'),
    description:
      'Domain of the return path `bounce+…@`. Its MX, or a transport of your relay, must lead to the feedback listener.',
  },
  SECRET_KEY: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    shownDefault: 'unset: made once and kept in the database',
    description:
      'Signs tokens in links and return paths and encrypts private keys at rest. Give every process the same; without it the database alone protects them.',
  },
  RETENTION_DAYS: {
    schema: days.default(90),
    description: 'Days for which messages and their events are kept.',
  },
  CONTENT_RETENTION_DAYS: {
    schema: days.default(30),
    description: 'Days for which bodies and attachments are kept.',
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
  mcpPort: number | undefined;
  /** Names that MCP may be asked under, without ports. */
  mcpHosts: readonly string[];
  dataDir: string;
  databaseUrl: string | undefined;
  databaseConnections: number;
  roles: ReadonlySet<Role>;
  relayUrl: string | undefined;
  relayConnections: number;
  relayDown: 'refuse' | 'queue';
  feedbackPort: number;
  feedbackHost: string;
  bounceDomain: string;
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
    dataDir: isAbsolute(read.DATA_DIR) ? read.DATA_DIR : resolve(read.DATA_DIR),
    databaseUrl: read.DATABASE_URL,
    databaseConnections: read.DATABASE_CONNECTIONS,
    roles: new Set(read.ROLES),
    relayUrl: read.RELAY_URL,
    relayConnections: read.RELAY_CONNECTIONS,
    relayDown: read.RELAY_DOWN,
    feedbackPort: read.FEEDBACK_PORT,
    feedbackHost: read.FEEDBACK_HOST ?? read.HOST,
    bounceDomain: read.BOUNCE_DOMAIN.toLowerCase(),
    secretKey: read.SECRET_KEY,
    retentionDays: read.RETENTION_DAYS,
    contentRetentionDays: read.CONTENT_RETENTION_DAYS,
    logLevel: read.LOG_LEVEL,
  };
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

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
    'A wrong one stops the start, and all that are wrong are named at once.',
    '',
    '| variable | default | meaning |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
