// Hints at a terminal: the command to try next after a refusal, if a problem names one.
import type { Problem } from '../errors.ts';

export const COMMANDS: Record<string, string> = {
  list_accounts: 'account list',
  list_keys: 'key list',
  list_addresses: 'identity list',
  list_domains: 'identity list',
  verify_identity: 'identity verify',
  invite_person: 'user invite',
  get_email_status: 'message show',
  list_sandbox: 'sandbox list',
  list_kept_feedback: 'feedback list',
  list_relays: 'relay list',
  list_quarantine: 'quarantine list',
  list_disabled_links: 'link list',
  list_webhook_endpoints: 'webhook list',
  list_webhook_deliveries: 'webhook deliveries',
  update_webhook_endpoint: 'webhook enable',
  rotate_webhook_secret: 'webhook rotate',
  remove_relay: 'relay remove',
  remove_domain: 'identity remove',
};

export function wordedAtTerminal({ detail, see }: Problem): string {
  const command = see === undefined ? undefined : COMMANDS[see];
  return command === undefined ? detail : `${detail} See "npx sandmartin ${command}".`;
}
