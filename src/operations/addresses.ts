// Addresses: senders verified by an emailed link.
import { z } from 'zod';
import { getAddress, listAddresses, type SenderAddress } from '../accounts/address-verification.ts';
import { addIdentity, removeIdentity } from '../accounts/identities.ts';
import { Problem } from '../errors.ts';
import { sendVerificationEmail } from '../notices/verification-email.ts';
import type { OperationDeps } from './deps.ts';
import { hidePlace, listOf, page, pageOf, readPlace } from './lists.ts';
import { operation } from './operation.ts';
import { addedBefore, mayVouch, verification, vouched } from './senders.ts';

const address = z
  .string()
  .max(320)
  .refine((text) => text.includes('@'), 'this is a domain. Add it as a domain.')
  .describe('An email address.')
  .meta({ example: 'hello@example.com' });

const senderAddress = z
  .object({
    address: z.string().describe('The address.'),
    ...verification,
    link_until: z
      .string()
      .nullable()
      .describe('Until when the emailed link works; null: there is none.'),
  })
  .meta({ id: 'SenderAddress' });

const asked = {
  verification_message: z.string().nullable().describe('Id of the message with the link.'),
  note: z.string().nullable().describe('Why no link was emailed, where one was needed.'),
};

const show = (one: SenderAddress): z.output<typeof senderAddress> => ({
  address: one.address,
  verified: one.verified,
  verified_by: one.verifiedBy,
  created_at: one.createdAt,
  link_until: one.linkUntil,
});

export const addressOperations = [
  operation({
    name: 'list_addresses',
    title: 'List sender addresses',
    summary: 'Single addresses that the account may send from once they are verified.',
    effect: 'reads',
    scope: 'senders:read',
    input: z.strictObject(page),
    output: listOf('addresses', senderAddress),
    rest: { method: 'GET', path: '/v1/addresses' },
    client: 'addresses.list',
    tool: { brief: 'Single addresses that may send once verified.', without: ['limit'] },
    async run({ database }, { accountId }, { limit, cursor }) {
      const found = await listAddresses(database, accountId, {
        after: readPlace(cursor),
        limit,
      });
      return pageOf(found, limit, (last) => hidePlace(last.address), show);
    },
  }),

  operation({
    name: 'get_address',
    title: 'Read a sender address',
    summary: 'Whether the address is verified, and until when its link works.',
    effect: 'reads',
    scope: 'senders:read',
    input: z.strictObject({ address }),
    output: senderAddress,
    rest: { method: 'GET', path: '/v1/addresses/{address}' },
    client: 'addresses.get',
    run: async ({ database }, { accountId }, wanted) =>
      show(await getAddress(database, accountId, wanted.address)),
  }),

  operation({
    name: 'add_address',
    title: 'Add a sender address',
    summary:
      'Emails a link to the address; opening it proves that the address is theirs. It works once, for two days.',
    effect: 'talks',
    scope: 'senders:write',
    input: z.strictObject({ address, vouched }),
    output: senderAddress.extend(asked),
    rest: { method: 'PUT', path: '/v1/addresses/{address}' },
    client: 'addresses.put',
    tool: {
      brief: 'Emails the address a link with which its owner verifies it.',
      destructive: false,
      idempotent: false,
      without: ['vouched'],
    },
    async run(deps, caller, wanted, via) {
      const { accountId } = caller;
      const known = mayVouch(caller, wanted.vouched);
      const before = await addedBefore(deps.database, accountId, wanted.address);
      const { value, verified } = await addIdentity(
        deps.database,
        accountId,
        wanted.address,
        known,
      );
      via.note({ target: value, before, after: { verified } });
      const mailed = verified
        ? { verification_message: null, note: null }
        : await emailLink(deps, accountId, value);
      return { ...show(await getAddress(deps.database, accountId, value)), ...mailed };
    },
  }),

  operation({
    name: 'verify_address',
    title: 'Email another link',
    summary: 'Emails a new link to an address that was added; the previous one stops working.',
    effect: 'talks',
    scope: 'senders:write',
    input: z.strictObject({ address }),
    output: senderAddress.extend(asked),
    rest: { method: 'POST', path: '/v1/addresses/{address}/verify' },
    client: 'addresses.verify',
    async run(deps, { accountId }, wanted, via) {
      const { address } = await getAddress(deps.database, accountId, wanted.address);
      const mailed = await emailLink(deps, accountId, address);
      via.note({ target: address, after: { verification_message: mailed.verification_message } });
      return { ...show(await getAddress(deps.database, accountId, address)), ...mailed };
    },
  }),

  operation({
    name: 'remove_address',
    title: 'Remove a sender address',
    summary: 'Email from it is refused from now on, unless its domain is verified.',
    effect: 'changes',
    scope: 'senders:write',
    input: z.strictObject({ address }),
    output: senderAddress,
    rest: { method: 'DELETE', path: '/v1/addresses/{address}' },
    client: 'addresses.remove',
    async run({ database }, { accountId }, wanted, via) {
      const removed = show(await getAddress(database, accountId, wanted.address));
      await removeIdentity(database, accountId, removed.address);
      via.note({ target: removed.address, before: { verified: removed.verified } });
      return removed;
    },
  }),
];

/** If no link can be emailed, the address stays, and an operator can vouch for it. */
async function emailLink(
  deps: OperationDeps,
  accountId: number,
  address: string,
): Promise<{ verification_message: string | null; note: string | null }> {
  try {
    const id = await sendVerificationEmail(deps, accountId, address);
    return { verification_message: id, note: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { verification_message: null, note: error.detail };
  }
}
