// The rules of a key in words, for the agent that must follow them.
import type { AgentLimits } from '../accounts/agent-limits.ts';

const APPROVAL: Record<Exclude<AgentLimits['approval'], 'never'>, string> = {
  always: 'A person approves every email before it leaves.',
  first_contact: 'A person approves emails to recipients this account has not emailed before.',
  outside_domain: 'A person approves emails to recipients outside the account’s own senders.',
};

export function rulesInWords(limits: AgentLimits | null): string[] {
  if (limits === null) return [];
  const { approval, allowedRecipients, senders, replyTo, linkHosts } = limits;
  const rules = [
    approval !== 'never' && APPROVAL[approval],
    allowedRecipients && `Write only to ${some(allowedRecipients)}.`,
    limits.templatesOnly &&
      'Send templates only: no subject, html, text, attachments or headers of your own.',
    senders && `Write only from ${some(senders)}.`,
    replyTo && `Replies go to the account’s senders or to ${some(replyTo)}.`,
    linkHosts && `Link only to ${some(linkHosts)}; attach only png, jpg, gif, webp, txt and ics.`,
    limits.noBcc && 'No bcc.',
    limits.dailyCap !== null && `At most ${limits.dailyCap} recipients a day.`,
    limits.ownMessages && 'You see only what you sent yourself.',
    limits.sandboxOnly && 'Everything is captured in the sandbox: nobody receives it.',
  ];
  return rules.filter((rule): rule is string => typeof rule === 'string');
}

const some = (all: readonly string[]): string =>
  all.length > 10 ? `${all.slice(0, 10).join(', ')} and ${all.length - 10} more` : all.join(', ');
