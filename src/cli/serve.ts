// sandmartin serve: starts the roles of this process and says hello.
import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import type { Service } from '../main.ts';
import { createLog } from '../process/log.ts';
import { endWithCaller } from './caller.ts';
import { collect, print, withJson } from './command.ts';
import {
  makeTemporaryFolder,
  makeTestAccount,
  sandboxEnv,
  type TemporaryFolder,
} from './serve-sandbox.ts';
import { bannerLines, openWelcome, summary } from './welcome.ts';

/** Work in progress gets this long after SIGTERM; leases bring back what takes longer. */
const STOP_WITHIN_MS = 10_000;

interface ServeOptions {
  port?: string;
  data?: string;
  json?: boolean;
  sandbox?: boolean;
  sender?: string[];
}

export function registerServe(program: Command): void {
  withJson(program.command('serve').description('start the service (the default command)'))
    .option('--port <port>', 'port of the API; overrides PORT')
    .option('--data <folder>', 'data folder; overrides DATA_DIR')
    .option(
      '--sandbox',
      'for a test run: in a temporary folder, ends with the process that started it',
    )
    .option(
      '--sender <domain>',
      'with --sandbox: a domain or address to send from; repeat',
      collect,
    )
    .action(serve);
}

async function serve(options: ServeOptions): Promise<void> {
  const folder = options.sandbox ? await makeTemporaryFolder() : undefined;
  try {
    await start(options, folder);
  } catch (error) {
    folder?.remove();
    throw error;
  }
}

async function start(options: ServeOptions, folder: TemporaryFolder | undefined): Promise<void> {
  const config = readConfig({
    ...(folder === undefined ? process.env : sandboxEnv(process.env, folder)),
    ...(options.port === undefined ? {} : { PORT: options.port }),
    ...(options.data === undefined ? {} : { DATA_DIR: options.data }),
  });
  // Only this command needs the whole program; the others start in a third of the time without it.
  const { startService } = await import('../main.ts');
  const log = createLog(config.logLevel);
  const starting = startService(config, log);
  const hello = starting.then((service) => sayHello(options, config, service));
  // `starting` itself reports a start that fails.
  hello.catch(() => undefined);
  const end = endingOf(async () => {
    const service = await starting;
    // It queries the database, and a key that it made is shown only this once.
    await hello.catch(() => undefined);
    await service.stop();
    folder?.remove();
  });
  if (options.sandbox) endWithCaller(() => end(0));
  const service = await starting;
  void service.unfit.then((why) => {
    log.fatal({ why }, 'this process cannot go on');
    end(1);
  });
  await hello.catch(async (error) => {
    // The folder of a sandbox is removed with this failure, so nothing may still work in it.
    if (options.sandbox) await service.stop();
    throw error;
  });
}

/** The URL and, the first time, how to sign in. */
async function sayHello(options: ServeOptions, config: Config, service: Service): Promise<void> {
  if (options.sandbox) {
    const account = await makeTestAccount(service.database, options.sender);
    print(true, { base_url: service.apiUrl, ...account }, () => []);
    return;
  }
  const welcome = await openWelcome(config, service.database);
  print(options.json, summary(service, welcome), () => bannerLines(config, service, welcome));
}

/** Ends the process cleanly, also on a signal. A second signal does not wait. */
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
    `Not everything could be finished within ${STOP_WITHIN_MS / 1000} s. Nothing is lost: emails whose hand-over could not be recorded are handed over again when the lease ends.\n`,
  );
  process.exit(1);
}
