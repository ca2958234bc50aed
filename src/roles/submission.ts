// SMTP submission, as part of the role `api`: one listener for STARTTLS, one for TLS from the first
// byte, both with the same certificate, which is reloaded when its files change.
import type { Bodies } from '../http/body.ts';
import type { OperationDeps } from '../operations/deps.ts';
import { readCertificate, watchCertificate } from '../submission/certificate.ts';
import { type Submission, type SubmissionLimits, startSubmission } from '../submission/server.ts';
import type { Shared } from './shared.ts';

/** The ports on which programs send by SMTP; undefined if there are none. */
export interface SmtpPorts {
  smtpPort: number | undefined;
  smtpsPort: number | undefined;
}

export async function openSubmission(
  shared: Shared,
  operations: OperationDeps,
  bodies: Bodies,
  limits: Partial<SubmissionLimits> = {},
): Promise<SmtpPorts> {
  const { config, log, opened, health, address } = shared;
  const { host, port, securePort, tls } = config.smtp;
  const certificate =
    tls !== undefined && (port ?? securePort) !== undefined
      ? await readCertificate(tls)
      : undefined;
  const name = new URL(address.baseUrl).hostname;
  const listen = async (
    at: number | undefined,
    secure: boolean,
  ): Promise<Submission | undefined> => {
    if (at === undefined) return undefined;
    const options = { host, port: at, name, secure, certificate, limits };
    const listener = await startSubmission({ ...operations, bodies }, options);
    health.require({
      name: secure ? 'SMTPS' : 'SMTP',
      check: async () => {
        if (!listener.isListening()) throw new Error('it is not listening; restart the process');
      },
    });
    return opened(listener, (it) => it.stop());
  };
  const listeners = [await listen(port, false), await listen(securePort, true)];
  if (tls !== undefined && certificate !== undefined) {
    const watch = watchCertificate(tls, { log }, (renewed) => {
      for (const listener of listeners) listener?.show(renewed);
    });
    opened(watch, async (it) => it.stop());
  }
  const [smtpPort, smtpsPort] = listeners.map((listener) => listener?.port);
  if ((smtpPort ?? smtpsPort) !== undefined) {
    address.smtp = { host: name, port: smtpPort ?? null, securePort: smtpsPort ?? null };
  }
  return { smtpPort, smtpsPort };
}
