// SMTP submission: programs that speak SMTP log in with an API key as their password and hand over
// whole emails. This file decides who may connect, for how long and with what; connection.ts speaks
// the protocol, and taking.ts says what happens to a key and to an email.
import type { AddressInfo } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { parseAddress } from '../addresses.ts';
import { MOST_BODY_BYTES } from '../http/body.ts';
import { createPlaces, keyOf } from '../smtp/connection-places.ts';
import type { Certificate } from './certificate.ts';
import { SubmissionServer } from './connection.ts';
import { reply } from './replies.ts';
import {
  admit,
  answer,
  isAdmitted,
  logIn,
  type SubmissionDeps,
  take,
  takePieces,
} from './taking.ts';

export interface SubmissionOptions {
  host: string;
  port: number;
  /** What the server calls itself. */
  name: string;
  /** TLS from the first byte; otherwise by STARTTLS. */
  secure: boolean;
  /** Undefined: there is no TLS, and only programs on this machine can log in. */
  certificate: Certificate | undefined;
  limits?: Partial<SubmissionLimits>;
}

export interface SubmissionLimits {
  most: number;
  mostOfNetwork: number;
  /** How long a connection may stay without logging in. */
  strangerMs: number;
  /** How long it may stay after its last email began. */
  provenMs: number;
  /** How long the reply to a wrong key is delayed. */
  wrongKeyMs: number;
  /** RFC 5321 4.5.3.2.7: at least five minutes. */
  idleMs: number;
}

const LIMITS: SubmissionLimits = {
  most: 1000,
  /** A cluster of programs behind one address, each with a pool. */
  mostOfNetwork: 200,
  strangerMs: 30_000,
  provenMs: 45 * 60_000,
  wrongKeyMs: 1000,
  idleMs: 300_000,
};

const MOST_RECIPIENTS = 50;

export interface Submission {
  port: number;
  isListening(): boolean;
  show(certificate: Certificate): void;
  stop(): Promise<void>;
}

export async function startSubmission(
  deps: SubmissionDeps,
  options: SubmissionOptions,
): Promise<Submission> {
  const { host, port, name, secure, certificate } = options;
  const limits = { ...LIMITS, ...options.limits };
  const places = createPlaces(limits);
  const refused = new Set<string>();
  const countConnected = (): void =>
    deps.metrics.smtpConnections.set({ tls: secure ? 'at-once' : 'starttls' }, places.taken());
  const behaviour: SMTPServerOptions = {
    name,
    banner: 'Sandmartin',
    secure,
    ...certificate,
    disabledCommands: certificate === undefined ? ['STARTTLS'] : [],
    // Over the network AUTH is refused without TLS: see onConnect.
    allowInsecureAuth: true,
    authRequiredMessage: '5.7.0 Log in first: any username, and an API key as the password.',
    disableReverseLookup: true,
    hideENHANCEDSTATUSCODES: false,
    // The timeline shows what happens to an email: we send no reports by email.
    hideDSN: true,
    size: MOST_BODY_BYTES,
    maxRecipients: MOST_RECIPIENTS,
    socketTimeout: limits.idleMs,
    closeTimeout: 5000,
    logger: false,
    onConnect(session, done) {
      if (!session.secure && !isLoopback(session.remoteAddress)) {
        session.disabledCommands = certificate === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'];
      }
      const isRefused = refused.delete(keyOf(session));
      done(isRefused ? reply(421, '4.7.0', 'Too many connections from your network.') : null);
    },
    onSecure(_socket, session, done) {
      session.disabledCommands = [];
      done();
    },
    onClose(session) {
      places.leave(session);
      countConnected();
    },
    onAuth(auth, session, done) {
      void logIn(deps, auth, session, limits.wrongKeyMs).then((answer) => {
        if (answer instanceof Error) return done(answer);
        places.prove(session);
        done(null, { user: { key: auth.password } });
      });
    },
    onMailFrom(_address, session, done) {
      const work = () => admit(deps, session);
      answer(deps, session, work, (answered) => {
        if (answered instanceof Error) return done(answered);
        places.prove(session);
        done();
      });
    },
    onRcptTo({ address }, session, done) {
      const work = () => requireAddress(address);
      answer(deps, session, work, (answered) => done(answered instanceof Error ? answered : null));
    },
    onData(stream, session, done) {
      const work = () => takePieces(deps, stream, session);
      answer(deps, session, work, (answered) => {
        // What is refused early still has to be read to its end: the reply comes only then.
        if (stream.readable) stream.resume();
        if (answered instanceof Error) done(answered);
        else done(null, answered);
      });
    },
  };
  const server = new SubmissionServer(behaviour, {
    strangerMs: limits.strangerMs,
    admits(session, recipient) {
      if (!isAdmitted(deps, session) || 'fault' in parseAddress(recipient)) return false;
      places.prove(session);
      return true;
    },
    onWhole: (content, session, say) =>
      answer(deps, session, () => take(deps, content, session), say),
  });
  // Before smtp-server sees the connection, so that a connection that has to make room closes at
  // once.
  server.server.prependListener('connection', (socket) => {
    const isTaken = places.enter(socket);
    deps.metrics.smtpConnected.inc({ result: isTaken ? 'taken' : 'full' });
    if (isTaken) {
      socket.once('close', countConnected);
      return countConnected();
    }
    const key = keyOf(socket);
    // Connections that still wait for their refusal count too.
    if (refused.size >= limits.mostOfNetwork) socket.destroy();
    else refused.add(key);
    socket.once('close', () => refused.delete(key));
  });
  server.on('error', (error) => deps.log.debug({ err: error }, 'SMTP connection'));
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    isListening: () => server.server.listening,
    show: (renewed) => server.updateSecureContext(renewed),
    stop() {
      places.stop();
      return new Promise<void>((resolve) => {
        server.close(resolve);
        server.closeIdle();
      });
    },
  };
}

function requireAddress(address: string): void {
  const mailbox = parseAddress(address);
  if (!('fault' in mailbox)) return;
  throw reply(553, '5.1.3', `"${address}" is not an address: ${mailbox.fault}.`);
}

const isLoopback = (address: string): boolean => address === '::1' || /^127\./.test(address);
