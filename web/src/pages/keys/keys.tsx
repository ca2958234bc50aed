// API keys: make one (shown once), see what each may do and when it was last used, revoke.
import { ActionIcon, Badge, Button, Group, Switch, Table, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { ApiKey } from '../../../../src/client/operations.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { KeysIcon, PlusIcon, TrashIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, ShowMore, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { NewKeyDialog } from './new-key.tsx';

export function KeysPage() {
  const may = useMay('developer');
  const keys = useRows('keys.list', {}, { watched: true });
  const [opened, { open, close }] = useDisclosure();
  const [withRevoked, setWithRevoked] = useState(false);
  const all = keys.data?.pages.flatMap((page) => page.data) ?? [];
  const shown = all.filter((key) => withRevoked || key.revoked_at === null);
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
      {keys.isError && <Fault fault={keys.error} retry={keys.refetch} />}
      {keys.isPending && <LoadingRows rows={4} />}
      {keys.isSuccess && shown.length === 0 && (
        <Empty icon={<KeysIcon />} title="No keys" action={create}>
          A key lets a program send mail and read what became of it.
        </Empty>
      )}
      {shown.length > 0 && (
        <TableBox label="API keys">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Name</Table.Th>
                <Table.Th>Key</Table.Th>
                <Table.Th>May</Table.Th>
                <Table.Th>Last used</Table.Th>
                <Table.Th>Created</Table.Th>
                <Table.Th>Expires</Table.Th>
                <Table.Th aria-label="Actions" />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {shown.map((key) => (
                <KeyLine key={key.id} row={key} />
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
      <ShowMore pages={keys} />
      {all.some((key) => key.revoked_at !== null) && (
        <Switch
          mt="md"
          label="Show revoked keys"
          checked={withRevoked}
          onChange={(event) => setWithRevoked(event.currentTarget.checked)}
        />
      )}
      <NewKeyDialog opened={opened} onClose={close} />
    </Page>
  );
}

function KeyLine({ row }: { row: ApiKey }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const revoke = useChange('keys.revoke', {
    changes: ['keys.list'],
    onDone: () => tellDone('Revoked. The key is refused from now on.'),
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
      <Table.Td data-label="May">
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
                loading={revoke.isPending}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Revoke ${name}?`,
                    body: 'Whatever uses this key is refused at once, with 401. This cannot be undone.',
                    act: 'Revoke the key',
                  });
                  if (yes) revoke.mutate({ id: row.id }, { onError: tellFault });
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
