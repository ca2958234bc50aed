// The operator's dialogs: a new account, its plan and figures, and why it is suspended.
import {
  Alert,
  Button,
  Group,
  Modal,
  NumberInput,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { OperatorAccount } from '../../../../src/dashboard/views/account.ts';
import type { Plan } from '../../../../src/dashboard/views/common.ts';
import { useAction } from '../../api.ts';
import { Secret } from '../../parts/copy.tsx';
import { ActionForm, Form } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';

const plans = [
  { value: 'free', label: 'Free: cannot send' },
  { value: 'paid', label: 'Paid' },
];

const number = (text: string): number | undefined =>
  text === '' ? undefined : Number(text.replaceAll(',', ''));

export function NewAccountDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [plan, setPlan] = useState<Plan>('paid');
  const create = useAction('createAccount', { changes: ['listAccounts'] });
  const close = () => {
    onClose();
    create.reset();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={create.data ? 'The account is there' : 'New account'}
      size="lg"
      closeOnClickOutside={!create.data}
    >
      {create.data ? (
        <Stack>
          {create.data.invited ? (
            <>
              <Text size="sm">
                {create.data.invited.link === null
                  ? 'Its owner got the link by mail.'
                  : `${create.data.invited.note} Pass the link on yourself, to its owner only.`}
              </Text>
              {create.data.invited.link !== null && (
                <Secret
                  value={create.data.invited.link}
                  label="link"
                  note="Whoever has the link becomes the owner. It works once and is not shown again."
                />
              )}
            </>
          ) : (
            <Text size="sm">Nobody belongs to it yet.</Text>
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
            const ownerEmail = field('ownerEmail').trim();
            create.mutate({
              body: {
                name: field('name').trim(),
                plan,
                ...(ownerEmail ? { ownerEmail } : {}),
              },
            });
          }}
        >
          <TextInput label="Name" name="name" required withAsterisk={false} data-autofocus />
          <SegmentedControl
            aria-label="Plan"
            data={plans}
            value={plan}
            onChange={(value) => setPlan(value as Plan)}
          />
          <TextInput
            label="Owner's e-mail"
            name="ownerEmail"
            type="email"
            description="Gets an invitation; may be left empty"
          />
        </ActionForm>
      )}
    </Modal>
  );
}

interface AccountDialogProps {
  account: OperatorAccount | undefined;
  onClose: () => void;
}

export function EditAccount({ account, onClose }: AccountDialogProps) {
  return (
    <Modal opened={account !== undefined} onClose={onClose} title={account?.name ?? 'Account'}>
      {account && <EditForm account={account} onClose={onClose} />}
    </Modal>
  );
}

function EditForm({ account, onClose }: { account: OperatorAccount; onClose: () => void }) {
  const [plan, setPlan] = useState(account.plan);
  const change = useAction('changeOperatedAccount', {
    changes: ['listAccounts', 'getAccount', 'getOverview'],
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
        const dailyQuota = number(field('dailyQuota'));
        const ratePerSecond = number(field('ratePerSecond'));
        change.mutate({
          params: { id: String(account.id) },
          body: {
            name: field('name').trim(),
            plan,
            ...(dailyQuota === undefined ? {} : { dailyQuota }),
            ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
          },
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
      <SegmentedControl
        aria-label="Plan"
        data={plans}
        value={plan}
        onChange={(value) => setPlan(value as Plan)}
      />
      <NumberInput
        label="Recipients a day"
        name="dailyQuota"
        min={0}
        thousandSeparator=","
        defaultValue={account.dailyQuota}
      />
      <NumberInput
        label="Calls a second"
        name="ratePerSecond"
        min={1}
        thousandSeparator=","
        defaultValue={account.ratePerSecond}
      />
    </ActionForm>
  );
}

export function SuspendDialog({ account, onClose }: AccountDialogProps) {
  const suspend = useAction('suspendAccount', {
    changes: ['listAccounts'],
    onDone: ({ name }) => {
      onClose();
      tellDone(`${name} is suspended`);
    },
  });
  return (
    <Modal
      opened={account !== undefined}
      onClose={onClose}
      title={`Suspend ${account?.name ?? ''}?`}
    >
      <Form
        onSend={(field) => {
          suspend.mutate({
            params: { id: String(account?.id) },
            body: { reason: field('reason').trim() },
          });
        }}
      >
        {suspend.error && (
          <Alert color="red" role="alert">
            {suspend.error.message}
          </Alert>
        )}
        <Text size="sm">
          Its keys are refused at once. What is queued already is still delivered.
        </Text>
        <TextInput
          label="Reason"
          description="The account's people see it"
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
    </Modal>
  );
}
