// The suppression list as CSV: written by the command and by the dashboard, read by the command's
// import. An address is a stranger's text, and spreadsheets run what begins like a formula
// (=cmd|'/c'!a@example.com is a valid one): such a field is written behind an apostrophe, which
// import takes off again.
type Row = Record<'address' | 'reason' | 'created_at', string> &
  Record<'message_id' | 'stream', string | null>;

export const CSV_HEAD = 'address,reason,message_id,created_at,stream';

/** No field can hold a comma or a quote: addresses with quoted local parts are refused. */
export const csvLine = ({ address, reason, message_id, created_at, stream }: Row): string =>
  [address.replace(/^(?='*[=+\-@])/, "'"), reason, message_id ?? '', created_at, stream ?? ''].join(
    ',',
  );

/** Other programs quote every field; no comma or quote can be inside one here either. */
export const readCsvField = (field: string): string =>
  field
    .trim()
    .replace(/^"([^"]*)"$/, '$1')
    .replace(/^'(?='*[=+\-@])/, '');
