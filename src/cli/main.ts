// The command `sandmartin`: one file per command, wired here.
import { Command, CommanderError } from 'commander';
import { isConnectionFault } from '../connection-fault.ts';
import { Problem } from '../errors.ts';
import { VERSION } from '../version.ts';
import { registerAccount } from './account.ts';
import { registerBranding } from './branding.ts';
import { registerDoctor } from './doctor.ts';
import { registerFeedback } from './feedback.ts';
import { registerFeedbackList } from './feedback-list.ts';
import { wordedAtTerminal } from './hints.ts';
import { registerIdentity } from './identity.ts';
import { registerJinja } from './jinja.ts';
import { registerKey } from './key.ts';
import { registerLink } from './link.ts';
import { registerMessage } from './message.ts';
import { registerQuarantine } from './quarantine.ts';
import { registerSandbox } from './sandbox.ts';
import { registerSecret } from './secret.ts';
import { registerServe } from './serve.ts';
import { registerSuppression } from './suppression.ts';
import { registerTemplate } from './template.ts';
import { registerUser } from './user.ts';
import { registerWebhook } from './webhook.ts';

interface Refusal extends NodeJS.ErrnoException {
  /** Of PostgreSQL. */
  severity?: string;
}

/** By what was tried. */
const ADVICE: Record<string, string> = {
  listen:
    'Stop what uses it, or set HOST, PORT, FEEDBACK_PORT, METRICS_PORT or MCP_PORT to something else.',
  connect: 'Check DATABASE_URL, and that the server runs.',
  getaddrinfo: 'Check the names in DATABASE_URL and HOST.',
  open: 'Check FEEDBACK_TLS_CERT and FEEDBACK_TLS_KEY.',
};

const program = new Command('sandmartin')
  .description('Transactional email you run yourself.')
  .version(VERSION)
  // Options behind a command are that command's: `template publish SLUG --version 2`.
  .enablePositionalOptions()
  .showHelpAfterError('(add --help for what is possible)')
  .configureHelp({ showGlobalOptions: false });

registerServe(program);
registerAccount(program);
registerKey(program);
registerUser(program);
registerIdentity(program);
registerTemplate(program);
registerQuarantine(program);
registerBranding(program);
registerMessage(program);
registerWebhook(program);
registerSandbox(program);
registerFeedbackList(registerFeedback(program));
registerSuppression(program);
registerLink(program);
registerJinja(program);
registerSecret(program);
registerDoctor(program);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${explain(error as Error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * What the machine, the network or the database refused is told in a sentence; only what nobody
 * foresaw with its stack.
 */
function explain(error: Error): string {
  if (error instanceof Problem) return wordedAtTerminal(error);
  // Several addresses of one name were tried: the first says enough.
  const first: Refusal = error instanceof AggregateError ? error.errors[0] : error;
  const ofDatabase = first.severity === 'FATAL' || isConnectionFault(first);
  const advice = ADVICE[first.syscall ?? ''] ?? (ofDatabase ? ADVICE.connect : undefined);
  return advice === undefined ? (error.stack ?? error.message) : `${first.message}. ${advice}`;
}
