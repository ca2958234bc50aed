// What every command shares: the database (as a guest of a running service, or for itself), --json,
// and errors for a tired person.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import { Problem } from '../errors.ts';
import { createLog } from '../process/log.ts';
import { urlAt } from '../store/database-url.ts';
import { openEmbedded } from '../store/embedded/open.ts';
import { withPartitions } from '../store/partitions.ts';
import { withPlaces } from '../store/places.ts';
import { type Database, openDatabase } from '../store/pool.ts';
import { openServers } from '../store/servers.ts';
import { upgrade } from '../store/upgrade.ts';

type Work<Result> = (database: Database, config: Config, url: string) => Promise<Result>;

/** Opens the same database the service uses, works on it, and leaves it as it was found. */
export const withDatabase = <Result>(work: Work<Result>): Promise<Result> =>
  withOpened(async (database, config, url) => {
    const { dataDir, databaseUrl } = config;
    const log = (message: string) => void process.stderr.write(`${message}\n`);
    await upgrade(database, databaseUrl === undefined ? { dataDir, url, log } : undefined);
    return await work(database, config, url);
  });

/** The same without migrating: the schema stays as it is, or missing. */
export async function withOpened<Result>(work: Work<Result>): Promise<Result> {
  const config = readConfig(process.env);
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbedded(config.dataDir, { as: 'guest', log: () => undefined })
      : undefined;
  try {
    const servers = openServers(config.databaseUrl ?? embedded!.url);
    const options = { connections: 4, onIdleError: () => undefined };
    const coordinator = withPartitions(openDatabase(servers, options));
    // The one of several servers that accepts writes.
    await coordinator.query('SELECT');
    const database = await withPlaces({
      database: coordinator,
      openNode: (at) =>
        withPartitions(openDatabase(urlAt(servers.current().url, at), options), coordinator),
      log: createLog('silent'),
    });
    try {
      return await work(database, config, servers.current().url);
    } finally {
      await database.close();
    }
  } finally {
    await embedded?.stop();
  }
}

/** One JSON line for programs, or the lines for people. */
export function print(json: boolean | undefined, value: unknown, lines: () => string[]): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${lines().join('\n')}\n`);
}

/** Text from others must not control the terminal that shows it. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

/** Rows as columns that line up. */
export function table(header: string[], given: string[][]): string[] {
  const rows = given.map((row) => row.map(printable));
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [line(header), ...rows.map(line)];
}

export function wholeNumber(name: string, least: number, most = 2_000_000_000) {
  return (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < least || value > most) {
      throw new Problem(
        'invalid',
        `${name} must be a whole number from ${least} to ${most}, not "${text}".`,
      );
    }
    return value;
  };
}

export const accountNumber = wholeNumber('An account id', 1);

/** Every command can answer in JSON. */
export function withJson(command: Command): Command {
  return command.option('--json', 'print one line of JSON');
}

/** A command about one account. */
export function ofAccount(command: Command): Command {
  return withJson(command).requiredOption('--account <id>', 'the account', accountNumber);
}

export function onOrOff(name: string) {
  return (text: string): boolean => {
    if (text === 'on' || text === 'off') return text === 'on';
    throw new Problem('invalid', `${name} must be on or off, not "${text}".`);
  };
}

/** A file named by an option; `-` is standard input. */
export function readTextFile(option: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new Problem('invalid', `${option}: cannot read ${file}: ${(error as Error).message}`);
  }
}

export function readJsonFile(option: string, file: string): unknown {
  const text = readTextFile(option, file);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem('invalid', `${option}: ${file} is not JSON: ${(error as Error).message}`);
  }
}

export function collect(value: string, list: string[] = []): string[] {
  return [...list, value];
}
