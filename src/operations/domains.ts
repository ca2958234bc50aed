// Domains: senders verified by DNS records, which sign with their own keys.
import { z } from 'zod';
import type { Alignment } from '../accounts/alignment.ts';
import { findZone, relativeName } from '../accounts/dns-providers.ts';
import {
  addDomain,
  checkDomain,
  type Domain,
  getDomain,
  listDomains,
  rotateDomain,
} from '../accounts/domains.ts';
import { removeIdentity } from '../accounts/identities.ts';
import { hidePlace, listOf, page, pageOf, readPlace } from './lists.ts';
import { operation } from './operation.ts';
import { addedBefore, mayVouch, verification, vouched } from './senders.ts';

const domain = z
  .string()
  .max(255)
  .refine((text) => !text.includes('@'), 'this is an address. Add it as an address.')
  .describe('A domain, the part after the @ of senders.')
  .meta({ example: 'mail.example.com' });

const record = z
  .object({
    purpose: z
      .enum([
        'ownership',
        'dkim-rsa',
        'dkim-ed25519',
        'dkim-rsa-next',
        'dkim-ed25519-next',
        'spf',
        'dmarc',
        'return-path',
      ])
      .describe(
        'What it is for. `ownership` decides whether the domain is verified. `…-next`: keys that will sign later, see `rotation`.',
      ),
    type: z.enum(['TXT', 'CNAME']).describe('Type of the DNS record.'),
    name: z.string().describe('Name of the DNS record.'),
    value: z.string().describe('What it must contain.'),
    check: z
      .object({
        state: z
          .enum(['ok', 'missing', 'unknown'])
          .describe('missing: it is not there or differs. unknown: DNS did not answer.'),
        seen: z.array(z.string()).describe('What DNS has instead.'),
        note: z
          .string()
          .nullable()
          .describe('What is wrong and what to do, or what could be better where it is ok.'),
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
    alignment: z
      .object({
        dkim: z.boolean().describe('DNS shows the key of its signatures.'),
        spf: z.boolean().describe('Its return path is of the same organization.'),
        policy: z
          .enum(['none', 'quarantine', 'reject'])
          .nullable()
          .describe(
            'What its DMARC policy asks receivers to do with other email; null: none is there.',
          ),
        policy_domain: z
          .string()
          .nullable()
          .describe('Where that policy is published: the domain, or one above it.'),
        organization: z.string().describe('The domain that it belongs to, as receivers see it.'),
      })
      .meta({ id: 'Alignment' })
      .nullable()
      .describe(
        'Whether its email can pass DMARC, for which `dkim` or `spf` is needed; null: not checked yet.',
      ),
    rotation: z
      .object({
        step: z
          .enum(['publish', 'wait', 'retire'])
          .describe(
            'publish: the next DKIM records are not in DNS yet. wait: they are, and will sign soon. retire: they sign, and the old records can go after `until`.',
          ),
        until: z.string().nullable().describe('When the step is over: ISO 8601, UTC.'),
        note: z.string().describe('What to do now.'),
      })
      .meta({ id: 'KeyRotation' })
      .nullable()
      .describe('How far a rotation of its signing keys has got; null: none is in progress.'),
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
    // The domain's existing SPF record is kept: the record to publish combines both.
    const value = record.purpose === 'spf' ? found.expected : record.value;
    return { ...record, value, check: { state, seen: found.seen, note: found.note } };
  }),
  checked_at: of.checkedAt,
  rotation: of.rotation,
  alignment: of.alignment && showAlignment(of.alignment),
});

const showAlignment = ({ policyAt, ownPathAligns: _, ...of }: Alignment) => ({
  ...of,
  policy_domain: policyAt,
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
    tool: { brief: 'Sender domains with their DNS records.', without: ['limit'] },
    async run(deps, { accountId }, { limit, cursor }) {
      const found = await listDomains(deps, accountId, { after: readPlace(cursor), limit });
      return pageOf(found, limit, (last) => hidePlace(last.domain), show);
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
    name: 'get_domain_dns',
    title: 'Find out who serves the DNS of a domain',
    summary:
      'The provider its name servers belong to, and the name of each record as that provider’s form expects it.',
    effect: 'reads',
    scope: 'senders:read',
    input: z.strictObject({ domain }),
    output: z
      .object({
        zone: z
          .string()
          .nullable()
          .describe('The domain, or the one above it that has name servers; null: none was found.'),
        name_servers: z.array(z.string()).describe('Who hosts the zone.'),
        provider: z
          .object({
            name: z.string().describe('Name of the provider.'),
            url: z.string().describe('Where its records are edited.'),
          })
          .nullable()
          .describe('Null: not a provider we know.'),
        names: z
          .array(
            z.object({
              purpose: z.string().describe('Of which record.'),
              name: z.string().describe('Without the zone, which the form adds.'),
            }),
          )
          .describe('Names of the records as the form expects them.'),
      })
      .meta({ id: 'DomainDns' }),
    rest: { method: 'GET', path: '/v1/domains/{domain}/dns' },
    client: 'domains.getDns',
    async run(deps, { accountId }, wanted) {
      const { domain: name, records } = await getDomain(deps, accountId, wanted.domain);
      const found = await findZone(deps.dns, name);
      if (found === undefined) return { zone: null, name_servers: [], provider: null, names: [] };
      const { zone, nameServers, provider } = found;
      return {
        ...{ zone, name_servers: nameServers },
        provider: provider && { name: provider.name, url: provider.url },
        names: records.map((record) => ({
          purpose: record.purpose,
          name: relativeName(record.name, found),
        })),
      };
    },
  }),

  operation({
    name: 'add_domain',
    title: 'Add a sender domain',
    summary:
      'Generates signing keys for the domain and returns the DNS records to publish. A domain that already exists is left as it is. It is verified when a check finds its ownership record.',
    effect: 'changes',
    scope: 'senders:write',
    input: z.strictObject({ domain, vouched }),
    output: senderDomain,
    rest: { method: 'PUT', path: '/v1/domains/{domain}' },
    client: 'domains.put',
    tool: {
      brief: 'Returns the DNS records to publish; then call check_domain.',
      destructive: false,
      without: ['vouched'],
    },
    async run(deps, caller, wanted, via) {
      const verified = mayVouch(caller, wanted.vouched);
      const before = await addedBefore(deps.database, caller.accountId, wanted.domain);
      const added = show(await addDomain(deps, caller.accountId, wanted.domain, verified));
      via.note({ target: added.domain, before, after: { verified: added.verified } });
      return added;
    },
  }),

  operation({
    name: 'check_domain',
    title: 'Check a sender domain',
    summary:
      'Looks up every DNS record of the domain and returns what it found. Domains are also checked once a day, new ones more often.',
    effect: 'talks',
    scope: 'senders:write',
    input: z.strictObject({ domain }),
    output: senderDomain,
    rest: { method: 'POST', path: '/v1/domains/{domain}/check' },
    client: 'domains.check',
    tool: {
      brief: 'Looks up every DNS record of the domain.',
      destructive: false,
      idempotent: true,
    },
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
    name: 'rotate_domain_keys',
    title: 'Rotate the signing keys of a domain',
    summary:
      'Generates the next signing keys and returns the DNS records to publish alongside the current ones. A day after DNS shows them, email is signed with them; a week later you can remove the old records. `rotation` says which step is due. While a rotation is in progress, it is returned unchanged.',
    effect: 'changes',
    scope: 'senders:write',
    input: z.strictObject({ domain }),
    output: senderDomain,
    rest: { method: 'POST', path: '/v1/domains/{domain}/rotate' },
    client: 'domains.rotate',
    tool: {
      brief: 'Generates the next DKIM keys and returns the DNS records to publish.',
      destructive: false,
      idempotent: true,
    },
    async run(deps, { accountId }, wanted, via) {
      const rotated = await rotateDomain(deps, accountId, wanted.domain);
      via.note({ target: rotated.domain, after: { rotation: rotated.rotation?.step } });
      return show(rotated);
    },
  }),

  operation({
    name: 'remove_domain',
    title: 'Remove a sender domain',
    summary:
      'Email from its addresses is refused from now on, and its signing keys are deleted. If you add it again, it gets new keys and records.',
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
