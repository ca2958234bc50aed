// The audit as an operation: who changed what.
import { z } from 'zod';
import { type AuditRow, listAudit } from '../audit/audit.ts';
import { listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';

const fields = z.record(z.string(), z.unknown()).nullable();

const auditEntry = z
  .object({
    id: z.string().describe('Id of the entry.'),
    at: z.string().describe('When: ISO 8601, UTC.'),
    actor: z
      .object({
        kind: z.enum(['key', 'person', 'command']).describe('An API key, a person, or a command.'),
        id: z.string().nullable().describe('Id of the key or the person.'),
        name: z.string().nullable().describe('Name of the key, or the person’s address.'),
      })
      .describe('Who did it.'),
    door: z.string().describe('Where it was done: rest, mcp, dashboard or cli.'),
    action: z.string().describe('The operation, such as publish_template.'),
    target: z.string().describe('What it was done to.'),
    before: fields.describe('What changed, as it was before. Never a secret.'),
    after: fields.describe('What changed, as it is since.'),
    request_id: z.string().describe('The request, as the log names it.'),
  })
  .meta({ id: 'AuditEntry' });

const show = ({ requestId, before, after, ...row }: AuditRow) => ({
  ...row,
  before: before ?? null,
  after: after ?? null,
  request_id: requestId,
});

export const auditOperations = [
  operation({
    name: 'list_audit',
    title: 'List changes',
    summary: 'Every change of the account: who made it, when, through which door. Newest first.',
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
    async run({ database }, { accountId }, { action, target, cursor, limit }) {
      const rows = await listAudit(database, accountId, { action, target, cursor, limit });
      return pageOf(rows, limit, (last) => last.id, show);
    },
  }),
];
