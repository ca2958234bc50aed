// sandmartin doctor: looks at everything the service needs and says in plain words what is well and
// what is not.
import { statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import { createDns } from '../accounts/dns.ts';
import { type Config, readConfig } from '../config.ts';
import { createRelay } from '../smtp/relay.ts';
import { print, withJson } from './command.ts';
import { checkDatabase } from './doctor-database.ts';
import { checkService } from './doctor-service.ts';
import type { Finding } from './finding.ts';

export function registerDoctor(program: Command): void {
  withJson(program.command('doctor').description('check what the service needs')).action(
    async (options: { json?: boolean }) => {
      const config = readConfig(process.env);
      const findings = [
        ...(await checkDatabase(config)),
        ...(await checkService()),
        await checkRelay(config),
        await checkApiPort(config),
        await checkPort('feedback port', config.feedbackHost, config.feedbackPort),
        await checkDns(config),
        await checkDisk(config),
      ];
      print(options.json, findings, () =>
        findings.map(
          (finding) =>
            `${finding.ok ? 'ok   ' : 'FAULT'}  ${finding.check.padEnd(14)} ${finding.detail}`,
        ),
      );
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
    },
  );
}

async function checkRelay(config: Config): Promise<Finding> {
  if (config.relayUrl === undefined) {
    return {
      check: 'relay',
      ok: true,
      detail: 'RELAY_URL is unset: the sandbox captures all mail.',
    };
  }
  const relay = createRelay({ url: config.relayUrl, name: config.bounceDomain, maxConnections: 1 });
  const probe = await relay.probe();
  await relay.close();
  return probe.connection === 'ok'
    ? { check: 'relay', ok: true, detail: 'The relay answers and takes our log-in.' }
    : {
        check: 'relay',
        ok: false,
        detail: `The relay does not work: ${probe.fault.text}. Check RELAY_URL.`,
      };
}

async function checkApiPort(config: Config): Promise<Finding> {
  const healthy = await fetch(`http://${config.host}:${config.port}/healthz`, {
    signal: AbortSignal.timeout(2000),
  }).then(
    (answer) => answer.ok,
    () => false,
  );
  if (healthy) {
    return { check: 'API port', ok: true, detail: `The service runs on port ${config.port}.` };
  }
  return await checkPort('API port', config.host, config.port);
}

function checkPort(check: string, host: string, port: number): Promise<Finding> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EADDRINUSE'
          ? { check, ok: true, detail: `Port ${port} is in use; fine if that is this service.` }
          : {
              check,
              ok: false,
              detail: `Port ${port} on ${host} cannot be used: ${error.message}.`,
            },
      ),
    );
    server.listen(port, host, () =>
      server.close(() => resolve({ check, ok: true, detail: `Port ${port} is free.` })),
    );
  });
}

async function checkDns(config: Config): Promise<Finding> {
  const check = 'return path';
  const domain = config.bounceDomain;
  if (domain === 'localhost' || domain.endsWith('.localhost')) {
    return config.relayUrl === undefined
      ? { check, ok: true, detail: 'BOUNCE_DOMAIN is local, as the sandbox wants it.' }
      : {
          check,
          ok: false,
          detail: `BOUNCE_DOMAIN is ${domain}: no relay can send reports there. Set a domain whose MX leads here.`,
        };
  }
  const { values, fault } = await createDns(config.dnsServers).mx(domain);
  return values.length > 0
    ? { check, ok: true, detail: `${domain} has MX ${values.join(', ')}.` }
    : { check, ok: false, detail: `${domain} has no MX (${fault}): bounces will not come back.` };
}

async function checkDisk(config: Config): Promise<Finding> {
  const folder = config.databaseUrl === undefined ? config.dataDir : process.cwd();
  try {
    const { bavail, bsize } = await statfs(folder);
    const freeMb = Math.round((bavail * bsize) / 1024 / 1024);
    return {
      check: 'disk',
      ok: freeMb > 500,
      detail: `${freeMb} MB free at ${folder}${freeMb > 500 ? '' : '. Make room: PostgreSQL stops when the disk is full'}.`,
    };
  } catch {
    return { check: 'disk', ok: true, detail: `${folder} does not exist yet.` };
  }
}
