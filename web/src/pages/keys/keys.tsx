// API keys: create one (shown once), see what each may do and when it was last used, revoke it.
import { ActionIcon, Badge, Button, Group, Switch, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ApiKey } from '../../../../src/client/operations.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { KeysIcon, PlusIcon, TrashIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Page, Section } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { SmtpSettings } from '../../parts/smtp-settings.tsx';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';
import { useMay } from '../../session.ts';
import { NewKeyDialog } from './new-key.tsx';

export function KeysPage() {
  const may = useMay('developer');
  const keys = useRows('keys.list', {}, { watched: true });
  const [opened, { open, close }] = useDialogInAddress('key', may);
  const { revoked: withRevoked = false } = useSearch({ from: '/inside/keys' });
  const navigate = useNavigate({ from: '/keys' });
  const shown = keys.rows.filter((key) => withRevoked || key.revoked_at === null);
  const create = may && (
    <Button leftSection={<PlusIcon size={16} />} onClick={open}>
      Create a key
    </Button>
  );
  return (
    <Page
      title="API keys"
      lead="For your servers and your agents. A key belongs on a server, never in a page or an app."
      actions={create}
    >
      <List
        asked={keys}
        rows={shown}
        loading={<LoadingRows rows={4} />}
        empty={{
          icon: <KeysIcon />,
          title: 'No keys',
          children: 'A key lets a program send emails and read what happened to them.',
          action: create,
        }}
      >
        {(rows) => (
          <RowTable
            label="API keys"
            columns={['Name', 'Key', 'Scopes', 'Last used', 'Created', 'Expires']}
            actions
          >
            {rows.map((key) => (
              <KeyLine key={key.id} row={key} />
            ))}
          </RowTable>
        )}
      </List>
      {keys.rows.some((key) => key.revoked_at !== null) && (
        <Switch
          mt="md"
          label="Show revoked keys"
          checked={withRevoked}
          onChange={(event) =>
            void navigate({
              search: event.currentTarget.checked ? { revoked: true } : {},
              replace: true,
            })
          }
        />
      )}
      <Section
        title="By SMTP"
        lead="Programs that send by SMTP need only these settings. The password is an API key."
      >
        <SmtpSettings />
      </Section>
      <NewKeyDialog opened={opened} onClose={close} />
    </Page>
  );
}

function KeyLine({ row }: { row: ApiKey }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const revoke = useChange('keys.revoke', {
    foresee: {
      'keys.list': (key, { id }) =>
        key.id === id ? { ...key, revoked_at: new Date().toISOString() } : key,
    },
    onDone: () => tellDone('Revoked. The key no longer works.'),
  });
  const name = row.name ?? row.prefix;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {row.name ?? 'Without a name'}
        </Text>
      </Table.Td>
      <Table.Td data-label="Key">
        <code>{row.prefix}…</code>
      </Table.Td>
      <Table.Td data-label="Scopes">
        <Group gap={6}>
          {row.scopes.map((scope) => (
            <Badge key={scope} color="gray">
              {scope}
            </Badge>
          ))}
          {[...sayRules(row.rules), ...sayNetworks(row.networks)].map((rule) => (
            <Badge key={rule} color="yellow">
              {rule}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td data-label="Last used">
        {row.last_used_at ? <Time at={row.last_used_at} /> : 'Never'}
      </Table.Td>
      <Table.Td data-label="Created">
        <Time at={row.created_at} />
      </Table.Td>
      <Table.Td data-label="Expires">
        {row.expires_at ? <Time at={row.expires_at} /> : 'Never'}
      </Table.Td>
      <Table.Td className="to-the-right">
        {row.revoked_at !== null ? (
          <State tone="bad">Revoked</State>
        ) : row.expires_at !== null && Date.parse(row.expires_at) <= Date.now() ? (
          <State tone="bad">Expired</State>
        ) : (
          may && (
            <Tooltip label="Revoke">
              <ActionIcon
                aria-label={`Revoke ${name}`}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Revoke ${name}?`,
                    body: 'Every call with this key gets 401 from now on. This cannot be undone.',
                    act: 'Revoke the key',
                  });
                  if (yes) revoke.mutate({ id: row.id });
                }}
              >
                <TrashIcon size={16} />
              </ActionIcon>
            </Tooltip>
          )
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function sayRules(rules: ApiKey['rules']): string[] {
  if (rules === null) return [];
  return [
    rules.sandbox_only && 'sandbox only',
    rules.templates_only && 'templates only',
    rules.no_bcc && 'no bcc',
    rules.daily_cap !== null && `${rules.daily_cap} a day`,
    rules.allowed_recipients !== null && `to ${sayRecipients(rules.allowed_recipients)}`,
  ].filter((rule) => typeof rule === 'string');
}

const sayNetworks = (networks: string[] | null): string[] =>
  networks === null ? [] : [`from ${sayRecipients(networks)}`];

const sayRecipients = ([first = 'nobody', ...others]: string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;
