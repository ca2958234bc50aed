// The fields of a log line, in docs/operations.md: made from the one list of them.
import { readFileSync } from 'node:fs';
import { LOG_FIELDS } from '../src/process/log-fields.ts';
import { between, table } from './marked-tables.ts';

export const OPERATIONS_PAGE = 'docs/operations.md';

export function withLogFields(): string {
  return between(readFileSync(OPERATIONS_PAGE, 'utf8'), 'log fields', () =>
    table(
      ['field', 'type', ''],
      Object.entries(LOG_FIELDS).map(([name, { type, about }]) => [`\`${name}\``, type, about]),
    ),
  );
}
