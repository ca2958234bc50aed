// sandmartin branding: how the emails of an account look: name, logo, colours, footer.
import type { Command } from 'commander';
import type { Branding, Operations } from '../client/operations.ts';
import { Problem } from '../errors.ts';
import { brandingFields } from '../templates/branding-fields.ts';
import { collect, ofAccount, print, table } from './command.ts';
import { withOperations } from './operations.ts';

interface BrandingOptions {
  account: number;
  set?: string[];
  json?: boolean;
}

export function registerBranding(program: Command): void {
  const branding = program.command('branding').description('how the emails of an account look');

  ofAccount(branding.command('get').description('what is set')).action((options: BrandingOptions) =>
    withOperations(options.account, async (api) =>
      printBranding(options, await api.branding.get()),
    ),
  );

  ofAccount(branding.command('set').description('set fields; sends use them from now on'))
    .requiredOption(
      '--set <field=value>',
      `repeat for several; an empty value unsets the field. Fields: ${brandingFields.join(', ')}`,
      collect,
    )
    .action((options: BrandingOptions) =>
      withOperations(options.account, async (api) =>
        printBranding(options, await api.branding.set(readChanges(options.set ?? []))),
      ),
    );
}

type Changes = Parameters<Operations['branding']['set']>[0];

function readChanges(settings: string[]): Changes {
  return Object.fromEntries(settings.map(readChange)) as Changes;
}

function readChange(setting: string): [field: string, value: string | number | boolean | null] {
  const at = setting.indexOf('=');
  if (at <= 0) {
    throw new Problem(
      'invalid',
      `--set must be field=value such as primary_color=#00a071, not "${setting}".`,
    );
  }
  const [field, value] = [setting.slice(0, at), setting.slice(at + 1)];
  if (value === '') return [field, null];
  if (field === 'logo_inline' && /^(true|false)$/.test(value)) return [field, value === 'true'];
  return [field, field === 'button_radius' && /^\d+$/.test(value) ? Number(value) : value];
}

/** All fields, unset ones as null. */
function printBranding(options: BrandingOptions, { version, branding: fields }: Branding): void {
  const all = brandingFields.map((field) => [field, fields[field] ?? null] as const);
  print(options.json, { ...Object.fromEntries(all), version }, () => [
    ...table(
      ['FIELD', 'VALUE'],
      all.map(([field, value]) => [field, value === null ? '(not set)' : String(value)]),
    ),
    version === 0
      ? 'Nothing has been set yet; these are the defaults.'
      : `This is version ${version}.`,
  ]);
}
