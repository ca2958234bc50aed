// Sample calls: branding.
import type { Samples } from '../samples.ts';

/** One pixel, of another colour each time. */
function gif(colour: number): string {
  const bytes = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  bytes.writeUIntBE(colour % 0xffffff, 13, 3);
  return bytes.toString('base64');
}

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
    input: ({ next }) => ({ content_base64: gif(next()) }),
    refused: [{ content_base64: 'not base64' }, { content_base64: 'PHN2Zz48L3N2Zz4=' }],
  },
  preview_branding: {
    input: () => ({ branding: { brand_name: null }, slugs: ['welcome'] }),
    refused: [{ branding: { button_radius: 25 } }],
  },
  rehearse_branding: {
    input: () => ({ branding: { brand_name: null } }),
    refused: [{ branding: { button_radius: 25 } }, { limit: 21 }],
  },
};
