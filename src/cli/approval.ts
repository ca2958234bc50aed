// sandmartin approval: emails that wait for a person, and the decision about each.
import type { Command } from 'commander';
import type { HeldEmail, HeldEmailInFull } from '../client/operations.ts';
import { ofAccount, print, printable, table } from './command.ts';
import { withOperations } from './operations.ts';

interface ApprovalOptions {
  account: number;
  json?: boolean;
}

type DecisionOptions = ApprovalOptions & { sha256: string };

export function registerApproval(program: Command): void {
  const approval = program
    .command('approval')
    .description('emails from agents that wait for a person');

  ofAccount(approval.command('list').description('what is waiting, oldest first')).action(
    ({ account, json }: ApprovalOptions) =>
      withOperations(account, async (api) => {
        const waiting: HeldEmail[] = [];
        for await (const one of api.approvals.list({})) waiting.push(one);
        print(json, waiting, () =>
          table(
            ['ID', 'TO', 'SUBJECT', 'WHY', 'LAPSES'],
            waiting.map((it) => [
              it.sm_mail_id,
              it.recipients.join(' '),
              it.subject,
              it.reason,
              it.expires_at,
            ]),
          ),
        );
      }),
  );

  ofAccount(
    approval.command('show <id>').description('one email as it would be sent, and its SHA-256'),
  ).action((sm_mail_id: string, { account, json }: ApprovalOptions) =>
    withOperations(account, async (api) => {
      const held = await api.approvals.get({ sm_mail_id });
      print(json, held, () => shown(held));
    }),
  );

  deciding(approval, 'approve', 'approve the email with exactly this SHA-256').action(
    (sm_mail_id: string, { account, json, sha256 }: DecisionOptions) =>
      withOperations(account, async (api) => {
        const decided = await api.approvals.approve({ sm_mail_id, sha256 });
        print(json, decided, () => [`${sm_mail_id} is approved and will be sent.`]);
      }),
  );

  deciding(approval, 'decline', 'decline the email: nobody receives it').action(
    (sm_mail_id: string, { account, json, sha256 }: DecisionOptions) =>
      withOperations(account, async (api) => {
        const decided = await api.approvals.decline({ sm_mail_id, sha256 });
        print(json, decided, () => [`${sm_mail_id} is declined: nobody receives it.`]);
      }),
  );
}

const deciding = (approval: Command, name: string, description: string): Command =>
  ofAccount(approval.command(`${name} <id>`).description(description)).requiredOption(
    '--sha256 <hash>',
    'the SHA-256 of what you saw; `approval show` prints it',
  );

function shown(held: HeldEmailInFull): string[] {
  const { to, cc, bcc, reply_to, headers, attachments, suppressed, compared_with } = held;
  const fields: [string, string | null][] = [
    ['State', held.state],
    ['Held by', held.reason],
    ['Goes out', held.scheduled_at],
    ['Lapses', held.expires_at],
    ['From', held.from_email],
    ['To', to.join(', ')],
    ['Cc', cc.join(', ')],
    ['Bcc', bcc.join(', ')],
    ['Reply-To', reply_to],
    ['Subject', held.subject],
    ...headers.map(({ name, value }): [string, string] => [name, value]),
    ['Files', attachments.map(({ filename, size }) => `${filename} (${size} bytes)`).join(', ')],
    ['Suppressed', suppressed.join(', ')],
    ['SHA-256', held.sha256],
  ];
  const differences =
    compared_with === null
      ? []
      : [
          ...compared_with.added.map((it) => `+ ${it}`),
          ...compared_with.removed.map((it) => `- ${it}`),
        ];
  return [
    ...fields.filter(([, value]) => value).map(([name, value]) => `${name}: ${printable(value!)}`),
    '',
    ...(held.text ?? '(only HTML)').split('\n').map(printable),
    ...(differences.length === 0
      ? []
      : ['', `Compared with ${compared_with!.sm_mail_id}:`, ...differences.map(printable)]),
  ];
}
