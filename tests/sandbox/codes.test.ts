// One-time codes: found where an email has one, and nowhere else. The catalogue's own templates, in
// every language, are part of the corpus: one of them carries a code, the others carry every other
// kind of number. And every link that a template is filled with is found.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codesIn } from '../../src/sandbox/codes.ts';
import { linksInHtml } from '../../src/sandbox/links.ts';
import { bareBranding, catalog, fullBranding, render, templates } from '../support/catalog.ts';

describe('emails with a code', () => {
  it.each<[subject: string, text: string, code: string]>([
    ['Your code', 'Your verification code is 123456.', '123456'],
    [
      'Sign in to Acme',
      'Use this code to sign in:\n\n482913\n\nIt works for 10 minutes.',
      '482913',
    ],
    ['482913 is your Acme code', 'Type it on the page where you started.', '482913'],
    ['Acme', 'G-553421 is your Google verification code.', 'G-553421'],
    ['Login code', 'Enter 123 456 to continue', '123456'],
    ['Confirm', 'Code: 123-456', '123456'],
    ['Confirm', 'Your PIN:\n\n1 2 3 4 5 6\n', '123456'],
    ['Confirm', 'Your passcode is 4821', '4821'],
    ['Confirm', 'Your one-time password is 99887766. Do not share it.', '99887766'],
    ['Device', 'Enter this code on your device:\n\nWDJB-MJHT\n', 'WDJB-MJHT'],
    ['Slack confirmation code: 7KQ-M9X', 'Hello', '7KQ-M9X'],
    ['Confirm', 'Your access code is 7KQ2M9 and expires soon.', '7KQ2M9'],
    ['Anmeldung', 'Ihr Bestätigungscode lautet: 774411', '774411'],
    ['Connexion', 'Votre code de vérification est 20261 et expire dans 10 minutes.', '20261'],
    ['Acceso', 'Tu código de verificación es 902113', '902113'],
    ['登录', '您的验证码是 883311，请勿泄露。', '883311'],
    ['ログイン', '認証コード：\n\n664422\n', '664422'],
    ['Вход', 'Ваш код: 551177', '551177'],
    ['تسجيل الدخول', 'أدخل الرمز:\n\n\u2068551 177\u2069\n', '551177'],
    ['Sign in', 'Your code is:\r\n\r\n    204813   \r\n\r\nThanks', '204813'],
    ['Sign in', 'Your code is **204813**.', '204813'],
    // It looks like a year, but stands where codes stand.
    ['Your code', 'Enter this code:\n\n2024\n', '2024'],
    [
      'Your code',
      'Order 558812 is on hold. Your security code is 771203. Call +1 415 555 0100.',
      '771203',
    ],
    [
      'Your code',
      'Since 2019 we … Your code: 771203\n© 2026 Acme, 1234 Market Street, CA 94103',
      '771203',
    ],
    ['Your code', 'Code: 771203\n\nhttps://acme.example/verify?code=991122&id=12345678', '771203'],
  ])('%s / %j', (subject, text, code) => {
    expect(codesIn(subject, text)).toEqual([code]);
  });

  it('names the likeliest first, and each once', () => {
    const text = 'Your code is 111222.\n\n333444\n\nYour code is 111222.';
    expect(codesIn('', text)).toEqual(['333444', '111222']);
  });
});

describe('emails without one', () => {
  it.each<[subject: string, text: string]>([
    ['Invoice 2026', 'You paid $1,234.00 on November 16, 2026. Invoice no. 20260017.'],
    ['Your order #48213', 'Order 48213 has shipped. Tracking number: 99887766'],
    ['Receipt', 'Total: 1299 EUR. Card ending in 4242.'],
    ['Call us', 'Our phone: +49 30 1234567 or (415) 555-0100. Ask for the code of conduct.'],
    ['Sale', 'Use promo code SAVE20 before 31 December 2026. 2500 points.'],
    ['Sale', 'Discount code: 202020'],
    ['Address', 'Acme, 1234 Market Street, Suite 5678, San Francisco, CA 94103. Postal code 94103'],
    ['Build', 'Build 48213 failed with status 1234. The source code is at /repo/1234.'],
    ['Event', 'Doors open at 1900 on 2026-11-20. Room 1204.'],
    ['Usage', 'You have used 8000 of 10000 requests. Your API tokens are safe.'],
    ['Meeting', 'Meeting ID: 884 2213 9971'],
    ['Security', 'We will never ask for your code. The sign-in was at 10:22 in 2026.'],
    ['Nothing', ''],
  ])('%s / %j', (subject, text) => {
    expect(codesIn(subject, text)).toEqual([]);
  });
});

it('is found in every code that a person may be sent', () => {
  const digits = fc.stringMatching(/^\d{6}$/);
  fc.assert(
    fc.property(digits, (code) => {
      expect(codesIn('Sign in', `Your code:\n\n${code}\n\nIt works for 10 minutes.`)).toEqual([
        code,
      ]);
      expect(codesIn('', `${code} is your Acme verification code`)).toEqual([code]);
    }),
  );
});

describe('the catalogue', () => {
  // A ticket is shown at a door; nobody signs in with it.
  const CODES: Record<string, string[]> = { 'one-time-code': ['482913'] };

  it.each(templates.map((template) => [template.slug, template] as const))(
    '%s',
    (slug, template) => {
      for (const locale of Object.keys(catalog.common)) {
        for (const branding of [fullBranding, bareBranding]) {
          const { subject, text } = render(template, branding, template.sample, locale);
          expect(codesIn(subject, text), `${locale}: ${text}`).toEqual(CODES[slug] ?? []);
        }
      }
    },
  );

  it('its links are found in every language', () => {
    for (const locale of Object.keys(catalog.common)) {
      for (const template of templates) {
        const { html } = render(template, fullBranding, template.sample, locale);
        const links = linksInHtml(html, () => undefined);
        for (const [wanted] of JSON.stringify(template.sample).matchAll(/https:[^"]+/g)) {
          if (wanted.endsWith('.png')) continue;
          // Where the answer to a question is chosen by the link, it stands behind the address.
          const found = links.some(({ url, text }) => url.startsWith(wanted) && text !== '');
          expect(found, `${template.slug} in ${locale}: ${wanted}`).toBe(true);
        }
      }
    }
  });
});
