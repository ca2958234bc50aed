// Domains: senders that are proved by DNS records, and sign with keys of their own.
import { z } from 'zod';
import {
  addDomain,
  checkDomain,
  type Domain,
  getDomain,
  listDomains,
} from '../accounts/domains.ts';
import { removeIdentity } from '../accounts/identities.ts';
import { listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';
import { mayVouch, verification, vouched } from './senders.ts';

const domain = z
  .string()
  .max(255)
  .refine((text) => !text.includes('@'), 'this is an address. Add it as an address.')
  .describe('A domain, as it stands behind the @ of senders.')
  .meta({ example: 'mail.example.com' });

const record = z
  .object({
    purpose: z
      .enum(['ownership', 'dkim-rsa', 'dkim-ed25519', 'spf', 'dmarc', 'return-path'])
      .describe('What it is for. `ownership` decides whether the domain is verified.'),
    type: z.enum(['TXT', 'CNAME']).describe('Type of the DNS record.'),
    name: z.string().describe('Name of the DNS record.'),
    value: z.string().describe('What it must hold.'),
    check: z
      .object({
        state: z
          .enum(['ok', 'missing', 'unknown'])
          .describe('missing: it is not there or differs. unknown: DNS did not answer.'),
        seen: z.array(z.string()).describe('What DNS has instead.'),
        note: z.string().nullable().describe('What is wrong and what to do.'),
      })
      .nullable()
      .describe('What the last check found; null: none was made.'),
  })
  .meta({ id: 'DomainRecord' });

const senderDomain = z
  .object({
    domain: z.string().describe('The domain.'),
    ...verification,
    records: z
      .array(record)
      .describe('What to publish in DNS. Empty: it has no signing keys; add it again to get them.'),
    checked_at: z.string().nullable().describe('When DNS was asked last: ISO 8601, UTC.'),
  })
  .meta({ id: 'Domain' });

const show = ({ records, findings, ...of }: Domain): z.output<typeof senderDomain> => ({
  domain: of.domain,
  verified: of.verified,
  verified_by: of.verifiedBy,
  created_at: of.createdAt,
  records: records.map((record) => {
    const found = findings?.find(({ purpose }) => purpose === record.purpose);
    if (found === undefined) return { ...record, check: null };
    const state = found.ok ? 'ok' : found.unknown ? 'unknown' : 'missing';
    return { ...record, check: { state, seen: found.seen, note: found.note } };
  }),
  checked_at: of.checkedAt,
});

export const domainOperations = [
  operation({
    name: 'list_domains',
    title: 'List sender domains',
    summary:
      'Domains that the account may send from once they are verified, each with its DNS records.',
    effect: 'reads',
    scope: 'senders:read',
    input: z.strictObject(page),
    output: listOf('domains', senderDomain),
    rest: { method: 'GET', path: '/v1/domains' },
    client: 'domains.list',
    tool: { advice: 'Any address at a verified domain will do as from_email.' },
    async run(deps, { accountId }, { limit, cursor }) {
      const found = await listDomains(deps, accountId, { after: cursor, limit });
      return pageOf(found, limit, (last) => last.domain, show);
    },
  }),

  operation({
    name: 'get_domain',
    title: 'Read a sender domain',
    summary: 'One domain with its DNS records and what the last check found.',
    effect: 'reads',
    scope: 'senders:read',
    input: z.strictObject({ domain }),
    output: senderDomain,
    rest: { method: 'GET', path: '/v1/domains/{domain}' },
    client: 'domains.get',
    run: async (deps, { accountId }, wanted) =>
      show(await getDomain(deps, accountId, wanted.domain)),
  }),

  operation({
    name: 'add_domain',
    title: 'Add a sender domain',
    summary:
      'Makes signing keys for the domain and answers the DNS records to publish. One that is there already stays as it is. It is verified when a check finds its ownership record.',
    effect: 'changes',
    scope: 'senders:write',
    input: z.strictObject({ domain, vouched }),
    output: senderDomain,
    rest: { method: 'PUT', path: '/v1/domains/{domain}' },
    client: 'domains.put',
    tool: {
      destructive: false,
      advice: 'Pass the records on to whoever runs the DNS of the domain; then call check_domain.',
    },
    async run(deps, caller, wanted, via) {
      const verified = mayVouch(caller, wanted.vouched);
      const added = show(await addDomain(deps, caller.accountId, wanted.domain, verified));
      via.note({ target: added.domain, after: { verified: added.verified } });
      return added;
    },
  }),

  operation({
    name: 'check_domain',
    title: 'Check a sender domain',
    summary:
      'Asks DNS for every record of the domain and answers what it found. Domains are also checked once a day, new ones more often.',
    effect: 'talks',
    scope: 'senders:write',
    input: z.strictObject({ domain }),
    output: senderDomain,
    rest: { method: 'POST', path: '/v1/domains/{domain}/check' },
    client: 'domains.check',
    tool: { destructive: false, idempotent: true },
    async run(deps, { accountId }, wanted, via) {
      const before = await getDomain(deps, accountId, wanted.domain);
      const checked = show(await checkDomain(deps, accountId, before.domain));
      if (checked.verified !== before.verified) {
        const { verified } = checked;
        via.note({ target: checked.domain, before: { verified: !verified }, after: { verified } });
      }
      return checked;
    },
  }),

  operation({
    name: 'remove_domain',
    title: 'Remove a sender domain',
    summary:
      'Mail from its addresses is refused from now on, and its signing keys are deleted. Added again, it gets other keys and records.',
    effect: 'changes',
    scope: 'senders:write',
    input: z.strictObject({ domain }),
    output: senderDomain,
    rest: { method: 'DELETE', path: '/v1/domains/{domain}' },
    client: 'domains.remove',
    async run(deps, { accountId }, wanted, via) {
      const removed = show(await getDomain(deps, accountId, wanted.domain));
      await removeIdentity(deps.database, accountId, removed.domain);
      via.note({ target: removed.domain, before: { verified: removed.verified } });
      return removed;
    },
  }),
];
