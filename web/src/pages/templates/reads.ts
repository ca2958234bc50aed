// What a page about templates has read.
import { SandmartinError } from '../../../../src/client/calls.ts';
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

/** Refused because someone saved a later version. */
export const isStale = (fault: unknown): boolean =>
  fault instanceof SandmartinError && fault.code === 'stale';
