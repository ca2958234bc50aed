// Branding: which fields can be set, how faults are reported, and that derived colours stay
// readable whatever the brand colour is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { brandingContext, changeBranding } from '../../src/templates/branding.ts';
import { brandingFields, defaultBranding } from '../../src/templates/branding-fields.ts';
import { contrast } from '../../src/templates/colours.ts';

describe('setting branding', () => {
  it('starts with the documented defaults and nothing else', () => {
    expect(changeBranding(defaultBranding, {})).toEqual({
      primary_color: '#00a071',
      accent_color: '#00e5a0',
      button_radius: 8,
    });
  });

  it('keeps all fields as they were written', () => {
    const all = {
      brand_name: 'Alder & Finch',
      logo_url: `https://mail.example/logos/7/${'a1'.repeat(32)}.png`,
      logo_dark_url: 'https://x.example/dark.png',
      logo_inline: true,
      primary_color: '#2F5D50',
      accent_color: '#fb6',
      support_email: 'care@alderfinch.example',
      support_url: 'http://help.example/',
      footer_html: '<a href="https://x.example">Stop</a>',
      button_radius: 24,
      layout: 'letter',
      font: 'Inter, Arial',
      background: '#fff8ee',
      privacy_policy_url: 'https://x.example/privacy',
      terms_url: 'https://x.example/terms',
    };
    expect(changeBranding(defaultBranding, all)).toEqual(all);
    expect(Object.keys(all).sort()).toEqual([...brandingFields].sort());
  });

  it('takes a field back to its default with null or an empty text', () => {
    const set = changeBranding(defaultBranding, { brand_name: 'A', primary_color: '#123456' });
    expect(changeBranding(set, { brand_name: '', primary_color: null })).toEqual(defaultBranding);
  });

  it('reads the radius from a command line, where every value is a text', () => {
    expect(changeBranding(defaultBranding, { button_radius: '0' }).button_radius).toBe(0);
  });

  it.each([
    ['primary_color', 'green'],
    ['primary_color', '#12345'],
    ['accent_color', 'url(x)'],
    ['accent_color', '#00e5a0;background:red'],
    ['button_radius', 25],
    ['button_radius', -1],
    ['button_radius', 8.5],
    ['button_radius', '8px'],
    ['logo_url', 'javascript:alert(1)'],
    ['logo_url', 'data:image/png;base64,AA'],
    ['support_url', 'help.example'],
    ['privacy_policy_url', 'ftp://x.example'],
    ['terms_url', 'https://x.example/a b'],
    ['support_email', 'care'],
    ['support_email', 'Care <care@x.example>'],
    ['brand_name', 'A\r\nBcc: b@x.example'],
    ['brand_name', 'x'.repeat(201)],
    ['footer_html', 7],
    ['logo_dark_url', 'javascript:alert(1)'],
    ['layout', 'poster'],
    ['layout', 3],
    ['font', 'Arial;background:url(x)'],
    ['font', 'Inter, "Segoe UI"'],
    ['font', 'Arial, '],
    ['font', 'x'.repeat(201)],
    ['background', 'white'],
    ['colour', '#000000'],
  ])('refuses %s = %j and names the field', (field, value) => {
    const attempt = () => changeBranding(defaultBranding, { [field]: value });
    expect(attempt).toThrow(Problem);
    expect(attempt).toThrow(`branding.${field} `);
  });
});

describe('derived colours', () => {
  const color = fc
    .tuple(fc.nat(255), fc.nat(255), fc.nat(255))
    .map((rgb) => `#${rgb.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`);

  it('measures contrast as WCAG does', () => {
    expect(contrast('#000', '#ffffff')).toBeCloseTo(21);
    expect(contrast('#777777', '#fff')).toBeCloseTo(4.48, 2);
  });

  it('reach WCAG AA for every brand colour, in light and in dark', () => {
    fc.assert(
      fc.property(color, color, color, (primary_color, accent_color, background) => {
        const set = { ...defaultBranding, primary_color, accent_color, background };
        const context = brandingContext(set);
        expect(contrast(context.button_text_color, context.button_color)).toBeGreaterThanOrEqual(
          4.5,
        );
        for (const name of ['ground_ink_color', 'ground_text_color', 'ground_link_color'] as const)
          expect(contrast(context[name], background)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(context.accent_text_color, accent_color)).toBeGreaterThanOrEqual(4.5);
        for (const ground of ['#ffffff', '#f4f5f7']) {
          expect(contrast(context.link_color, ground)).toBeGreaterThanOrEqual(4.5);
        }
        for (const ground of ['#101216', '#1a1d23', '#23272f']) {
          expect(contrast(context.link_color_dark, ground)).toBeGreaterThanOrEqual(4.5);
        }
        expect(contrast(context.button_border_color, '#ffffff')).toBeGreaterThanOrEqual(1.6);
        expect(contrast(context.button_border_color_dark, '#1a1d23')).toBeGreaterThanOrEqual(1.6);
      }),
      { numRuns: 2000 },
    );
  });

  it('leave a colour alone that is readable already', () => {
    const context = brandingContext({ ...defaultBranding, primary_color: '#5B5BD6' });
    expect(context.link_color).toBe('#5B5BD6');
    expect(context.button_text_color).toBe('#ffffff');
  });

  it('put white on the default green, a shade darker, and keep a yellow as it is', () => {
    const green = brandingContext(defaultBranding);
    expect(green.primary_color).toBe('#00a071');
    expect(green.button_text_color).toBe('#ffffff');
    expect(contrast(green.button_color, '#ffffff')).toBeGreaterThanOrEqual(4.5);
    const yellow = brandingContext({ ...defaultBranding, primary_color: '#ffd400' });
    expect(yellow.button_color).toBe('#ffd400');
    expect(yellow.button_text_color).toBe('#15181f');
  });

  it('suit the layout where no background is set', () => {
    const ground = (layout: 'card' | 'letter') =>
      brandingContext({ ...defaultBranding, layout }).ground_color;
    expect([ground('card'), ground('letter')]).toEqual(['#f4f5f7', '#ffffff']);
  });
});

describe('the name and the font', () => {
  it('are the account’s name and the system’s font where none is set', () => {
    const named = brandingContext(defaultBranding, { name: 'Kestrel Labs' });
    expect(named.brand_name).toBe('Kestrel Labs');
    expect(named.font_family).toMatch(/^-apple-system,.*,sans-serif$/);
    const own = { ...defaultBranding, brand_name: 'Kestrel', font: 'Inter, Arial' };
    expect(brandingContext(own, { name: 'Kestrel Labs' }).brand_name).toBe('Kestrel');
    expect(brandingContext(own).font_family).toMatch(/^Inter,Arial,-apple-system,/);
    expect(brandingContext({ ...own, font: 'serif' }).font_family).toMatch(/Georgia.*,serif$/);
  });
});
