// The command `sandmartin`: how it is called, and how it says what went wrong.
import { Command, CommanderError } from 'commander';
import { Problem } from '../errors.ts';
import { isConnectionFault } from '../process/connection-fault.ts';
import { VERSION } from '../process/version.ts';
import { registerCommands } from './commands.ts';
import { wordedAtTerminal } from './hints.ts';

interface Refusal extends NodeJS.ErrnoException {
  /** Set on errors from PostgreSQL. */
  severity?: string;
}

/** By the operation that failed. */
const ADVICE: Record<string, string> = {
  listen:
    'Stop the program that uses it, or set HOST, PORT, FEEDBACK_PORT, METRICS_PORT or MCP_PORT to something else.',
  connect: 'Check DATABASE_URL, and that the server is running.',
  getaddrinfo: 'Check the names in DATABASE_URL and HOST.',
  open: 'Check FEEDBACK_TLS_CERT and FEEDBACK_TLS_KEY.',
};

const program = new Command('sandmartin')
  .description('Transactional email you run yourself.')
  .version(VERSION)
  // Options behind a command are that command's: `template publish SLUG --version 2`.
  .enablePositionalOptions()
  .showHelpAfterError('(add --help to see the options)')
  .configureHelp({ showGlobalOptions: false });

registerCommands(program);

/** Bare `npx sandmartin` starts the service: in an empty folder, the sandbox. */
const args = process.argv.length > 2 ? process.argv.slice(2) : ['serve'];

try {
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode;
  else {
    process.stderr.write(`${explain(error as Error)}\n`);
    process.exitCode = 1;
  }
}

/**
 * What the machine, the network or the database refused is reported in a sentence; only unexpected
 * errors with a stack.
 */
function explain(error: Error): string {
  if (error instanceof Problem) return wordedAtTerminal(error);
  // Several addresses of one name were tried: the first error is enough.
  const first: Refusal = error instanceof AggregateError ? error.errors[0] : error;
  const ofDatabase = first.severity === 'FATAL' || isConnectionFault(first);
  const advice = ADVICE[first.syscall ?? ''] ?? (ofDatabase ? ADVICE.connect : undefined);
  return advice === undefined ? (error.stack ?? error.message) : `${first.message}. ${advice}`;
}
