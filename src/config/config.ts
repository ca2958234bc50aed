// Configuration: the environment, read once by main.ts and the CLI, in the form that the rest of
// the program needs. Before it: settings.ts lists what can be set.
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type { z } from 'zod';
import type { Mailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import type { Role } from '../process/roles.ts';
import { SETTINGS } from './settings.ts';

type Parsed = { [Name in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[Name]['schema']> };

export interface Config {
  port: number;
  host: string;
  baseUrl: string;
  /** Undefined: the same as baseUrl. */
  trackingUrl: string | undefined;
  /** The address at which recipients reach us is set. */
  isPublic: boolean;
  trustedProxies: readonly string[];
  mcpPort: number | undefined;
  /** Host names that MCP accepts, without ports. */
  mcpHosts: readonly string[];
  metricsPort: number | undefined;
  metricsHost: string;
  metricsToken: string | undefined;
  /** HOST is an address that only this machine can reach. */
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
  /** SMTP submission; its ports are undefined if it is off. */
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
  /** Of the providers whose notifications we accept, by name. */
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

/** Reads the environment; all faults are reported together. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const parsed: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, setting] of Object.entries(SETTINGS)) {
    const result = setting.schema.safeParse(env[name] === '' ? undefined : env[name]);
    if (result.success) parsed[name] = result.data;
    else faults.push(`${name}: ${result.error.issues[0]?.message ?? 'is not valid'}`);
  }
  if ((parsed.FEEDBACK_TLS_CERT === undefined) !== (parsed.FEEDBACK_TLS_KEY === undefined)) {
    faults.push('FEEDBACK_TLS_CERT and FEEDBACK_TLS_KEY: set both or neither');
  }
  if ((parsed.TLS_CERT === undefined) !== (parsed.TLS_KEY === undefined)) {
    faults.push('TLS_CERT and TLS_KEY: set both or neither');
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

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

function showHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
