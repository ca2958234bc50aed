// The account and its plan; and for operators, all accounts.
import { z } from 'zod';
import { changeAccount, createAccount } from '../../accounts/accounts.ts';
import { resumeAccount, suspendAccount } from '../../accounts/suspension.ts';
import { Problem } from '../../errors.ts';
import { inviteAsOperator } from '../../notices/invitation-mail.ts';
import { messageUuid } from '../../operations/message-lookup.ts';
import { readEmail } from '../../people/users.ts';
import { listSetAside, releaseSetAside } from '../../queue/quarantine.ts';
import { listOperatorAccounts, readAccountView, readOperatorAccount } from '../account-views.ts';
import type { Works } from '../route.ts';

const name = z.string().trim().min(1, 'give it a name').max(200);
const figures = {
  dailyQuota: z.number().int().min(0).max(2_000_000_000).optional(),
  ratePerSecond: z.number().int().min(1).max(1_000_000).optional(),
};
const plan = z.enum(['free', 'paid']);

export const accountRoutes: Works<'getAccount' | 'changeAccount'> = {
  getAccount: { run: (deps, { accountId }) => readAccountView(deps, accountId) },

  changeAccount: {
    body: z.strictObject({
      name: name.optional(),
      trackOpens: z.boolean().optional(),
      trackClicks: z.boolean().optional(),
      oneClickUnsubscribe: z.boolean().optional(),
    }),
    async run(deps, { accountId, body }) {
      await changeAccount(deps.database, accountId, body);
      return await readAccountView(deps, accountId);
    },
  },
};

export const operatorRoutes: Works<
  | 'listAccounts'
  | 'createAccount'
  | 'changeOperatedAccount'
  | 'suspendAccount'
  | 'resumeAccount'
  | 'listQuarantine'
  | 'releaseFromQuarantine'
> = {
  listAccounts: {
    async run(deps) {
      return { accounts: await listOperatorAccounts(deps) };
    },
  },

  createAccount: {
    body: z.strictObject({ name, plan, ...figures, ownerEmail: z.string().max(320).optional() }),
    async run(deps, { body, session }) {
      const { ownerEmail, ...wish } = body;
      const email = ownerEmail && readEmail(ownerEmail);
      const { id } = await createAccount(deps.database, {
        ...wish,
        ...(deps.rampStart === undefined ? {} : { rampStart: deps.rampStart }),
      });
      const invited = email
        ? await inviteAsOperator(deps, {
            ...{ accountId: id, email, role: 'owner' },
            by: session.user,
          })
        : null;
      return { account: await readOperatorAccount(deps, id), invited };
    },
  },

  changeOperatedAccount: {
    body: z.strictObject({ name: name.optional(), plan: plan.optional(), ...figures }),
    async run(deps, { params, body }) {
      const id = readAccountId(params.id);
      await changeAccount(deps.database, id, body);
      deps.directory.forget(id);
      return await readOperatorAccount(deps, id);
    },
  },

  suspendAccount: {
    body: z.strictObject({
      reason: z.string().trim().min(1, 'say why: the account’s people read it').max(500),
    }),
    async run(deps, { params, body }) {
      const id = readAccountId(params.id);
      await suspendAccount(deps.database, id, body.reason);
      deps.directory.forget(id);
      return await readOperatorAccount(deps, id);
    },
  },

  resumeAccount: {
    async run(deps, { params }) {
      const id = readAccountId(params.id);
      await resumeAccount(deps.database, id);
      deps.directory.forget(id);
      return await readOperatorAccount(deps, id);
    },
  },

  listQuarantine: {
    async run(deps) {
      const found = await listSetAside(deps.database, 100);
      return {
        items: found.map(({ attempts: _, remaining: __, ...mail }) => mail),
      };
    },
  },

  releaseFromQuarantine: {
    async run(deps, { params }) {
      await releaseSetAside(deps.database, messageUuid(params.id));
      return {};
    },
  },
};

function readAccountId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Problem('not-found', `There is no account ${text.slice(0, 20)}.`);
}
