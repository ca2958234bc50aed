// What a page about templates has read.
import type { OperationName } from '../../operations.ts';

/** The reads that a change of the account's own templates makes stale. */
export const templateReads = [
  'templates.list',
  'templates.listOwn',
  'templates.listVersions',
  'templates.getVersion',
  'templates.render',
  'templates.renderSeveral',
] satisfies OperationName[];
