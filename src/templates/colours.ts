// Colours that can be read on each other (WCAG 2.2, relative luminance and contrast ratio). Before
// it: branding.ts has the colours of an account. After it: the shades that emails use.

type Rgb = readonly [number, number, number];

/** The contrast ratio of two hex colours, 1 to 21. */
export function contrast(one: string, other: string): number {
  return ratio(rgb(one), rgb(other));
}

/** Enough for text (AA), and for the edge of a large element. */
export const TEXT_CONTRAST = 4.5;
export const EDGE_CONTRAST = 1.6;

/** The first candidate that is readable on the background, otherwise black or white. */
export function readableOn(ground: string, ...candidates: string[]): string {
  const readable = candidates.find((color) => contrast(color, ground) >= TEXT_CONTRAST);
  if (readable !== undefined) return readable;
  return contrast('#000000', ground) >= contrast('#ffffff', ground) ? '#000000' : '#ffffff';
}

/**
 * The colour itself if it stands out enough from the ground, else lighter or darker until it does.
 * Only the lightness (HSL) moves: mixing with white or black instead would wash the brand out to
 * grey.
 */
export function shade(
  color: string,
  direction: 'lighter' | 'darker',
  wanted: number,
  on: string,
): string {
  const ground = rgb(on);
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
