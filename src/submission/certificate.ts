// The certificate of SMTP submission: read when the service starts and again whenever its files
// change, so that a renewed one is used without a restart. Before: TLS_CERT and TLS_KEY. After:
// server.ts uses it for new connections.
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Log } from '../process/log.ts';
import { repeatedly } from '../process/repeatedly.ts';

export interface CertificateFiles {
  certFile: string;
  keyFile: string;
}

/** PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Fails if one cannot be read, or if they do not match. */
export async function readCertificate({ certFile, keyFile }: CertificateFiles) {
  const [cert, key] = await Promise.all([
    readPem('TLS_CERT', certFile),
    readPem('TLS_KEY', keyFile),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    throw new Error(
      `TLS_CERT (${certFile}) and TLS_KEY (${keyFile}) cannot be used together: ${(cause as Error).message}.`,
      { cause },
    );
  }
  return { cert, key };
}

async function readPem(setting: string, file: string): Promise<string> {
  const pem = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new Error(`${setting} cannot be read: ${cause.message}.`, { cause });
  });
  if (pem.includes('-----BEGIN ')) return pem;
  throw new Error(`${setting}: ${file} contains no PEM, which begins with -----BEGIN.`);
}

const LOOK_EVERY_MS = 5000;

/**
 * Files are replaced one after the other: a pair that does not match is ignored until one changes.
 */
export function watchCertificate(
  files: CertificateFiles,
  { log, everyMs = LOOK_EVERY_MS }: { log: Log; everyMs?: number },
  show: (certificate: Certificate) => void,
): { stop(): Promise<void> } {
  let shown: string | undefined;
  async function look(): Promise<void> {
    const seen = await stampOf(files);
    if (seen === undefined || seen === shown) return;
    // Also the first time: it may have been renewed since the service read it.
    const isFirst = shown === undefined;
    shown = seen;
    show(await readCertificate(files));
    if (!isFirst) log.info('SMTP now uses the renewed certificate');
  }
  return repeatedly(everyMs, look, (error) => {
    log.warn({ err: error }, 'the new certificate cannot be used; SMTP keeps the previous one');
  });
}

/** Undefined while one of them is missing. */
async function stampOf({ certFile, keyFile }: CertificateFiles): Promise<string | undefined> {
  try {
    const found = await Promise.all([stat(certFile), stat(keyFile)]);
    return found.map(({ ino, mtimeMs, size }) => `${ino} ${mtimeMs} ${size}`).join(', ');
  } catch {
    return undefined;
  }
}
