// The service itself, for operators: which processes run, and emails that were set aside and wait
// for an operator.
import { z } from 'zod';
import { Problem } from '../errors.ts';
import { readUuid } from '../ids.ts';
import {
  isPlaceInList,
  listSetAside,
  releaseSetAside,
  type SetAside,
} from '../queue/quarantine.ts';
import { readRelayStates } from '../smtp/relay-state.ts';
import { describeRole, listProcesses, readRoles } from '../store/processes.ts';
import { listOf, page, pageOf, wrongCursor } from './lists.ts';
import { operation } from './operation.ts';

const setAside = z
  .object({
    id: z.string().describe('Id of the message.'),
    account_id: z.number().int().describe('The account that sent it.'),
    since: z.string().describe('Since when it is set aside: ISO 8601, UTC.'),
    reason: z.string().describe('Why it could not be read, composed or recorded.'),
    attempts: z.number().int().describe('How often it was tried.'),
    remaining: z
      .array(z.string())
      .nullable()
      .describe('Recipients who have not got it yet; null: all of them.'),
  })
  .meta({ id: 'SetAsideMessage' });

const show = ({ accountId, ...one }: SetAside): z.output<typeof setAside> => ({
  ...one,
  account_id: accountId,
});

export const serviceOperations = [
  operation({
    name: 'get_service_state',
    title: 'Read the state of the service',
    summary: 'Which processes are running, and whether a role is missing. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject({}),
    output: z.object({
      roles: z
        .array(
          z.object({
            role: z.string().describe('The role.'),
            running: z.number().int().describe('Processes with it that were seen lately.'),
            missing: z.boolean().describe('None is running, and one should be.'),
            detail: z.string().describe('Its state, in a sentence.'),
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
            started_at: z.string().describe('Since when it has been running: ISO 8601, UTC.'),
          }),
        )
        .describe('Processes that were seen lately.'),
      relays_without_reports: z
        .array(z.string())
        .describe(
          'Relays that offer no DSN and belong to no provider that notifies us: email through them is never marked `delivered`.',
        ),
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
      const states = [...(await readRelayStates(database))];
      const silent = states.filter(([, found]) => found.some(({ reports }) => reports === false));
      return { roles, processes, relays_without_reports: silent.map(([name]) => name) };
    },
  }),

  operation({
    name: 'list_quarantine',
    title: 'List emails that were set aside',
    summary:
      'Emails that could not be read, composed or recorded, and are not retried until they are released. Oldest first. For operators only.',
    effect: 'reads',
    scope: 'accounts:read',
    input: z.strictObject(page),
    output: listOf('messages', setAside),
    rest: { method: 'GET', path: '/v1/quarantine' },
    client: 'quarantine.list',
    async run({ database }, _, { limit, cursor }) {
      if (cursor !== undefined && !isPlaceInList(cursor)) throw wrongCursor();
      const found = await listSetAside(database, { limit, after: cursor });
      return pageOf(found, limit, (last) => `${last.since} ${last.id}`, show);
    },
  }),

  operation({
    name: 'release_from_quarantine',
    title: 'Release an email that was set aside',
    summary: 'Queues it again. Fix the cause first. For operators only.',
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
    title: 'Release all emails that were set aside',
    summary: 'Queues all of them again. Fix the cause first. For operators only.',
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
