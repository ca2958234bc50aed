// Branding: how every template of the account looks.
import { z } from 'zod';
import {
  type AccountBranding,
  putLogo,
  readBranding,
  setBranding,
} from '../templates/account-branding.ts';
import { changeBranding } from '../templates/branding.ts';
import { contrastsOf } from '../templates/branding-contrast.ts';
import { BRANDING_FIELDS, type Branding, defaultBranding } from '../templates/branding-fields.ts';
import { MOST_LOGO_BYTES } from '../templates/logo-names.ts';
import { renderEach } from '../templates/previews.ts';
import { operation } from './operation.ts';
import { filledLike, preview, slugs, variablesOf } from './template-previews.ts';

const values = z.object(BRANDING_FIELDS).partial().required({
  primary_color: true,
  accent_color: true,
  button_radius: true,
});

const contrast = z
  .object({
    field: z.enum(['primary_color', 'accent_color']).describe('Which colour.'),
    ratio: z.number().describe('Its contrast on white.'),
    low: z.boolean().describe('Below 4.5, which is hard to read (WCAG AA).'),
    fill_color: z
      .string()
      .describe('The shade that emails fill buttons and areas with; white can be read on it.'),
    text_color: z.string().describe('The colour of the text that emails put on that.'),
    link_color: z.string().describe('The shade that emails use for links on white.'),
  })
  .meta({ id: 'BrandingContrast' });

const branding = z
  .object({
    version: z.number().int().describe('Raised by every change; 0: nothing was ever set.'),
    branding: values.describe('The fields that have a value.'),
    defaults: values.describe('What applies where nothing is set.'),
    contrasts: z.array(contrast).describe('How well the colours can be read.'),
  })
  .meta({ id: 'Branding' });

const show = ({ version, fields, accountName }: AccountBranding): z.output<typeof branding> => ({
  version,
  branding: fields,
  defaults: { ...defaultBranding, brand_name: accountName, layout: 'card', font: 'system' },
  contrasts: showContrasts(fields),
});

const showContrasts = (fields: Branding): z.output<typeof contrast>[] =>
  contrastsOf(fields).map(({ fillColor, textColor, linkColor, ...contrast }) => ({
    ...contrast,
    fill_color: fillColor,
    text_color: textColor,
    link_color: linkColor,
  }));

const MOST_PREVIEWS = 8;

const baseVersion = z
  .number()
  .int()
  .optional()
  .describe('The version that the change is based on; refused when it is not the newest.');

export const unsavedBranding = z
  .strictObject(nullable(BRANDING_FIELDS))
  .describe('Values that are not saved yet.');

export const brandingOperations = [
  operation({
    name: 'get_branding',
    title: 'Read the branding',
    summary: 'The colours, logo, names and links that all of the account’s templates use.',
    effect: 'reads',
    scope: 'branding:read',
    input: z.strictObject({}),
    output: branding,
    rest: { method: 'GET', path: '/v1/branding' },
    client: 'branding.get',
    tool: { brief: 'Colours, logo, names and links of every template.' },
    run: async ({ database }, { accountId }) => show(await readBranding(database, accountId)),
  }),

  operation({
    name: 'set_logo',
    title: 'Upload the logo',
    summary: `Stores an image (PNG, JPEG, GIF or WebP, at most ${MOST_LOGO_BYTES / 1024} KB) and shows it in the header of every email: logo_url becomes its address here. With logo_inline every email carries it instead.`,
    effect: 'changes',
    scope: 'branding:write',
    input: z.strictObject({
      content_base64: z.string().describe('The file, base64.'),
      logo_inline: BRANDING_FIELDS.logo_inline
        .optional()
        .describe('Carry it in every email. If absent, unchanged.'),
      base_version: baseVersion,
    }),
    output: branding,
    rest: { method: 'PUT', path: '/v1/branding/logo', ifMatch: 'base_version' },
    client: 'branding.setLogo',
    async run({ database, baseUrl }, { accountId }, wish, via) {
      const { content_base64, logo_inline, base_version } = wish;
      const before = await readBranding(database, accountId);
      const after = await putLogo(database, accountId, content_base64, {
        baseUrl: baseUrl(),
        inline: logo_inline,
        baseVersion: base_version,
      });
      const only = ({ logo_url, logo_inline }: Branding) => ({ logo_url, logo_inline });
      via.note({ target: 'branding', before: only(before.fields), after: only(after.fields) });
      return show(after);
    },
  }),

  operation({
    name: 'set_branding',
    title: 'Change the branding',
    summary:
      'Sets the fields you give and leaves the others; null resets one to its default. Every email made from a template uses it from now on.',
    effect: 'changes',
    scope: 'branding:write',
    input: z.strictObject({
      ...nullable(BRANDING_FIELDS),
      base_version: baseVersion,
    }),
    output: branding,
    rest: { method: 'PATCH', path: '/v1/branding', ifMatch: 'base_version' },
    client: 'branding.set',
    tool: {
      brief: 'Changes the fields given; null resets one to its default.',
      without: ['base_version'],
    },
    async run({ database }, { accountId }, { base_version, ...changes }, via) {
      const before = await readBranding(database, accountId);
      const after = await setBranding(database, accountId, changes, base_version);
      const changed = Object.keys(changes) as (keyof Branding)[];
      const only = (of: Branding) => Object.fromEntries(changed.map((name) => [name, of[name]]));
      via.note({ target: 'branding', before: only(before.fields), after: only(after.fields) });
      return show(after);
    },
  }),

  operation({
    name: 'preview_branding',
    title: 'Preview the branding',
    summary:
      'Templates with their samples, as they would look if these values replaced the account’s branding. Nothing is saved.',
    effect: 'reads',
    scope: 'branding:read',
    input: z.strictObject({
      branding: unsavedBranding,
      slugs: slugs(MOST_PREVIEWS),
      variables_of: variablesOf,
    }),
    output: z.object({
      contrasts: z.array(contrast).describe('How well the colours can be read.'),
      previews: z.array(preview).describe('The templates, in the order asked for.'),
    }),
    rest: { method: 'POST', path: '/v1/branding/preview' },
    client: 'branding.preview',
    async run(deps, caller, { branding, slugs, variables_of }, via) {
      const { accountId } = caller;
      const { fields } = await readBranding(deps.database, accountId);
      const filled = variables_of && (await filledLike(deps.database, caller, variables_of, via));
      return {
        contrasts: showContrasts(changeBranding(fields, branding, 'branding.')),
        previews: await renderEach(deps, accountId, slugs, { branding, ...filled }),
      };
    },
  }),
];

/** Each field is optional, and null resets it. */
function nullable<Shape extends Record<string, z.ZodType>>(shape: Shape) {
  return Object.fromEntries(
    Object.entries(shape).map(([name, type]) => [
      name,
      type
        .nullable()
        .optional()
        .describe(type.description ?? ''),
    ]),
  ) as { [Name in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Name]>> };
}
