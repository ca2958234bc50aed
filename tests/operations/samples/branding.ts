// Sample calls: branding.
import type { Samples } from '../samples.ts';

export const samples: Samples = {
  get_branding: {
    async input({ done, next }, whose) {
      await done('set_branding', { brand_name: `${whose.mark} ${next()}` }, whose);
      return {};
    },
  },
  set_branding: {
    input: ({ next }, { mark }) => ({ brand_name: `${mark} ${next()}`, button_radius: 4 }),
    refused: [{ button_radius: 25 }, { primary_color: 'reddish' }],
  },
  preview_branding: {
    input: () => ({ branding: { brand_name: null }, slugs: ['welcome'] }),
    refused: [{ branding: { button_radius: 25 } }],
  },
};
