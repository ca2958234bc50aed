// Branding: the ten fields, their contrast, and how several templates look with values that are not saved yet.
import { z } from 'zod';
import { Problem } from '../../errors.ts';
import {
  type AccountBranding,
  readBranding,
  setBranding,
} from '../../templates/account-branding.ts';
import { brandingContext, changeBranding, contrast } from '../../templates/branding.ts';
import { type Branding, defaultBranding } from '../../templates/branding-fields.ts';
import type { Works } from '../route.ts';
import { previewOf } from '../template-preview.ts';
import type { BrandingContrast, BrandingView } from '../views/branding.ts';
import type { BrandingPreview } from '../views/previews.ts';
import { slugs } from './templates.ts';

const MOST_PREVIEWS = 8;
/** WCAG 2.2, 1.4.3 (AA). */
const READABLE = 4.5;

/** Which fields there are and what they may hold, templates/branding.ts says. */
const change = z.record(z.string(), z.unknown());

export const brandingRoutes: Works<'getBranding' | 'setBranding' | 'previewBranding'> = {
  getBranding: {
    async run({ database }, { accountId }) {
      return toView(await readBranding(database, accountId));
    },
  },

  setBranding: {
    body: change,
    async run({ database }, { accountId, body }) {
      return toView(await setBranding(database, accountId, body));
    },
  },

  previewBranding: {
    body: z.strictObject({ branding: change, slugs: slugs(MOST_PREVIEWS) }),
    async run(deps, { accountId, body }) {
      const { fields } = await readBranding(deps.database, accountId);
      try {
        const contrasts = contrastsOf(changeBranding(fields, body.branding));
        const previews = await Promise.all(
          body.slugs.map(async (slug) => ({
            slug,
            ...(await previewOf(deps, accountId, { slug, branding: body.branding })),
          })),
        );
        return { contrasts, previews, fault: null } satisfies BrandingPreview;
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'invalid') throw error;
        return { contrasts: contrastsOf(fields), previews: [], fault: error.detail };
      }
    },
  },
};

const toView = ({ version, fields }: AccountBranding): BrandingView => ({
  version,
  fields,
  defaults: defaultBranding,
  contrasts: contrastsOf(fields),
});

function contrastsOf(fields: Branding): BrandingContrast[] {
  const context = brandingContext(fields);
  const of = (
    field: BrandingContrast['field'],
    textColor: string,
    linkColor: string,
  ): BrandingContrast => {
    const ratio = contrast(fields[field], '#ffffff');
    return {
      field,
      ratio: Math.round(ratio * 100) / 100,
      low: ratio < READABLE,
      textColor,
      linkColor,
    };
  };
  return [
    of('primary_color', context.button_text_color, context.link_color),
    of('accent_color', context.accent_text_color, context.accent_color),
  ];
}
