// Senders: domains with their DNS records, addresses that are proved by a link.
import { z } from 'zod';
import { addDomain, checkDomain } from '../../accounts/domains.ts';
import {
  addIdentity,
  getIdentity,
  normaliseIdentity,
  removeIdentity,
} from '../../accounts/identities.ts';
import { Problem } from '../../errors.ts';
import { sendVerificationMail } from '../../notices/verification-mail.ts';
import type { DashboardDeps } from '../deps.ts';
import type { Works } from '../route.ts';
import { listSenderViews, readAddressView, readDomainView } from '../sender-views.ts';

type Names =
  | 'listSenders'
  | 'addDomain'
  | 'checkDomain'
  | 'removeDomain'
  | 'addAddress'
  | 'verifyAddress'
  | 'removeAddress';

export const senderRoutes: Works<Names> = {
  listSenders: { run: (deps, { accountId }) => listSenderViews(deps, accountId) },

  addDomain: {
    body: z.strictObject({ domain: z.string().max(255) }),
    async run(deps, { accountId, body }) {
      if (body.domain.includes('@')) {
        throw new Problem('invalid', 'domain: this is an address. Add it as an address.');
      }
      const added = await addDomain(withDomains(deps), accountId, body.domain, false);
      return await readDomainView(deps, accountId, added.domain);
    },
  },

  checkDomain: {
    async run(deps, { accountId, params }) {
      const { value } = await ownIdentity(deps, accountId, params.domain);
      await checkDomain(withDomains(deps), accountId, value);
      return await readDomainView(deps, accountId, value);
    },
  },

  removeDomain: {
    async run(deps, { accountId, params }) {
      await ownIdentity(deps, accountId, params.domain);
      await removeIdentity(deps.database, accountId, params.domain);
      return {};
    },
  },

  addAddress: {
    body: z.strictObject({ address: z.string().max(320) }),
    async run(deps, { accountId, body }) {
      if (!body.address.includes('@')) {
        throw new Problem('invalid', 'address: this is a domain. Add it as a domain.');
      }
      const added = await addIdentity(deps.database, accountId, body.address, false);
      const note = added.verified ? null : await mailLink(deps, accountId, added.value);
      return { ...(await readAddressView(deps, accountId, added.value)), note };
    },
  },

  verifyAddress: {
    async run(deps, { accountId, params }) {
      const { value } = await ownIdentity(deps, accountId, params.address);
      const note = await mailLink(deps, accountId, value);
      return { ...(await readAddressView(deps, accountId, value)), note };
    },
  },

  removeAddress: {
    async run(deps, { accountId, params }) {
      await ownIdentity(deps, accountId, params.address);
      await removeIdentity(deps.database, accountId, params.address);
      return {};
    },
  },
};

const withDomains = (deps: DashboardDeps) => ({
  ...deps,
  bounceDomain: deps.service().bounceDomain,
});

/** What is no address and no domain is not the account's either. */
async function ownIdentity(deps: DashboardDeps, accountId: number, text: string) {
  try {
    normaliseIdentity(text);
  } catch {
    throw new Problem('not-found', `This account has no sender ${text.slice(0, 200)}.`);
  }
  return await getIdentity(deps.database, accountId, text);
}

/** Null: it was mailed. Else why not; the address stays, and an operator can vouch for it. */
async function mailLink(
  deps: DashboardDeps,
  accountId: number,
  address: string,
): Promise<string | null> {
  try {
    await sendVerificationMail(deps, accountId, address);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.detail;
  }
}
