// Branding: what may be set, how a fault is told, and that derived colours stay readable whatever the brand colour is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Problem } from '../../src/errors.ts';
import { brandingContext, changeBranding, contrast } from '../../src/templates/branding.ts';
import { brandingFields, defaultBranding } from '../../src/templates/branding-fields.ts';

describe('setting branding', () => {
  it('starts with the documented defaults and nothing else', () => {
    expect(changeBranding(defaultBranding, {})).toEqual({
      primary_color: '#00a071',
      accent_color: '#00e5a0',
      button_radius: 8,
    });
  });

  it('keeps all ten fields as they were written', () => {
    const all = {
      brand_name: 'Alder & Finch',
      logo_url: 'https://cdn.example/logo.png?v=2&s=1',
      primary_color: '#2F5D50',
      accent_color: '#fb6',
      support_email: 'care@alderfinch.example',
      support_url: 'http://help.example/',
      footer_html: '<a href="https://x.example">Stop</a>',
      button_radius: 24,
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
      fc.property(color, color, (primary_color, accent_color) => {
        const context = brandingContext({ ...defaultBranding, primary_color, accent_color });
        expect(contrast(context.button_text_color, primary_color)).toBeGreaterThanOrEqual(4.5);
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
});
