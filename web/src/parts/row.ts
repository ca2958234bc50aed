// What a row of a list is, to the keyboard: a link over the whole width, a card, a line of a table.
// Said of the row alone: one that was removed has nothing around it.
export const ROW = '.row-link, .row-card, tr';

/** Those that are walked through. */
export const ROWS = '#main :is(.row-link, .row-card, .row-table tbody tr)';
