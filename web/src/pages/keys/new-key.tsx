// The dialog that creates a key: what it may do, limits for agents, and then the key itself, once.
import '@mantine/core/styles/Checkbox.css';
import '@mantine/core/styles/CheckboxCard.css';
import '@mantine/core/styles/CheckboxIndicator.css';
import '@mantine/core/styles/Pill.css';
import '@mantine/core/styles/PillsInput.css';
import {
  Button,
  Checkbox,
  Collapse,
  Group,
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
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { SmtpSettings } from '../../parts/smtp-settings.tsx';
import { useMe } from '../../session.ts';

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
  approval: 'never',
  own_messages: true,
  senders: null,
  reply_to: null,
  link_hosts: null,
};

const approvals: { value: Rules['approval']; label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: 'first_contact', label: 'For a recipient you have not emailed before' },
  { value: 'outside_domain', label: 'For a recipient outside your senders' },
  { value: 'always', label: 'For every email' },
];

export function NewKeyDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<string>();
  const { smtp } = useMe().service;
  const close = () => {
    onClose();
    setSecret(undefined);
  };
  return (
    <Dialog
      opened={opened}
      onClose={close}
      title={secret ? 'Your new key' : 'Create an API key'}
      size="lg"
      closeOnClickOutside={secret === undefined}
      closeOnEscape={secret === undefined}
    >
      {secret === undefined ? (
        <NewKeyForm onSecret={setSecret} />
      ) : (
        <Stack>
          <Secret
            value={secret}
            label="API key"
            note="Only its hash is stored: once you close this dialog, the key cannot be shown again."
          />
          {smtp !== null && (
            <Section title="By SMTP">
              <SmtpSettings password={secret} />
            </Section>
          )}
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      )}
    </Dialog>
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
        description="What will use it, so you know which one to revoke"
        placeholder="Shop, production"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Checkbox.Group label="It may" value={scopes} onChange={setScopes}>
        <Stack gap={8} mt={8}>
          <Checkbox value="email:send" label="Send emails" description="email:send" />
          <Checkbox value="email:read" label="Read timelines" description="email:read" />
          <Checkbox value="admin" label="Manage this account over the API" description="admin" />
          <Checkbox
            value="approvals:write"
            label="Approve what other keys send"
            description="approvals:write"
          />
        </Stack>
      </Checkbox.Group>
      <Select
        label="Expires"
        description="After that it stops working, like a revoked key"
        data={lives}
        value={days}
        allowDeselect={false}
        onChange={(value) => setDays(value ?? '')}
      />
      <TagsInput
        label="Only from these networks"
        description="Addresses or networks of your servers. Leave it empty for anywhere"
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
          <Select
            label="A person approves"
            description="The email waits until someone approves it, for at most a day"
            data={approvals}
            value={rules.approval}
            allowDeselect={false}
            onChange={(value) => change({ approval: (value ?? 'never') as Rules['approval'] })}
          />
          <TagsInput
            label="Only to these recipients"
            description="Addresses or domains. Leave it empty for anyone"
            placeholder="example.com"
            value={rules.allowed_recipients ?? []}
            onChange={(list) => change({ allowed_recipients: list.length > 0 ? list : null })}
          />
          <NumberInput
            label="Recipients per day, at most"
            description="Below the account's quota. Leave it empty for no limit of its own"
            min={1}
            value={rules.daily_cap ?? ''}
            onChange={(value) => change({ daily_cap: value === '' ? null : Number(value) })}
          />
          <Switch
            label="Templates only, no inline content"
            checked={rules.templates_only}
            onChange={(event) => change({ templates_only: event.currentTarget.checked })}
          />
          <TagsInput
            label="Only from these senders"
            description="With the name that recipients see. Leave it empty for all senders of the account"
            placeholder="Acme <hello@example.com>"
            value={rules.senders ?? []}
            onChange={(list) => change({ senders: list.length > 0 ? list : null })}
          />
          <TagsInput
            label="Links only to these hosts"
            description="And their subdomains. Leave it empty for any host"
            placeholder="example.com"
            value={rules.link_hosts ?? []}
            onChange={(list) => change({ link_hosts: list.length > 0 ? list : null })}
          />
          <Switch
            label="Reads only its own messages"
            checked={rules.own_messages}
            onChange={(event) => change({ own_messages: event.currentTarget.checked })}
          />
          <Switch
            label="No bcc"
            checked={rules.no_bcc}
            onChange={(event) => change({ no_bcc: event.currentTarget.checked })}
          />
          <Switch
            label="Sandbox only: captured, never delivered"
            description="A test key, starting with sm_test_"
            checked={rules.sandbox_only}
            onChange={(event) => change({ sandbox_only: event.currentTarget.checked })}
          />
        </Stack>
      </Collapse>
    </ActionForm>
  );
}
