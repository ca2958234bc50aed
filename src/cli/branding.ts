// sandmartin branding: how the mails of an account look: name, logo, colours, footer.
import type { Command } from 'commander';
import { getAccount } from '../accounts/accounts.ts';
import { Problem } from '../errors.ts';
import { type AccountBranding, readBranding, setBranding } from '../templates/account-branding.ts';
import { brandingFields } from '../templates/branding-fields.ts';
import { collect, ofAccount, print, table, withDatabase } from './command.ts';

interface BrandingOptions {
  account: number;
  set?: string[];
  json?: boolean;
}

export function registerBranding(program: Command): void {
  const branding = program.command('branding').description('how the mails of an account look');

  ofAccount(branding.command('get').description('what is set')).action((options: BrandingOptions) =>
    withDatabase(async (database) => {
      await getAccount(database, options.account);
      printBranding(options, await readBranding(database, options.account));
    }),
  );

  ofAccount(branding.command('set').description('set fields; the next sends use them'))
    .requiredOption(
      '--set <field=value>',
      `repeat for several; an empty value unsets. Fields: ${brandingFields.join(', ')}`,
      collect,
    )
    .action((options: BrandingOptions) =>
      withDatabase(async (database) =>
        printBranding(
          options,
          await setBranding(database, options.account, readChanges(options.set ?? [])),
        ),
      ),
    );
}

function readChanges(settings: string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf('=');
      if (at > 0) return [setting.slice(0, at), setting.slice(at + 1)];
      throw new Problem(
        'invalid',
        `--set must be field=value such as primary_color=#00a071, not "${setting}".`,
      );
    }),
  );
}

/** All ten fields, unset ones as null. */
function printBranding(options: BrandingOptions, { version, fields }: AccountBranding): void {
  const all = brandingFields.map((field) => [field, fields[field] ?? null] as const);
  print(options.json, { ...Object.fromEntries(all), version }, () => [
    ...table(
      ['FIELD', 'VALUE'],
      all.map(([field, value]) => [field, value === null ? '(not set)' : String(value)]),
    ),
    version === 0 ? 'Nothing was set yet; these are the defaults.' : `This is version ${version}.`,
  ]);
}
