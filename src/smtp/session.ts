// A session with the relay up to the point where email can be sent: greeting, EHLO, STARTTLS, AUTH.
// Before: relay.ts needs a connection. After: transaction.ts sends one email after another over it.
import type { Dialogue, Proposal } from './proposal.ts';
import type { SmtpReply } from './reply.ts';
import { openWire, SmtpFault, type SmtpStage } from './wire.ts';

export interface RelayEndpoint {
  host: string;
  port: number;
  implicitTls: boolean;
  /** STARTTLS: refuse without it, use it when offered, never use it. */
  tls: 'required' | 'opportunistic' | 'off';
  /** Check the certificate. */
  verify: boolean;
  credentials: { user: string; password: string } | undefined;
  /** Credentials may travel without TLS: a loopback host, or the operator said so. */
  plaintextAuth: boolean;
}

/** RFC 5321 4.5.3.2, except that your own relay counts as down if it needs minutes to greet. */
export interface SmtpTimeouts {
  connectMs: number;
  /** Greeting, EHLO, STARTTLS, AUTH: each. */
  greetingMs: number;
  mailMs: number;
  rcptMs: number;
  dataMs: number;
  /** Without any progress while the email is being written. */
  blockMs: number;
  /** From the final dot to the reply. */
  finalMs: number;
}

export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connectMs: 10_000,
  greetingMs: 30_000,
  mailMs: 300_000,
  rcptMs: 300_000,
  dataMs: 120_000,
  blockMs: 180_000,
  finalMs: 600_000,
};

export interface SmtpSession extends Dialogue {
  /** It is encrypted. */
  secure: boolean;
  /** Emails tried over this session. */
  emails: number;
  /** An email whose commands were written behind the content of the one in hand. */
  next: Proposal | undefined;
  /** The one in hand is answered, and the replies to those commands are awaited. */
  hearsNext: boolean;
  /** The content of the email in hand is being written, or was. */
  bodyBegun: boolean;
  /**
   * Its end is being written too: the relay may have it. Before that, the email can safely be given
   * up.
   */
  dotSent: boolean;
}

/**
 * Opens a session or throws an SmtpFault whose stage is before `mail`. `signal` ends it, even
 * later.
 */
export async function openSession(
  endpoint: RelayEndpoint,
  name: string,
  timeouts: SmtpTimeouts,
  signal?: AbortSignal,
): Promise<SmtpSession> {
  const wire = await openWire(endpoint, timeouts.connectMs, signal);
  const ask = async (stage: SmtpStage, command: string, wanted: RegExp): Promise<SmtpReply> => {
    if (command !== '') wire.write(`${command}\r\n`);
    const reply = await wire.reply(stage, timeouts.greetingMs);
    if (!wanted.test(String(reply.code)))
      throw new SmtpFault(stage, refusal(stage, reply), { reply });
    return reply;
  };
  try {
    await ask('greeting', '', /^220$/);
    let capabilities = parseCapabilities(await ask('ehlo', `EHLO ${name}`, /^250$/));
    let secure = endpoint.implicitTls;
    if (!secure && endpoint.tls !== 'off') {
      if (capabilities.has('STARTTLS')) {
        await ask('tls', 'STARTTLS', /^220$/);
        await wire.startTls(timeouts.greetingMs);
        secure = true;
        // RFC 3207 4.2: what was said before TLS is forgotten.
        capabilities = parseCapabilities(await ask('ehlo', `EHLO ${name}`, /^250$/));
      } else if (endpoint.tls === 'required') {
        throw new SmtpFault('tls', 'the relay does not offer STARTTLS, which is required');
      }
    }
    if (endpoint.credentials !== undefined) {
      if (!secure && !endpoint.plaintextAuth) {
        throw new SmtpFault(
          'auth',
          'the relay offers no TLS, and the password is not sent without it',
        );
      }
      await authenticate(endpoint.credentials, capabilities.get('AUTH') ?? '', ask);
    }
    return {
      ...{ wire, capabilities, secure, emails: 0 },
      ...{ needsReset: false, bodyBegun: false, dotSent: false },
      ...{ next: undefined, hearsNext: false },
    };
  } catch (fault) {
    wire.destroy();
    throw fault;
  }
}

/** Sends QUIT without waiting for the reply. */
export function quitSession(session: SmtpSession): void {
  session.wire.onDisturbed = undefined;
  session.wire.write('QUIT\r\n');
  session.wire.end();
}

/** RFC 4954 with the two mechanisms that every relay has: PLAIN (RFC 4616), otherwise LOGIN. */
async function authenticate(
  { user, password }: { user: string; password: string },
  offered: string,
  ask: (stage: SmtpStage, command: string, wanted: RegExp) => Promise<SmtpReply>,
): Promise<void> {
  const mechanisms = offered.toUpperCase().split(' ');
  if (mechanisms.includes('PLAIN')) {
    await ask('auth', `AUTH PLAIN ${base64(`\0${user}\0${password}`)}`, /^235$/);
  } else if (mechanisms.includes('LOGIN')) {
    await ask('auth', 'AUTH LOGIN', /^334$/);
    await ask('auth', base64(user), /^334$/);
    await ask('auth', base64(password), /^235$/);
  } else {
    throw new SmtpFault('auth', `the relay offers neither AUTH PLAIN nor LOGIN ("${offered}")`);
  }
}

function parseCapabilities(reply: SmtpReply): Map<string, string> {
  const capabilities = new Map<string, string>();
  for (const line of reply.lines.slice(1)) {
    const [keyword = '', ...parameters] = line.trim().split(/\s+/);
    capabilities.set(keyword.toUpperCase(), parameters.join(' '));
  }
  return capabilities;
}

function refusal(stage: SmtpStage, reply: SmtpReply): string {
  const step = {
    greeting: 'greeted with',
    ehlo: 'answered EHLO with',
    tls: 'answered STARTTLS with',
  };
  return `the relay ${step[stage as keyof typeof step] ?? 'refused the login with'} ${reply.text}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
