// The audit as an operation: who changed what.
import { z } from 'zod';
import type { Caller } from '../accounts/directory.ts';
import { isOperators } from '../accounts/scopes.ts';
import { type AuditRow, listAudit } from '../audit/audit.ts';
import { accountsOperations } from './accounts.ts';
import { checkCursor, listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';
import { relayOperations } from './relays.ts';
import { serviceOperations } from './service.ts';

const fields = z.record(z.string(), z.unknown()).nullable();

const auditEntry = z
  .object({
    id: z.string().describe('Id of the entry.'),
    at: z.string().describe('When: ISO 8601, UTC.'),
    actor: z
      .object({
        kind: z.enum(['key', 'person', 'command']).describe('An API key, a person, or a command.'),
        id: z.string().nullable().describe('Id of the key or the person.'),
        name: z
          .string()
          .nullable()
          .describe(
            'Name of the key, or the person’s address; `operator` for whoever runs the service.',
          ),
      })
      .describe('Who did it.'),
    door: z.string().describe('Where it was done: rest, mcp, dashboard or cli.'),
    action: z.string().describe('The operation, such as publish_template.'),
    target: z.string().describe('What it was done to.'),
    before: fields.describe('What changed, as it was before. Never a secret.'),
    after: fields.describe('What changed, as it is now.'),
    request_id: z.string().describe('The request, as the log names it.'),
  })
  .meta({ id: 'AuditEntry' });

/** What only operators of the service do, including to accounts that they are not members of. */
export const BY_OPERATORS: ReadonlySet<string> = new Set(
  [...accountsOperations, ...serviceOperations, ...relayOperations]
    .filter(({ scope }) => isOperators(scope))
    .map(({ name }) => name),
);

/** Operators may know who runs the service; the accounts that they change may not. */
const actorFor = ({ scopes }: Caller, { action, actor }: AuditRow): AuditRow['actor'] =>
  BY_OPERATORS.has(action) && actor.kind === 'person' && !scopes.has('accounts:read')
    ? { kind: 'person', id: null, name: 'operator' }
    : actor;

const show = (caller: Caller, row: AuditRow) => shown({ ...row, actor: actorFor(caller, row) });

const shown = ({ requestId, before, after, ...row }: AuditRow) => ({
  ...row,
  before: before ?? null,
  after: after ?? null,
  request_id: requestId,
});

export const auditOperations = [
  operation({
    name: 'list_audit',
    title: 'List changes',
    summary:
      'Every change to the account: who made it, when, and through which door. Newest first.',
    effect: 'reads',
    scope: 'audit:read',
    input: z.strictObject({
      action: z.string().max(100).optional().describe('Only this operation.'),
      target: z.string().max(400).optional().describe('Only what was done to this.'),
      ...page,
    }),
    output: listOf('entries', auditEntry),
    rest: { method: 'GET', path: '/v1/audit' },
    client: 'audit.list',
    async run({ database }, caller, { action, target, cursor, limit }) {
      checkCursor('aud_', cursor);
      const rows = await listAudit(database, caller.accountId, { action, target, cursor, limit });
      return pageOf(
        rows,
        limit,
        (last) => last.id,
        (row) => show(caller, row),
      );
    },
  }),
];
