// Sample calls: branding.
import type { Samples } from '../samples.ts';

const ONE_PIXEL_GIF = 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';

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
  set_logo: {
    input: () => ({ content_base64: ONE_PIXEL_GIF }),
    refused: [{ content_base64: 'not base64' }, { content_base64: 'PHN2Zz48L3N2Zz4=' }],
  },
  preview_branding: {
    input: () => ({ branding: { brand_name: null }, slugs: ['welcome'] }),
    refused: [{ branding: { button_radius: 25 } }],
  },
};
