// What every command shares: the database (as a guest of a running service, or for itself), --json,
// and errors for a tired person.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { Problem } from '../errors.ts';
import { openEmbedded } from '../store/embedded/open.ts';
import { migrate } from '../store/migrate.ts';
import { withPartitions } from '../store/partitions.ts';
import { type Database, openDatabase } from '../store/pool.ts';

/** Opens the same database the service uses, works on it, and leaves it as it was found. */
export async function withDatabase<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = readConfig(process.env);
  const embedded =
    config.databaseUrl === undefined
      ? await openEmbedded(config.dataDir, { as: 'guest', log: () => undefined })
      : undefined;
  try {
    const database = withPartitions(
      openDatabase(config.databaseUrl ?? embedded!.url, {
        connections: 4,
        onIdleError: () => undefined,
      }),
    );
    try {
      await migrate(database);
      return await work(database, config);
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

/** Rows as columns that line up. */
export function table(header: string[], rows: string[][]): string[] {
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
  return command.option('--json', 'answer with one line of JSON');
}

/** A command on what one account has. */
export function ofAccount(command: Command): Command {
  return withJson(command).requiredOption('--account <id>', 'the account', accountNumber);
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
