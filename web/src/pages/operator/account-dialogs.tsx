// The operator's dialogs: a new account, its plan and figures, and why it is suspended.

import { Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { OperatedAccount } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { Secret } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionFault } from '../../parts/fault.tsx';
import { ActionForm, Form } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';
import { Segments } from '../../parts/segments.tsx';

type Plan = OperatedAccount['plan'];

const plans = [
  { value: 'free', label: 'Free: cannot send' },
  { value: 'paid', label: 'Paid' },
] as const;

const number = (text: string): number | undefined =>
  text === '' ? undefined : Number(text.replaceAll(',', ''));

export function NewAccountDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [plan, setPlan] = useState<Plan>('paid');
  const create = useChange('accounts.create', { changes: ['accounts.list'] });
  const close = () => {
    onClose();
    create.reset();
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={create.data ? 'Account created' : 'New account'}
      size="lg"
      closeOnClickOutside={!create.data}
      closeOnEscape={!create.data}
    >
      {create.data ? (
        <Stack>
          {create.data.invited ? (
            <>
              <Text size="sm">
                {create.data.invited.link === null
                  ? 'The link was emailed to its owner.'
                  : `${create.data.invited.note} Give the link to its owner only.`}
              </Text>
              {create.data.invited.link !== null && (
                <Secret
                  value={create.data.invited.link}
                  label="link"
                  note="Anyone with the link becomes the owner. It works once and is not shown again."
                />
              )}
            </>
          ) : (
            <Text size="sm">It has no members yet.</Text>
          )}
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <ActionForm
          action={create}
          act="Create"
          onSend={(field) => {
            const owner_email = field('ownerEmail').trim();
            create.mutate({
              name: field('name').trim(),
              plan,
              ...(owner_email ? { owner_email } : {}),
            });
          }}
        >
          <TextInput label="Name" name="name" required withAsterisk={false} data-autofocus />
          <Segments inForm label="Plan" choices={plans} value={plan} onChange={setPlan} />
          <TextInput
            label="Owner's email"
            name="ownerEmail"
            type="email"
            description="Gets an invitation. You can leave it empty"
          />
        </ActionForm>
      )}
    </Dialog>
  );
}

interface AccountDialogProps {
  account: OperatedAccount | undefined;
  onClose: () => void;
}

export function EditAccount({ account, onClose }: AccountDialogProps) {
  return (
    <Dialog opened={account !== undefined} onClose={onClose} title={account?.name ?? 'Account'}>
      {account && <EditForm account={account} onClose={onClose} />}
    </Dialog>
  );
}

function EditForm({ account, onClose }: { account: OperatedAccount; onClose: () => void }) {
  const [plan, setPlan] = useState(account.plan);
  const change = useChange('accounts.update', {
    changes: ['accounts.list', 'account.get'],
    onDone: () => {
      onClose();
      tellDone('Saved');
    },
  });
  return (
    <ActionForm
      action={change}
      act="Save"
      onSend={(field) => {
        const daily_quota = number(field('dailyQuota'));
        const rate_per_second = number(field('ratePerSecond'));
        change.mutate({
          id: account.id,
          name: field('name').trim(),
          plan,
          ...(daily_quota === undefined ? {} : { daily_quota }),
          ...(rate_per_second === undefined ? {} : { rate_per_second }),
        });
      }}
    >
      <TextInput
        label="Name"
        name="name"
        defaultValue={account.name}
        required
        withAsterisk={false}
        data-autofocus
      />
      <Segments inForm label="Plan" choices={plans} value={plan} onChange={setPlan} />
      <NumberInput
        label="Recipients per day"
        name="dailyQuota"
        min={0}
        thousandSeparator=","
        defaultValue={account.daily_quota}
      />
      <NumberInput
        label="Calls per second"
        name="ratePerSecond"
        min={1}
        thousandSeparator=","
        defaultValue={account.rate_per_second}
      />
    </ActionForm>
  );
}

export function SuspendDialog({ account, onClose }: AccountDialogProps) {
  const suspend = useChange('accounts.suspend', {
    changes: ['accounts.list'],
    onDone: ({ name }) => {
      onClose();
      tellDone(`${name} is suspended`);
    },
  });
  return (
    <Dialog
      opened={account !== undefined}
      onClose={onClose}
      title={`Suspend ${account?.name ?? ''}?`}
    >
      <Form
        onSend={(field) => {
          if (account) suspend.mutate({ id: account.id, reason: field('reason').trim() });
        }}
      >
        <ActionFault fault={suspend.error} />
        <Text size="sm">
          Its keys stop working at once. Queued and scheduled emails are held until you resume it.
        </Text>
        <TextInput
          label="Reason"
          description="Shown to the people in the account"
          name="reason"
          required
          withAsterisk={false}
          data-autofocus
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" color="red.8" loading={suspend.isPending}>
            Suspend
          </Button>
        </Group>
      </Form>
    </Dialog>
  );
}
