// The links of an email, for tests that follow them: each target and its text. Before it:
// captured-email.ts. A tracked link is shown with its target, which is what a test knows.
import { Tokens } from '../html/tokens.ts';

export interface EmailLink {
  /** The target. */
  url: string;
  /** The words of the link; empty for images and in plain text. */
  text: string;
  /** As it is in the email, if clicks are tracked; following it counts as a click. */
  trackedUrl: string | null;
}

const MOST_LINKS = 100;
const LONGEST_TEXT = 200;
const LONGEST_URL = 4000;
/** With an authority, so links into apps are included and `mailto:`, `cid:` and `data:` are not. */
const WEB_OR_APP = /^[a-z][a-z\d+.-]{1,30}:\/\//i;

/** `targetOf`: the target of a tracked link; undefined for any other link. */
export type TargetOf = (url: string) => string | undefined;

export function linksInHtml(html: string, targetOf: TargetOf): EmailLink[] {
  const tokens = new Tokens(html, ['href']);
  const links: EmailLink[] = [];
  let open: EmailLink | undefined;
  while (tokens.next() && (links.length < MOST_LINKS || open !== undefined)) {
    const { name } = tokens.element;
    if (tokens.kind === 'text') {
      if (open !== undefined && open.text.length < LONGEST_TEXT && !tokens.element.hidden) {
        open.text += tokens.words();
      }
    } else if (name === 'a' || name === 'area') {
      const href = tokens.kind === 'open' ? tokens.attribute('href')?.trim() : undefined;
      open = href === undefined ? undefined : linkTo(href, targetOf);
      if (open !== undefined) links.push(open);
    }
  }
  return links.map((link) => ({ ...link, text: shortened(link.text) }));
}

/** For an email without HTML: the URLs in its text. */
export function linksInText(text: string, targetOf: TargetOf): EmailLink[] {
  const links: EmailLink[] = [];
  for (const [found] of text.matchAll(/(?<![a-z\d])[a-z][a-z\d+.-]{1,30}:\/\/[^\s<>"]{1,4000}/gi)) {
    // Punctuation that ends the sentence or the bracket around it is not part of the URL.
    const link = linkTo(found.replace(/[.,;:!?)\]}'’”]{1,5}$/, ''), targetOf);
    if (link !== undefined) links.push(link);
    if (links.length >= MOST_LINKS) break;
  }
  return links;
}

function linkTo(href: string, targetOf: TargetOf): EmailLink | undefined {
  if (!WEB_OR_APP.test(href) || href.length > LONGEST_URL) return undefined;
  const target = targetOf(href);
  return { url: target ?? href, text: '', trackedUrl: target === undefined ? null : href };
}

const shortened = (text: string): string =>
  text
    .slice(0, LONGEST_TEXT * 2)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, LONGEST_TEXT);
