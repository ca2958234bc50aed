// Branding: the fields an account sets, checked, and the object `branding` that every template
// reads. Before it: the dashboard or the CLI changes a field. After it: rendering.ts puts the
// context into every render.
import { parseMailbox } from '../addresses.ts';
import { Problem } from '../errors.ts';
import {
  type Branding,
  type BrandingField,
  brandingFields,
  defaultBranding,
} from './branding-fields.ts';
import { contrast, EDGE_CONTRAST, readableOn, shade, TEXT_CONTRAST } from './colours.ts';
import { fontFamilies, fontFamilyOf } from './fonts.ts';
import { LAYOUTS, type Layout } from './layouts.ts';
import { logoNameIn } from './logo-names.ts';

/**
 * `branding` as templates see it: the fields, and values derived from them that keep text readable
 * whatever the colours are.
 */
export type BrandingContext = Branding & Derived;

interface Derived {
  layout: Layout;
  /** `primary_color`, or a darker shade of it where that makes white text readable. */
  button_color: string;
  /**
   * Text on `button_color`: white, near-black or black, whichever first reaches WCAG AA (4.5:1).
   */
  button_text_color: string;
  /** `primary_color`, or darker when a button would not stand out from the white card. */
  button_border_color: string;
  /** The same against the dark card. */
  button_border_color_dark: string;
  /** `primary_color` as text on a light background, darkened until it reaches 4.5:1. */
  link_color: string;
  /** `primary_color` as text on a dark background, lightened until it reaches 4.5:1. */
  link_color_dark: string;
  /** Text on `accent_color`, chosen as for buttons. */
  accent_text_color: string;
  /** The colour behind the email: `background`, or what suits the layout. */
  ground_color: string;
  /** Strong text, quiet text and links in the header and footer. */
  ground_ink_color: string;
  ground_text_color: string;
  ground_link_color: string;
  /** Corners of the card: rounder than its buttons. */
  card_radius: number;
  /** `font` as a list of families that ends in one every reader has. */
  font_family: string;
}

const MOST_URL_CHARS = 2048;
const MOST_NAME_CHARS = 200;
// An email above 102 KB is clipped by Gmail; a footer of this size leaves room for every template.
const MOST_FOOTER_CHARS = 20_000;

const checks: Record<BrandingField, (value: unknown) => string | number | boolean> = {
  brand_name: (value) => {
    const name = text(value);
    if (/[\u0000-\u001f\u007f]/.test(name)) throw new Error('must not contain control characters');
    return atMost(name, MOST_NAME_CHARS);
  },
  logo_url: webAddress,
  logo_dark_url: webAddress,
  logo_inline: (value) => {
    if (typeof value !== 'boolean') throw new Error('must be true or false');
    return value;
  },
  primary_color: hexColor,
  accent_color: hexColor,
  support_email: emailAddress,
  support_url: webAddress,
  footer_html: (value) => {
    const html = text(value);
    if (html.includes('\u0000')) throw new Error('must not contain the character U+0000');
    return atMost(html, MOST_FOOTER_CHARS);
  },
  button_radius: radius,
  layout: (value) => {
    const layout = LAYOUTS.find((name) => name === value);
    if (layout === undefined) throw new Error(`must be one of ${LAYOUTS.join(', ')}`);
    return layout;
  },
  font: fontFamilies,
  background: hexColor,
  privacy_policy_url: webAddress,
  terms_url: webAddress,
};

/**
 * The branding after some fields were set. `null` and `''` reset a field to its default. Throws a
 * Problem that names the first field at fault; `within`: what contains the fields, as in
 * `branding.`.
 */
export function changeBranding(
  current: Branding,
  changes: Record<string, unknown>,
  within = '',
): Branding {
  const next: Record<string, string | number | boolean> = { ...current };
  for (const [field, value] of Object.entries(changes)) {
    if (!Object.hasOwn(checks, field)) {
      throw faultIn(
        within,
        field,
        `is not a branding field; the fields are ${brandingFields.join(', ')}`,
      );
    }
    if (value === null || value === undefined || value === '') {
      delete next[field];
      continue;
    }
    try {
      next[field] = checks[field as BrandingField](value);
    } catch (fault) {
      throw faultIn(within, field, (fault as Error).message);
    }
  }
  // No image is ever fetched while an email is composed.
  if (next.logo_inline && logoNameIn(String(next.logo_url)) === undefined) {
    if (changes.logo_inline) throw faultIn(within, 'logo_inline', NO_LOGO, 'set_logo');
    delete next.logo_inline;
  }
  return { ...defaultBranding, ...next };
}

const NO_LOGO = 'needs a logo that was uploaded. Upload it, and do not set logo_url yourself.';

function faultIn(within: string, field: string, fault: string, see?: string): Problem {
  const shown = field.slice(0, 100);
  return new Problem('invalid', `branding.${shown} ${fault}`, {
    at: `${within}${shown}`,
    ...(see === undefined ? {} : { see }),
  });
}

/**
 * Computed once per branding version, not per email. `logo`: the logo that the email carries, if it
 * does; templates then refer to it by its name in the email. `name`: the account's name, used if no
 * brand name is set.
 */
export function brandingContext(
  branding: Branding,
  { logo, name }: { logo?: { contentId: string } | null; name?: string } = {},
): BrandingContext {
  const { primary_color, accent_color, button_radius } = branding;
  const { layout = 'card', font = 'system' } = branding;
  const button = buttonColor(primary_color);
  return {
    ...(name === undefined ? {} : { brand_name: name }),
    ...branding,
    ...(logo ? { logo_url: `cid:${logo.contentId}` } : {}),
    layout,
    button_color: button,
    button_text_color: readableOn(button, '#ffffff', INK),
    button_border_color: shade(primary_color, 'darker', EDGE_CONTRAST, '#ffffff'),
    button_border_color_dark: shade(primary_color, 'lighter', EDGE_CONTRAST, DARK_CARD),
    link_color: shade(primary_color, 'darker', TEXT_CONTRAST, LIGHT_PANEL),
    link_color_dark: shade(primary_color, 'lighter', TEXT_CONTRAST, DARK_PANEL),
    accent_text_color: readableOn(accent_color, '#ffffff', INK),
    ...groundColours(branding, layout),
    card_radius: button_radius === 0 ? 0 : Math.min(button_radius + 4, 16),
    font_family: fontFamilyOf(font),
  };
}

// The backgrounds in catalog/layout.html behind text in a brand colour.
const INK = '#15181f';
const LIGHT_PANEL = '#f4f5f7';
const DARK_CARD = '#1a1d23';
const DARK_PANEL = '#23272f';

/**
 * People expect white on a green, a blue or a red button. A colour far lighter than those would
 * turn into another colour on the way (yellow into brown): it stays, and its text is dark.
 */
const NEARLY_DARK_ENOUGH = 2.5;

const buttonColor = (primary: string): string =>
  contrast(primary, '#ffffff') < NEARLY_DARK_ENOUGH
    ? primary
    : shade(primary, 'darker', TEXT_CONTRAST, '#ffffff');

function groundColours(
  { background, primary_color }: Branding,
  layout: Layout,
): Pick<Derived, 'ground_color' | 'ground_ink_color' | 'ground_text_color' | 'ground_link_color'> {
  const ground = background ?? (layout === 'letter' ? '#ffffff' : LIGHT_PANEL);
  // Header and footer of a letter are on its sheet, which is white.
  const below = layout === 'letter' ? '#ffffff' : ground;
  const direction = contrast(below, '#ffffff') > contrast(below, '#000000') ? 'lighter' : 'darker';
  return {
    ground_color: ground,
    ground_ink_color: readableOn(below, INK, '#ffffff'),
    ground_text_color: readableOn(below, '#626b7a', '#b4bac5', INK, '#ffffff'),
    ground_link_color: shade(primary_color, direction, TEXT_CONTRAST, below),
  };
}

// ---- The fields ---------------------------------------------------------------------------------

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('must be a string');
  return value;
}

function atMost(value: string, maxChars: number): string {
  if (value.length > maxChars) throw new Error(`must be at most ${maxChars} characters long`);
  return value;
}

function hexColor(value: unknown): string {
  const color = text(value);
  if (!/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(color)) {
    throw new Error('must be a hex colour such as #00a071');
  }
  return color;
}

function webAddress(value: unknown): string {
  const address = atMost(text(value), MOST_URL_CHARS);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || /[\s<>"]/.test(address)) {
    throw new Error('must be an http or https address such as https://example.com/help');
  }
  return address;
}

function emailAddress(value: unknown): string {
  const address = text(value);
  const mailbox = parseMailbox(address);
  if ('fault' in mailbox || mailbox.name !== '') {
    const reason = 'fault' in mailbox ? `: ${mailbox.fault}` : ', without a name';
    throw new Error(`must be an email address such as support@example.com${reason}`);
  }
  return address.trim();
}

function radius(value: unknown): number {
  const pixels = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof pixels !== 'number' || !Number.isInteger(pixels) || pixels < 0 || pixels > 24) {
    throw new Error('must be a whole number from 0 to 24');
  }
  return pixels;
}
