// API keys: shown once, with the rules they can carry; revoked at once.
import { z } from 'zod';
import { type AgentLimits, APPROVAL_RULES, limitsOf } from '../accounts/agent-limits.ts';
import { type ApiKey, createKey, getKey, pageOfKeys, revokeKey } from '../accounts/keys.ts';
import { ALL_SCOPES } from '../accounts/scopes.ts';
import { requireToHave } from './giving.ts';
import { checkCursor, listOf, page, pageOf } from './lists.ts';
import { operation } from './operation.ts';

const text = z.string().nullable();
const scopes = z.array(z.enum(ALL_SCOPES));

/** Each rule as an answer shows it; all are optional when a key is created. */
const rules = {
  allowed_recipients: z
    .array(z.string().max(320))
    .max(500)
    .nullable()
    .describe('It may send only to these addresses and domains; null: to anyone.'),
  templates_only: z.boolean().describe('It may send templates only, without its own content.'),
  no_bcc: z.boolean().describe('It may not send hidden copies.'),
  daily_cap: z
    .number()
    .int()
    .nullable()
    .describe('Recipients per UTC day, below the account’s quota; null: no cap of its own.'),
  sandbox_only: z
    .boolean()
    .describe(
      'Its email goes to the sandbox and is never delivered. Such a key begins with `sm_test_`.',
    ),
  approval: z
    .enum(APPROVAL_RULES)
    .describe(
      'When a person has to approve what it sends: `always`, `first_contact` (a recipient this account has not reached before), `outside_domain` (a recipient outside its senders), or `never`.',
    ),
  own_messages: z
    .boolean()
    .describe('It may read and change only what it sent itself. The default for keys with rules.'),
  senders: z
    .array(z.string().max(400))
    .min(1)
    .max(50)
    .nullable()
    .describe(
      'Mailboxes it may send from, with the names that recipients see; null: as the account.',
    ),
  reply_to: z
    .array(z.string().max(320))
    .min(1)
    .max(50)
    .nullable()
    .describe('Addresses and domains that replies may go to, besides the account’s own senders.'),
  link_hosts: z
    .array(z.string().max(253))
    .min(1)
    .max(100)
    .nullable()
    .describe('Hosts that links may lead to, including their subdomains; null: any.'),
};

const key = z
  .object({
    id: z.string().describe('Id of the key.'),
    name: text.describe('What it is for.'),
    prefix: z.string().describe('How the key begins, to recognise it.'),
    scopes: scopes.describe('What it may do.'),
    rules: z.object(rules).nullable().describe('Rules that its sends must keep; null: none.'),
    networks: z
      .array(z.string())
      .nullable()
      .describe('Addresses and networks it may be used from; null: anywhere.'),
    created_at: z.string().describe('When it was created: ISO 8601, UTC.'),
    expires_at: text.describe('When it expires; null: never.'),
    last_used_at: text.describe('When it was used last.'),
    revoked_at: text.describe('Since when it is refused; null: it is not.'),
  })
  .meta({ id: 'ApiKey' });

const show = ({ limits, ...one }: ApiKey): z.output<typeof key> => ({
  id: one.id,
  name: one.name,
  prefix: one.prefix,
  scopes: one.scopes as z.output<typeof scopes>,
  rules: limits && {
    allowed_recipients: limits.allowedRecipients && [...limits.allowedRecipients],
    templates_only: limits.templatesOnly,
    no_bcc: limits.noBcc,
    daily_cap: limits.dailyCap,
    sandbox_only: limits.sandboxOnly,
    approval: limits.approval,
    own_messages: limits.ownMessages,
    senders: limits.senders && [...limits.senders],
    reply_to: limits.replyTo && [...limits.replyTo],
    link_hosts: limits.linkHosts && [...limits.linkHosts],
  },
  networks: one.networks,
  created_at: one.createdAt,
  expires_at: one.expiresAt,
  last_used_at: one.lastUsedAt,
  revoked_at: one.revokedAt,
});

const id = z.string().max(64).describe('Id of the key.');

export const keyOperations = [
  operation({
    name: 'list_keys',
    title: 'List API keys',
    summary: 'The account’s keys without their secret part, revoked ones too. Newest first.',
    effect: 'reads',
    scope: 'keys:read',
    input: z.strictObject(page),
    output: listOf('keys', key),
    rest: { method: 'GET', path: '/v1/keys' },
    client: 'keys.list',
    async run({ database, directory }, { accountId }, { limit, cursor }) {
      checkCursor('key_', cursor);
      await directory.noteUses();
      const keys = await pageOfKeys(database, accountId, { before: cursor, limit });
      return pageOf(keys, limit, (last) => last.id, show);
    },
  }),

  operation({
    name: 'get_key',
    title: 'Read an API key',
    summary: 'What a key may do and when it was used last, without its secret part.',
    effect: 'reads',
    scope: 'keys:read',
    input: z.strictObject({ id }),
    output: key,
    rest: { method: 'GET', path: '/v1/keys/{id}' },
    client: 'keys.get',
    async run({ database, directory }, { accountId }, wanted) {
      await directory.noteUses();
      return show(await getKey(database, accountId, wanted.id));
    },
  }),

  operation({
    name: 'create_key',
    title: 'Create an API key',
    summary:
      'The answer contains the key itself, which is shown only once. You cannot give a key more rights than you have.',
    effect: 'changes',
    scope: 'keys:write',
    input: z.strictObject({
      name: z.string().trim().max(200).optional().describe('What it is for.'),
      scopes: scopes.min(1, 'choose at least one').describe('What it may do.'),
      rules: z.strictObject(rules).partial().optional().describe('Rules that its sends must keep.'),
      expires_at: z.iso
        .datetime({ offset: true, error: 'must be a time such as 2030-01-31T00:00:00Z' })
        .nullable()
        .optional()
        .describe('When it expires; null or absent: never.'),
      networks: z
        .array(z.string().max(50))
        .max(100)
        .nullable()
        .optional()
        .describe('Addresses and networks it may be used from; null or absent: anywhere.'),
    }),
    output: key.extend({ secret: z.string().describe('The key itself, shown only once.') }),
    rest: { method: 'POST', path: '/v1/keys', status: 201 },
    client: 'keys.create',
    async run({ database, clock }, caller, { name, scopes, rules = {}, ...wish }, via) {
      await requireToHave(database, caller, scopes, 'scopes');
      const { accountId, keyId } = caller;
      const by = via.person?.name ?? (keyId === null ? undefined : 'another API key');
      const made = await createKey(database, clock, {
        ...{ accountId, scopes },
        ...(by === undefined ? {} : { by }),
        ...(name ? { name } : {}),
        limits: limitsIn(rules),
        bounds: {
          expiresAt: wish.expires_at ? new Date(wish.expires_at) : null,
          networks: wish.networks ?? null,
        },
      });
      const shown = show(await getKey(database, accountId, made.id));
      via.note({ target: made.id, after: settings(shown) });
      return { ...shown, secret: made.key };
    },
  }),

  operation({
    name: 'revoke_key',
    title: 'Revoke an API key',
    summary: 'Revokes a key permanently: whatever uses it is refused with 401 within a second.',
    effect: 'changes',
    scope: 'keys:write',
    input: z.strictObject({ id }),
    output: key,
    rest: { method: 'DELETE', path: '/v1/keys/{id}' },
    client: 'keys.revoke',
    async run({ database }, { accountId }, { id }, via) {
      const revoked = show(await revokeKey(database, accountId, id));
      via.note({ target: id, before: settings(revoked) });
      return revoked;
    },
  }),
];

/** By default, a key with rules reads only the emails that it sent itself. */
function limitsIn(given: Partial<z.output<z.ZodObject<typeof rules>>>): AgentLimits {
  const limits: AgentLimits = {
    allowedRecipients: given.allowed_recipients ?? null,
    templatesOnly: given.templates_only ?? false,
    noBcc: given.no_bcc ?? false,
    dailyCap: given.daily_cap ?? null,
    sandboxOnly: given.sandbox_only ?? false,
    approval: given.approval ?? 'never',
    ownMessages: given.own_messages ?? false,
    senders: given.senders ?? null,
    replyTo: given.reply_to ?? null,
    linkHosts: given.link_hosts ?? null,
  };
  const bySandboxAlone = limitsOf({ ...limits, sandboxOnly: false }) === null;
  return { ...limits, ownMessages: given.own_messages ?? !bySandboxAlone };
}

/** For the audit. */
const settings = ({ name, scopes, rules, networks, expires_at }: z.output<typeof key>) => ({
  ...{ name, scopes, rules, networks, expires_at },
});
