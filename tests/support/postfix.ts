// A real Postfix for tests: two instances with configuration and queue of their own under a
// temporary folder, loopback only, without systemd. One is our relay, the other the receiving
// server. It must be run by root, as Postfix itself demands.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './process.ts';
import { until } from './until.ts';

/** Why there is no Postfix here; undefined when there is. */
export function missingPostfix(): string | undefined {
  if (!existsSync('/usr/sbin/postfix')) {
    return 'Postfix is not installed (Debian: apt-get install --no-install-recommends postfix)';
  }
  if (process.getuid?.() !== 0) return 'Postfix can only be started by root';
  return undefined;
}

export interface PostfixPair {
  /** For RELAY_URL. */
  relayUrl: string;
  /** Emails that arrived at the receiving server, as files of a Maildir. */
  emailFolder: string;
  /** Both logs, to look at when something is odd. */
  log(): string;
  stop(): Promise<void>;
}

export interface PairOptions {
  feedbackPort: number;
  bounceDomain: string;
  /** What the receiving server says to a recipient, in the words of access(5); 'DUNNO' takes it. */
  judge: (recipient: string) => string;
}

/**
 * `sink.test` is received by a server that offers DSN and so reports "delivered" itself;
 * `plain.test` by the same one through a port without DSN, so that our relay reports "relayed".
 */
export async function startPostfixPair(options: PairOptions): Promise<PostfixPair> {
  const folder = mkdtempSync(join(tmpdir(), 'sandmartin-postfix-'));
  chmodSync(folder, 0o755);
  const [relayPort, dsnPort, plainPort] = [await freePort(), await freePort(), await freePort()];
  const policy = await startPolicy(options.judge);
  const emailFolder = join(folder, 'mail');
  mkdirSync(emailFolder);
  chownSync(emailFolder, NOBODY, NOBODY);
  const feedback = `${options.bounceDomain} smtp:[127.0.0.1]:${options.feedbackPort}`;

  const relay = await startInstance(join(folder, 'relay'), {
    main: {
      myhostname: 'relay.test',
      // Short, for a test must not wait for hours: retried each second, reported as delayed after
      // one, given up after eight.
      queue_run_delay: '1s',
      minimal_backoff_time: '1s',
      maximal_backoff_time: '1s',
      maximal_queue_lifetime: '8s',
      bounce_queue_lifetime: '60s',
      delay_warning_time: '1s',
    },
    transport: [
      `sink.test smtp:[127.0.0.1]:${dsnPort}`,
      `plain.test smtp:[127.0.0.1]:${plainPort}`,
      feedback,
    ],
    smtpd: [`127.0.0.1:${relayPort}`],
  });
  const receiver = await startInstance(join(folder, 'receiver'), {
    main: {
      myhostname: 'mx.sink.test',
      virtual_mailbox_domains: 'sink.test plain.test',
      virtual_mailbox_base: emailFolder,
      virtual_mailbox_maps: 'static:all/',
      virtual_uid_maps: `static:${NOBODY}`,
      virtual_gid_maps: `static:${NOBODY}`,
      smtpd_recipient_restrictions: `check_policy_service inet:127.0.0.1:${policy.port}, permit_mynetworks, reject`,
    },
    transport: [feedback],
    smtpd: [
      `127.0.0.1:${dsnPort}`,
      `127.0.0.1:${plainPort}`,
      '  -o smtpd_discard_ehlo_keywords=dsn',
    ],
  });
  const instances = [relay, receiver];
  return {
    relayUrl: `smtp://127.0.0.1:${relayPort}`,
    emailFolder: join(emailFolder, 'all', 'new'),
    log: () => instances.map((instance) => instance.log()).join('\n'),
    async stop() {
      await Promise.all(instances.map((instance) => instance.stop()));
      await new Promise((resolve) => policy.server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const NOBODY = 65534;

interface InstanceOptions {
  main: Record<string, string>;
  transport: string[];
  /** Lines of smtpd services: addresses, and options that follow them. */
  smtpd: string[];
}

export async function startInstance(folder: string, options: InstanceOptions) {
  mkdirSync(folder);
  for (const part of ['queue', 'data']) mkdirSync(join(folder, part));
  chownSync(join(folder, 'data'), postfixId('-u'), postfixId('-g'));
  const logFile = join(folder, 'log');
  const main: Record<string, string> = {
    compatibility_level: '3.6',
    queue_directory: join(folder, 'queue'),
    data_directory: join(folder, 'data'),
    maillog_file: logFile,
    maillog_file_prefixes: folder,
    inet_interfaces: '127.0.0.1',
    inet_protocols: 'ipv4',
    mynetworks: '127.0.0.0/8',
    mydestination: '',
    local_recipient_maps: '',
    alias_maps: '',
    smtpd_relay_restrictions: 'permit_mynetworks, reject',
    // Nothing leaves this machine.
    default_transport: 'error:this mail must not leave the test',
    transport_maps: `texthash:${join(folder, 'transport')}`,
    smtputf8_enable: 'yes',
    smtp_tls_security_level: 'may',
    ...options.main,
  };
  const lines = Object.entries(main).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(join(folder, 'main.cf'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'transport'), `${options.transport.join('\n')}\n`);
  const smtpd = options.smtpd.map((line) =>
    line.startsWith(' ') ? line : `${line} inet n - n - - smtpd`,
  );
  writeFileSync(join(folder, 'master.cf'), `${[...smtpd, ...SERVICES].join('\n')}\n`);

  const child = spawn('/usr/sbin/postfix', ['-c', folder, 'start-fg'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const log = () => `${output}\n${existsSync(logFile) ? readFileSync(logFile, 'utf8') : ''}`;
  await until(() => {
    if (child.exitCode !== null) throw new Error(`Postfix did not start:\n${log()}`);
    return log().includes('daemon started');
  });
  return { log, stop: () => stopInstance(folder, child) };
}

async function stopInstance(folder: string, child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    if (child.exitCode !== null) resolve();
    child.once('exit', () => resolve());
  });
  try {
    execFileSync('/usr/sbin/postfix', ['-c', folder, 'stop'], { stdio: 'ignore' });
  } catch {
    child.kill('SIGTERM');
  }
  await ended;
}

const postfixId = (which: '-u' | '-g'): number =>
  Number(execFileSync('id', [which, 'postfix']).toString());

/** master(5): what an email passes on its way; none of them in a chroot. */
const SERVICES = [
  'pickup unix n - n 60 1 pickup',
  'cleanup unix n - n - 0 cleanup',
  'qmgr unix n - n 300 1 qmgr',
  'tlsmgr unix - - n 1000? 1 tlsmgr',
  'rewrite unix - - n - - trivial-rewrite',
  'bounce unix - - n - 0 bounce',
  'defer unix - - n - 0 bounce',
  'trace unix - - n - 0 bounce',
  'verify unix - - n - 1 verify',
  'flush unix n - n 1000? 0 flush',
  'proxymap unix - - n - - proxymap',
  'smtp unix - - n - - smtp',
  'relay unix - - n - - smtp',
  'error unix - - n - - error',
  'retry unix - - n - - error',
  'virtual unix - n n - - virtual',
  'anvil unix - - n - 1 anvil',
  'scache unix - - n - 1 scache',
  'postlog unix-dgram n - n - 1 postlogd',
];

/**
 * The policy delegation protocol (Postfix, SMTPD_POLICY_README): attributes until an empty line,
 * one action back.
 */
async function startPolicy(
  judge: (recipient: string) => string,
): Promise<{ server: Server; port: number }> {
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const recipient = /^recipient=(.*)$/m.exec(text.slice(0, end))?.[1] ?? '';
        text = text.slice(end + 2);
        socket.write(`action=${judge(recipient)}\n\n`);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as { port: number }).port };
}
