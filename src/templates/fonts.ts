// The fonts of emails: three stacks by name, or families of your own. An email loads no font, so a
// reader sees the first family that their device has. Before it: branding.ts. After it: the
// layout's `font-family`.

const STACKS = {
  system: '-apple-system,BlinkMacSystemFont,Segoe UI,Roboto,Helvetica,Arial,sans-serif',
  serif: 'Iowan Old Style,Charter,Georgia,Cambria,Times New Roman,serif',
  mono: 'SFMono-Regular,Menlo,Consolas,Liberation Mono,monospace',
};

export const FONTS = Object.keys(STACKS);

const LONGEST_STACK = 200;
/** A family as CSS allows it without quotes; nothing that could end the style. */
const FAMILY = /^-?[\p{L}_][\p{L}\p{N}_-]*(?: [\p{L}_-][\p{L}\p{N}_-]*)*$/u;

/** What branding may set: the name of a stack, or families separated by commas. */
export function fontFamilies(value: unknown): string {
  const families = typeof value === 'string' ? value.split(',').map((family) => family.trim()) : [];
  const length = families.join().length;
  if (length === 0 || length > LONGEST_STACK || !families.every((one) => FAMILY.test(one))) {
    throw new Error(
      `must be ${FONTS.join(', ')} or names of fonts with commas between them, such as Inter, Arial (at most ${LONGEST_STACK} characters, without quotes)`,
    );
  }
  return families.join(', ');
}

/** A family that nobody has is followed by the system's. */
export function fontFamilyOf(font: string): string {
  const stack = (STACKS as Record<string, string | undefined>)[font];
  return stack ?? `${font.replaceAll(', ', ',')},${STACKS.system}`;
}
