// What a line of the log says: fields of the one list only, and a text that is written out. Both
// are checked by TypeScript (npm run check), which fails where an error that is expected here is
// none.
import { expect, it } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { LOG_FIELDS, type LogFields } from '../../src/process/log-fields.ts';
import { recurringFault } from '../../src/process/recurring-fault.ts';

const log = createLog('silent');
const name = String(process.pid);

it('has no other field than those of the list, wherever they come from', () => {
  log.info({ account: 7, why: 'full' }, 'written out');
  // @ts-expect-error: not in the list
  log.info({ reason: 'full' }, 'written out');
  const found = { account: 7, reason: 'full' };
  // @ts-expect-error: nor does it come in with an object …
  log.info(found, 'written out');
  // @ts-expect-error: … or with the fields of one
  log.info({ ...found, why: 'full' }, 'written out');
  // @ts-expect-error: a name means one thing
  log.info({ account: 'seven' }, 'written out');
});

it('has a constant text', () => {
  const full = process.pid > 0;
  log.info(full ? 'the queue is full' : 'the queue has room again');
  // @ts-expect-error: what varies is a field
  log.info(`the queue of ${name} is full`);
  // @ts-expect-error
  log.warn({ account: 7 }, name);
  // @ts-expect-error
  recurringFault(log, 'warn', `could not read ${name}`);
});

it('says what each field means, in words that fit a table', () => {
  for (const [field, { about }] of Object.entries(LOG_FIELDS)) {
    expect([field, about]).toEqual([field, expect.stringMatching(/^[^|\n]{5,}[^.]$/)]);
  }
  const some: LogFields = { err: new Error('any'), ms: 5 };
  log.debug(some, 'written out');
});
