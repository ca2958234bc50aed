// Branding: the ten fields an account sets, checked, and the object `branding` that every template
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

/**
 * `branding` as templates see it: the ten fields and colours derived from them, so that text stays
 * readable.
 */
export type BrandingContext = Branding & DerivedColours;

interface DerivedColours {
  /**
   * Text on `primary_color`: white, near-black or black, whichever first reaches WCAG AA (4.5:1).
   */
  button_text_color: string;
  /** `primary_color`, or darker when a button would not stand out from the white card. */
  button_border_color: string;
  /** The same against the dark card. */
  button_border_color_dark: string;
  /** `primary_color` as text on light ground, darkened until it reaches 4.5:1. */
  link_color: string;
  /** `primary_color` as text on dark ground, lightened until it reaches 4.5:1. */
  link_color_dark: string;
  /** Text on `accent_color`, chosen as for buttons. */
  accent_text_color: string;
}

const MOST_URL_CHARS = 2048;
const MOST_NAME_CHARS = 200;
// A mail above 102 KB is clipped by Gmail; a footer of this size leaves room for every template.
const MOST_FOOTER_CHARS = 20_000;

const checks: Record<BrandingField, (value: unknown) => string | number> = {
  brand_name: (value) => {
    const name = text(value);
    if (/[\u0000-\u001f\u007f]/.test(name)) throw new Error('must not contain control characters');
    return atMost(name, MOST_NAME_CHARS);
  },
  logo_url: webAddress,
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
  privacy_policy_url: webAddress,
  terms_url: webAddress,
};

/**
 * The branding after some fields were set. `null` and `''` take a field back to its default.
 * Throws a Problem that names the first field at fault.
 */
export function changeBranding(current: Branding, changes: Record<string, unknown>): Branding {
  const next: Record<string, string | number> = { ...current };
  for (const [field, value] of Object.entries(changes)) {
    if (!Object.hasOwn(checks, field)) {
      throw faultIn(field, `is not a branding field; there are ${brandingFields.join(', ')}`);
    }
    if (value === null || value === undefined || value === '') {
      delete next[field];
      continue;
    }
    try {
      next[field] = checks[field as BrandingField](value);
    } catch (fault) {
      throw faultIn(field, (fault as Error).message);
    }
  }
  return { ...defaultBranding, ...next };
}

function faultIn(field: string, fault: string): Problem {
  const path = field.slice(0, 100);
  const message = `branding.${path} ${fault}`;
  return new Problem('invalid', message, { faults: [{ path, message }] });
}

/** Computed once per branding version, not per mail. */
export function brandingContext(branding: Branding): BrandingContext {
  return {
    ...branding,
    button_text_color: readableOn(branding.primary_color),
    button_border_color: shade(branding.primary_color, 'darker', edgeContrast, lightCard),
    button_border_color_dark: shade(branding.primary_color, 'lighter', edgeContrast, darkCard),
    link_color: shade(branding.primary_color, 'darker', textContrast, lightPanel),
    link_color_dark: shade(branding.primary_color, 'lighter', textContrast, darkPanel),
    accent_text_color: readableOn(branding.accent_color),
  };
}

// ---- The fields ---------------------------------------------------------------------------------

function text(value: unknown): string {
  if (typeof value !== 'string') throw new Error('must be a text');
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

// ---- The colours (WCAG 2.2, relative luminance and contrast ratio) ------------------------------

type Rgb = readonly [number, number, number];

const textContrast = 4.5;
const edgeContrast = 1.6;

// The grounds of catalog/layout.html that text in a brand colour stands on.
const lightCard = rgb('#ffffff');
const lightPanel = rgb('#f4f5f7');
const darkCard = rgb('#1a1d23');
const darkPanel = rgb('#23272f');

/** The contrast ratio of two hex colours, 1 to 21. */
export function contrast(one: string, other: string): number {
  return ratio(rgb(one), rgb(other));
}

/**
 * White where it is readable, else near-black; pure black for the narrow band of middle tones where
 * neither is.
 */
function readableOn(ground: string): string {
  return (
    ['#ffffff', '#15181f'].find((candidate) => contrast(candidate, ground) >= textContrast) ??
    '#000000'
  );
}

/**
 * The colour itself if it stands out enough from the ground, else lighter or darker until it does.
 * Only the lightness (HSL) moves: mixing with white or black instead would wash the brand out to
 * grey.
 */
function shade(
  color: string,
  direction: 'lighter' | 'darker',
  wanted: number,
  ground: Rgb,
): string {
  if (ratio(rgb(color), ground) >= wanted) return color;
  const [hue, saturation, start] = hsl(rgb(color));
  const step = direction === 'lighter' ? 0.01 : -0.01;
  for (let lightness = start + step; lightness > 0 && lightness < 1; lightness += step) {
    const candidate = fromHsl(hue, saturation, lightness);
    if (ratio(candidate, ground) >= wanted) return hex(candidate);
  }
  return direction === 'lighter' ? '#ffffff' : '#000000';
}

/** Hue 0 to 360, saturation and lightness 0 to 1. */
function hsl([r, g, b]: Rgb): Rgb {
  const max = Math.max(r, g, b) / 255;
  const min = Math.min(r, g, b) / 255;
  const lightness = (max + min) / 2;
  const chroma = max - min;
  if (chroma === 0) return [0, 0, lightness];
  const sixth =
    max === r / 255
      ? (g - b) / 255 / chroma + 6
      : max === g / 255
        ? (b - r) / 255 / chroma + 2
        : (r - g) / 255 / chroma + 4;
  return [(sixth * 60) % 360, chroma / (1 - Math.abs(2 * lightness - 1)), lightness];
}

function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

function ratio(one: Rgb, other: Rgb): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function luminance([r, g, b]: Rgb): number {
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function rgb(color: string): Rgb {
  const digits = color.length === 4 ? color.replace(/[0-9a-f]/gi, '$&$&') : color;
  const channel = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16);
  return [channel(1), channel(3), channel(5)];
}

function hex(color: Rgb): string {
  return `#${color.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
}
