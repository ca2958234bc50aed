// sandmartin serve: starts the roles of this process and says hello.
import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { print, withJson } from './command.ts';
import { bannerLines, openWelcome, summary } from './welcome.ts';

/** What is in hand gets this long after SIGTERM; leases bring back what takes longer. */
const STOP_WITHIN_MS = 10_000;

interface ServeOptions {
  port?: string;
  data?: string;
  json?: boolean;
}

export function registerServe(program: Command): void {
  withJson(program.command('serve').description('start the service'))
    .option('--port <port>', 'port of the API, over PORT')
    .option('--data <folder>', 'data folder, over DATA_DIR')
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const config = readConfig({
    ...process.env,
    ...(options.port === undefined ? {} : { PORT: options.port }),
    ...(options.data === undefined ? {} : { DATA_DIR: options.data }),
  });
  // Only this command needs the whole program; the others start in a third of the time without it.
  const { startService } = await import('../main.ts');
  const log = createLog(config.logLevel);
  const starting = startService(config, log);
  const end = endingOf(async () => (await starting).stop());
  const service = await starting;
  void service.unfit.then((why) => {
    log.fatal(why);
    end(1);
  });
  const welcome = await openWelcome(config, service.database);
  print(options.json, summary(service, welcome), () => bannerLines(config, service, welcome));
}

/**
 * Ends the process in good order, also when a signal asks for it. A second signal does not wait.
 */
function endingOf(stop: () => Promise<void>): (code: number) => void {
  let stopping = false;
  const end = (code: number): void => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(giveUp, STOP_WITHIN_MS).unref();
    void stop().then(() => process.exit(code));
  };
  const onSignal = (): void => end(0);
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // The terminal it ran in was closed.
  process.on('SIGHUP', onSignal);
  return end;
}

/** The database or the relay did not let go in time. */
function giveUp(): void {
  process.stderr.write(
    `Not everything could be finished within ${STOP_WITHIN_MS / 1000} s. Nothing is lost: what was in hand and could not be recorded is handed over again when its lease ends.\n`,
  );
  process.exit(1);
}
