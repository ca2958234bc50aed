// Branding: how every template of the account looks.
import { z } from 'zod';
import { type AccountBranding, readBranding, setBranding } from '../templates/account-branding.ts';
import { BRANDING_FIELDS, type Branding } from '../templates/branding-fields.ts';
import { operation } from './operation.ts';

const branding = z
  .object({
    version: z.number().int().describe('Raised by every change; 0: nothing was ever set.'),
    branding: z.object(BRANDING_FIELDS).partial().describe('The fields that have a value.'),
  })
  .meta({ id: 'Branding' });

const show = ({ version, fields }: AccountBranding) => ({ version, branding: fields });

export const brandingOperations = [
  operation({
    name: 'get_branding',
    title: 'Read the branding',
    summary: 'Colours, logo, names and links that every template of the account shows.',
    effect: 'reads',
    scope: 'branding:read',
    input: z.strictObject({}),
    output: branding,
    rest: { method: 'GET', path: '/v1/branding' },
    client: 'branding.get',
    tool: {},
    run: async ({ database }, { accountId }) => show(await readBranding(database, accountId)),
  }),

  operation({
    name: 'set_branding',
    title: 'Change the branding',
    summary:
      'Sets the fields that are given and leaves the others; null takes one back to its default. Every email made from a template from now on looks like it.',
    effect: 'changes',
    scope: 'branding:write',
    input: z.strictObject({
      ...nullable(BRANDING_FIELDS),
      base_version: z
        .number()
        .int()
        .optional()
        .describe('The version that the change is based on; refused when it is not the newest.'),
    }),
    output: branding,
    rest: { method: 'PATCH', path: '/v1/branding', ifMatch: 'base_version' },
    client: 'branding.set',
    tool: {},
    async run({ database }, { accountId }, { base_version, ...changes }, via) {
      const before = await readBranding(database, accountId);
      const after = await setBranding(database, accountId, changes, base_version);
      const changed = Object.keys(changes) as (keyof Branding)[];
      const only = (of: Branding) => Object.fromEntries(changed.map((name) => [name, of[name]]));
      via.note({ target: 'branding', before: only(before.fields), after: only(after.fields) });
      return show(after);
    },
  }),
];

/** Each field may be left out, and null resets it. */
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
