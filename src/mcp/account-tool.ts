// get_account as agents see it: what they may send from, how much of the quota is left, the rules
// of their key, and whether emails are delivered at all. Any key may call it.
import { z } from 'zod';
import { getAccount } from '../accounts/accounts.ts';
import { verifiedSenders } from '../accounts/identities.ts';
import { readQuota } from '../accounts/usage.ts';
import { accountOperations } from '../operations/account.ts';
import { operation } from '../operations/operation.ts';
import { readBranding } from '../templates/account-branding.ts';
import { rulesInWords } from './rules.ts';

const { after: _, ...ofRest } = accountOperations.find(({ name }) => name === 'get_account')!;

export const accountForAgents = operation({
  ...ofRest,
  summary: 'Senders, quota left, the rules of this key, live or sandbox, whether branding is set.',
  scope: null,
  input: z.strictObject({}),
  output: z.object({
    name: z.string().describe('Name of the account.'),
    mode: z.enum(['live', 'sandbox']).describe('sandbox: nothing is delivered.'),
    senders: z.array(z.string()).describe('Addresses and domains that may be used as the sender.'),
    quota_left: z.number().int().describe('Recipients left today.'),
    quota_limit: z.number().int().describe('Recipients a day.'),
    paused: z.string().nullable().describe('Why nothing is sent for now; null: it is.'),
    scopes: z.array(z.string()).describe('What this key may do.'),
    rules: z.array(z.string()).describe('Rules of this key; empty: none.'),
    branding_set: z
      .boolean()
      .describe('false: templates show the default colours and the account’s name.'),
    track_opens: z.boolean().describe('Whether opens are counted.'),
    track_clicks: z.boolean().describe('Whether clicks are counted.'),
  }),
  async run(deps, caller) {
    const { database } = deps;
    const account = await getAccount(database, caller.accountId);
    const [quota, branding, own] = await Promise.all([
      readQuota(deps, account),
      readBranding(database, caller.accountId),
      verifiedSenders(database, caller.accountId),
    ]);
    const sandbox = caller.limits?.sandboxOnly === true || deps.inSandbox();
    return {
      name: account.name,
      mode: sandbox ? ('sandbox' as const) : ('live' as const),
      senders: [...(caller.limits?.senders ?? own)],
      quota_left: quota.left,
      quota_limit: quota.limit,
      paused: caller.paused,
      scopes: [...caller.scopes],
      rules: rulesInWords(caller.limits),
      branding_set: branding.version > 0,
      track_opens: account.trackOpens,
      track_clicks: account.trackClicks,
    };
  },
});
