// The service itself, for operators: which processes run, and mails that were set aside and wait
// for a person.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import { listSetAside, releaseSetAside, type SetAside } from '../queue/quarantine.ts';
import { describeRole, listProcesses, readRoles } from '../store/processes.ts';
import { listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';

const setAside = z
  .object({
    id: z.string().describe('Id of the message.'),
    account_id: z.number().int().describe('The account that sent it.'),
    since: z.string().describe('Since when it is set aside: ISO 8601, UTC.'),
    reason: z.string().describe('Why it could not be read, made or recorded.'),
    attempts: z.number().int().describe('How often it was tried.'),
    remaining: z
      .array(z.string())
      .nullable()
      .describe('Recipients that did not get it yet; null: all of them.'),
  })
  .meta({ id: 'SetAsideMessage' });

const show = ({ accountId, ...one }: SetAside): z.output<typeof setAside> => ({
  ...one,
  account_id: accountId,
});

export const serviceOperations = [
  operation({
    name: 'get_service_state',
    title: 'Read how the service does',
    summary: 'Which processes run, and whether a role is missing. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({}),
    output: z.object({
      roles: z
        .array(
          z.object({
            role: z.string().describe('The role.'),
            running: z.number().int().describe('Processes with it that were seen lately.'),
            missing: z.boolean().describe('None runs, and one should.'),
            detail: z.string().describe('How it does, in a sentence.'),
          }),
        )
        .describe('Every role there is.'),
      processes: z
        .array(
          z.object({
            host: z.string().describe('The machine.'),
            pid: z.number().int().describe('The process there.'),
            roles: z.array(z.string()).describe('What it does.'),
            version: z.string().describe('Of the service.'),
            started_at: z.string().describe('Since when it runs: ISO 8601, UTC.'),
          }),
        )
        .describe('Processes that were seen lately.'),
    }),
    rest: { method: 'GET', path: '/v1/service' },
    client: 'service.get',
    async run({ database }) {
      const roles = (await readRoles(database)).map((state) => ({
        ...{ role: state.role, running: state.running, missing: state.missing },
        detail: describeRole(state),
      }));
      const processes = (await listProcesses(database)).map(({ startedAt, ...it }) => ({
        ...it,
        started_at: startedAt,
      }));
      return { roles, processes };
    },
  }),

  operation({
    name: 'list_quarantine',
    title: 'List mails that were set aside',
    summary:
      'Mails that could not be read, made or recorded, and are not tried until they are released. Oldest first. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject(page),
    output: listOf('messages', setAside),
    rest: { method: 'GET', path: '/v1/quarantine' },
    client: 'quarantine.list',
    async run({ database }, _, { limit, cursor }) {
      const found = await listSetAside(database, { limit, after: cursor });
      return pageOf(found, limit, (last) => `${last.since} ${last.id}`, show);
    },
  }),

  operation({
    name: 'release_from_quarantine',
    title: 'Release a mail that was set aside',
    summary: 'It is due again. Mend the cause first. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({ id: z.string().max(64).describe('Id of the message.') }),
    output: z.object({ released: z.number().int().describe('How many are due again.') }),
    rest: { method: 'POST', path: '/v1/quarantine/{id}/release' },
    client: 'quarantine.release',
    async run({ database }, _, { id }, via) {
      const uuid = readUuid('msg_', id);
      if (uuid === undefined) {
        throw new Problem('not-found', `${id.slice(0, 64)} is not the id of a message.`);
      }
      const released = await releaseSetAside(database, uuid);
      via.note({ target: id });
      return { released };
    },
  }),

  operation({
    name: 'release_all_from_quarantine',
    title: 'Release all mails that were set aside',
    summary: 'All of them are due again. Mend the cause first. For operators only.',
    effect: 'changes',
    scope: 'accounts:write',
    input: z.strictObject({}),
    output: z.object({ released: z.number().int().describe('How many are due again.') }),
    rest: { method: 'POST', path: '/v1/quarantine/release' },
    client: 'quarantine.releaseAll',
    async run({ database }, _caller, _input, via) {
      const released = await releaseSetAside(database, 'all');
      via.note({ target: 'all', after: { released } });
      return { released };
    },
  }),
];
