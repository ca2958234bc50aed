// sandmartin doctor: checks everything the service needs and says in plain words what is fine and
// what is not.
import { X509Certificate } from 'node:crypto';
import { access, constants, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { readCertificate } from '../submission/certificate.ts';
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
        await checkApiPort(config),
        await checkPort('feedback port', config.feedbackHost, config.feedbackPort),
        ...(await checkSmtp(config)),
        ...(await checkFeedbackTls(config)),
        await checkDisk(config),
      ];
      print(options.json, findings, () =>
        findings.map(
          (finding) => `${wordOf(finding)}  ${finding.check.padEnd(14)} ${finding.detail}`,
        ),
      );
      if (findings.some((finding) => !finding.ok)) process.exitCode = 1;
    },
  );
}

const wordOf = ({ ok, warning }: Finding): string => (ok ? (warning ? 'WARN ' : 'ok   ') : 'FAULT');

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

/** Whether programs can send by SMTP, and from where. */
async function checkSmtp({ smtp, roles }: Config): Promise<Finding[]> {
  const { host, port, securePort, tls } = smtp;
  if (!roles.has('api') || (port ?? securePort) === undefined) return [];
  const ports: [string, number | undefined][] = [
    ['SMTP port', port],
    ['SMTPS port', securePort],
  ];
  const findings: Finding[] = [];
  for (const [check, at] of ports) {
    if (at !== undefined) findings.push(await checkPort(check, host, at));
  }
  return [...findings, await checkCertificate(tls)];
}

async function checkCertificate(files: Config['smtp']['tls']): Promise<Finding> {
  const check = 'SMTP TLS';
  if (files === undefined) {
    const detail =
      'TLS_CERT and TLS_KEY are unset: only programs on this machine can log in by SMTP.';
    return { check, ok: true, detail };
  }
  try {
    const { cert } = await readCertificate(files);
    const { validTo } = new X509Certificate(cert);
    const isOver = Date.parse(validTo) < Date.now();
    const until = `the certificate in TLS_CERT ${isOver ? 'expired' : 'is valid until'} ${validTo}`;
    return isOver
      ? {
          check,
          ok: false,
          detail: `Programs refuse it: ${until}. Renew it; no restart is needed.`,
        }
      : { check, ok: true, detail: `It can be used: ${until}.` };
  } catch (error) {
    return { check, ok: false, detail: `${(error as Error).message} SMTP cannot start with it.` };
  }
}

/** Configured files that cannot be read stop the listener from starting. */
async function checkFeedbackTls({ feedbackTls }: Config): Promise<Finding[]> {
  if (feedbackTls === undefined) return [];
  const check = 'feedback TLS';
  const named = { FEEDBACK_TLS_CERT: feedbackTls.certFile, FEEDBACK_TLS_KEY: feedbackTls.keyFile };
  for (const [setting, file] of Object.entries(named)) {
    const fault = await access(file, constants.R_OK).catch((error: Error) => error.message);
    if (fault !== undefined) {
      const detail = `${setting}: ${fault}. The role feedback cannot start with it.`;
      return [{ check, ok: false, detail }];
    }
  }
  return [{ check, ok: true, detail: 'Certificate and key can be read.' }];
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
