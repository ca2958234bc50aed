// How an email can be laid out: a card on a ground, a plain letter, or a header in the brand's
// colour. Imports nothing: pages read it too. Before: branding names one. After:
// catalog/layout.html.

export const LAYOUTS = ['card', 'letter', 'bold'] as const;
export type Layout = (typeof LAYOUTS)[number];
