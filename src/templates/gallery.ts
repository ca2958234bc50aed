// The gallery: every system template with its sample, in each layout, light and dark, as text and
// as source. Before it: rest/gallery.ts answers a browser, scripts/gallery.ts writes the same files
// into a folder. After it: email-maker.ts makes the email; gallery-page.ts is the page around them.
import { brandingContext } from './branding.ts';
import { showCarried } from './carried-file.ts';
import type { Catalog } from './catalog.ts';
import { galleryPage } from './gallery-page.ts';
import { LAYOUTS, type Layout } from './layouts.ts';
import type { Making } from './making.ts';

export interface GalleryFile {
  contentType: string;
  body: string;
}

export interface Gallery {
  /** The page, an email, a text or a source by its path below the gallery; undefined: none. */
  file(path: string): Promise<GalleryFile | undefined>;
  /** All of them. */
  paths(): string[];
}

export const GALLERY_PAGE = 'index.html';

/** A shop that sets every branding field. */
const branding = {
  brand_name: 'Alder & Finch',
  primary_color: '#2f5d50',
  accent_color: '#f2b56b',
  button_radius: 10,
  support_email: 'care@alderfinch.example',
  support_url: 'https://help.alderfinch.example',
  footer_html: 'Alder &amp; Finch Ltd, 3 Orchard Yard, Bath BA1 2QR',
  privacy_policy_url: 'https://alderfinch.example/privacy',
  terms_url: 'https://alderfinch.example/terms',
};

const SCHEMES = ['light', 'dark'] as const;
/** A frame cannot be told to prefer dark, so the rules are rewritten to apply always or never. */
const DARK_RULES = '@media (prefers-color-scheme:dark)';
const HOLD = { light: '@media not all', dark: '@media all' };

/** The share of people who look at it; senders do not wait for them. */
const LOOKERS = { share: 'gallery', ratePerSecond: 50 };

export function openGallery(deps: { catalog: Catalog; making: Making }): Gallery {
  const { templates } = deps.catalog;
  // Each is rendered once: the catalogue does not change while the program runs.
  const made = new Map<string, Promise<GalleryFile>>();

  async function make(slug: string, layout: Layout) {
    const context = brandingContext({ ...branding, layout });
    const email = await deps.making.make(
      {
        ...{ slug, template: null, variables: structuredClone(templates.get(slug)!.sample) },
        branding: { key: `gallery/${layout}`, value: context },
      },
      LOOKERS,
    );
    const html = showCarried(Buffer.from(email.html).toString(), email.files);
    return { html, text: `${email.subject}\n\n${Buffer.from(email.text)}` };
  }

  const files = new Map<string, () => Promise<GalleryFile>>([
    [GALLERY_PAGE, async () => asHtml(galleryPage([...templates.values()]))],
  ]);
  for (const [slug, template] of templates) {
    files.set(`${slug}.source.txt`, async () => asText(template.html));
    files.set(`${slug}.txt`, async () => asText((await make(slug, 'card')).text));
    for (const layout of LAYOUTS) {
      for (const scheme of SCHEMES) {
        files.set(`${slug}.${layout}.${scheme}.html`, async () =>
          asHtml((await make(slug, layout)).html.replace(DARK_RULES, HOLD[scheme])),
        );
      }
    }
  }

  return {
    paths: () => [...files.keys()],
    async file(path) {
      const work = files.get(path);
      if (work === undefined) return undefined;
      const known = made.get(path) ?? work();
      made.set(path, known);
      known.catch(() => made.delete(path));
      return await known;
    },
  };
}

const asHtml = (body: string): GalleryFile => ({ contentType: 'text/html; charset=utf-8', body });
const asText = (body: string): GalleryFile => ({ contentType: 'text/plain; charset=utf-8', body });
