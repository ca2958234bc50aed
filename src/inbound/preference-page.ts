// The preference page as a document: the account's name and colours, a switch for each stream, a
// way to leave all. Before it: preferences.ts knows what to show. It works without script and is
// read by screen readers; every word that people wrote is escaped.
import { escapeAttribute as escaped } from '../html/references.ts';
import type { Stream } from '../streams/streams.ts';
import { brandingContext } from '../templates/branding.ts';
import type { Branding } from '../templates/branding-fields.ts';
import type { Document } from './page.ts';

export interface Choice extends Pick<Stream, 'name' | 'title' | 'description'> {
  wanted: boolean;
}

export interface PreferencePage {
  address: string;
  /** Whose emails they are. */
  sender: string;
  branding: Branding;
  choices: Choice[];
  /** They have left every stream, including later ones. */
  none: boolean;
  /** Nothing at all is sent there, whatever is chosen here. */
  suppressed: boolean;
  /** They have just chosen. */
  saved: boolean;
}

export function preferencePage(page: PreferencePage): Document {
  const { sender, address, choices, none, suppressed, saved } = page;
  return {
    title: `Email preferences – ${sender}`,
    style: styleOf(page.branding),
    body: [
      headOf(page),
      '<h1>Email preferences</h1>',
      saved ? '<p class="note" role="status">Your choices are saved.</p>' : '',
      suppressed
        ? `<p class="note">No email is sent to this address at the moment: earlier ones came back, were reported as unwanted, or were stopped by ${escaped(sender)}. What you choose here takes effect once that changes.</p>`
        : '',
      `<p>What may ${escaped(sender)} send to <strong>${escaped(address)}</strong>?</p>`,
      choices.length === 0 ? '<p>There is nothing to choose at the moment.</p>' : formOf(choices),
      none
        ? '<p>You are unsubscribed from everything, including what may be added later.</p>'
        : NO_MORE,
      '<p class="small">Emails about signing in and about the security of your account always reach you.</p>',
      footOf(page.branding),
    ].join('\n'),
  };
}

const formOf = (choices: readonly Choice[]): string => `<form method="post">
<fieldset>
<legend>Emails you get</legend>
${choices.map(switchOf).join('\n')}
</fieldset>
<button type="submit">Save</button>
</form>`;

/**
 * The form also sends which streams it offered: nobody has refused a stream created in the
 * meantime.
 */
const switchOf = ({ name, title, description, wanted }: Choice): string =>
  `<div class="choice">
<input type="hidden" name="asked" value="${escaped(name)}">
<input type="checkbox" name="wanted" value="${escaped(name)}" id="stream-${escaped(name)}"${wanted ? ' checked' : ''}${description === '' ? '' : ` aria-describedby="about-${escaped(name)}"`}>
<label for="stream-${escaped(name)}">${escaped(title)}</label>${
    description === '' ? '' : `\n<p id="about-${escaped(name)}">${escaped(description)}</p>`
  }
</div>`;

const NO_MORE = `<form method="post" class="all">
<input type="hidden" name="none" value="yes">
<button type="submit" class="quiet">Unsubscribe from everything</button>
</form>`;

function headOf({ branding: { logo_url }, sender }: PreferencePage): string {
  const logo = logo_url?.startsWith('https://')
    ? `<img src="${escaped(logo_url)}" alt="${escaped(sender)}">`
    : `<strong>${escaped(sender)}</strong>`;
  return `<header>${logo}</header>`;
}

function footOf({ support_email, support_url, privacy_policy_url, terms_url }: Branding): string {
  const links = [
    [support_email && `mailto:${support_email}`, support_email],
    [support_url, 'Help'],
    [privacy_policy_url, 'Privacy Policy'],
    [terms_url, 'Terms & Conditions'],
  ].flatMap(([to, text]) =>
    to ? [`<a href="${escaped(to)}" rel="noreferrer">${escaped(text!)}</a>`] : [],
  );
  return links.length === 0 ? '' : `<footer class="small">${links.join(' · ')}</footer>`;
}

/** Colours were checked when they were saved: each is #rrggbb. */
function styleOf(branding: Branding): string {
  const context = brandingContext(branding);
  return `  :root { --button: ${context.button_color}; --on-button: ${context.button_text_color}; --edge: ${context.button_border_color}; --radius: ${context.button_radius}px; }
  @media (prefers-color-scheme: dark) { :root { --edge: ${context.button_border_color_dark}; } }
  body { margin-top: 8vh; }
  header { margin-bottom: 2rem; font-size: 1.15rem; }
  header img { max-width: 12rem; max-height: 4rem; }
  fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; }
  legend { font-weight: 600; padding: 0; margin-bottom: .5rem; }
  .choice { display: grid; grid-template-columns: 1.75rem 1fr; padding: .6rem 0; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
  .choice input { width: 1.15rem; height: 1.15rem; margin: .2rem 0 0; accent-color: var(--button); }
  .choice label { font-weight: 600; cursor: pointer; }
  .choice p { grid-column: 2; margin: 0; }
  .all { margin: 1.5rem 0; }
  .quiet { background: none; color: inherit; border-color: currentColor; }
  .note { padding: .6rem .9rem; border-left: 4px solid var(--edge); background: color-mix(in srgb, currentColor 8%, transparent); }
  .small { font-size: .9rem; }
  footer { margin-top: 2rem; }
`;
}
