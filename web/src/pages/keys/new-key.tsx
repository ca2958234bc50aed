// The dialog that makes a key: what it may do, limits for agents, and then the key itself, this
// once.
import {
  Button,
  Checkbox,
  Collapse,
  Group,
  Modal,
  NumberInput,
  Select,
  Stack,
  Switch,
  TagsInput,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { useState } from 'react';
import type { ApiKey } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { Secret } from '../../parts/copy.tsx';
import { ActionForm } from '../../parts/form.tsx';

const lives = [
  { value: '', label: 'Never' },
  { value: '1', label: 'In a day' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

const inDays = (days: string): string | null =>
  days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();

type Rules = NonNullable<ApiKey['rules']>;

const noRules: Rules = {
  allowed_recipients: null,
  templates_only: false,
  no_bcc: false,
  daily_cap: null,
  sandbox_only: false,
};

export function NewKeyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const close = () => {
    onClose();
    setSecret(undefined);
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={secret ? 'Your new key' : 'Create an API key'}
      size="lg"
      closeOnClickOutside={secret === undefined}
    >
      {secret === undefined ? (
        <NewKeyForm onSecret={setSecret} />
      ) : (
        <Stack>
          <Secret
            value={secret}
            label="API key"
            note="Only its fingerprint is kept here: when this dialog is closed, nobody can show the key again."
          />
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function NewKeyForm({ onSecret }: { onSecret: (secret: string) => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['email:send', 'email:read']);
  const [days, setDays] = useState('');
  const [networks, setNetworks] = useState<string[]>([]);
  const [limited, setLimited] = useState(false);
  const [rules, setRules] = useState(noRules);
  const create = useChange('keys.create', {
    changes: ['keys.list'],
    onDone: ({ secret }) => onSecret(secret),
  });
  const change = (part: Partial<Rules>) => setRules({ ...rules, ...part });
  return (
    <ActionForm
      action={create}
      act="Create the key"
      disabled={scopes.length === 0}
      onSend={() => {
        create.mutate({
          ...(name.trim() ? { name: name.trim() } : {}),
          scopes: scopes as ApiKey['scopes'],
          expires_at: inDays(days),
          networks: networks.length > 0 ? networks : null,
          ...(limited ? { rules } : {}),
        });
      }}
    >
      <TextInput
        label="Name"
        description="What will use it, so that you know which one to revoke"
        placeholder="Shop, production"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox.Group label="It may" value={scopes} onChange={setScopes}>
        <Stack gap={8} mt={8}>
          <Checkbox value="email:send" label="Send mail" description="email:send" />
          <Checkbox value="email:read" label="Read timelines" description="email:read" />
          <Checkbox value="admin" label="Manage this account over the API" description="admin" />
        </Stack>
      </Checkbox.Group>
      <Select
        label="Expires"
        description="After that it is refused, like one that was revoked"
        data={lives}
        value={days}
        allowDeselect={false}
        onChange={(value) => setDays(value ?? '')}
      />
      <TagsInput
        label="Only from these networks"
        description="Addresses or networks of your servers; empty: from anywhere"
        placeholder="203.0.113.0/24"
        value={networks}
        onChange={setNetworks}
      />
      <UnstyledButton
        className="plain-link"
        w="fit-content"
        fz="sm"
        aria-expanded={limited}
        onClick={() => setLimited(!limited)}
      >
        {limited ? 'Without limits' : 'Limit it, for an agent'}
      </UnstyledButton>
      <Collapse expanded={limited}>
        <Stack gap="md" className="inset">
          <TagsInput
            label="Only to these recipients"
            description="Addresses or domains; empty: anybody"
            placeholder="example.com"
            value={rules.allowed_recipients ?? []}
            onChange={(list) => change({ allowed_recipients: list.length > 0 ? list : null })}
          />
          <NumberInput
            label="At most, recipients a day"
            description="Below the account's own quota; empty: no limit of its own"
            min={1}
            value={rules.daily_cap ?? ''}
            onChange={(value) => change({ daily_cap: value === '' ? null : Number(value) })}
          />
          <Switch
            label="Only with templates, never with a body of its own"
            checked={rules.templates_only}
            onChange={(event) => change({ templates_only: event.currentTarget.checked })}
          />
          <Switch
            label="No bcc"
            checked={rules.no_bcc}
            onChange={(event) => change({ no_bcc: event.currentTarget.checked })}
          />
          <Switch
            label="Sandbox only: captured, never delivered"
            checked={rules.sandbox_only}
            onChange={(event) => change({ sandbox_only: event.currentTarget.checked })}
          />
        </Stack>
      </Collapse>
    </ActionForm>
  );
}
