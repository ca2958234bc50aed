// What the keyboard treats as a row of a list: a full-width link, a card, or a table row. The
// selectors depend on the row alone, because a removed row has nothing around it.
export const ROW = '.row-link, .row-card, tr';

/** The rows that j and k move through. */
export const ROWS = '#main :is(.row-link, .row-card, .row-table tbody tr)';
