// API keys: make one (shown once), see what each may do and when it was last used, revoke.
import { ActionIcon, Badge, Button, Group, Switch, Table, Text, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { KeyRow } from '../../../../src/dashboard/views/keys.ts';
import { useAction, useWatched } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { KeysIcon, PlusIcon, TrashIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { NewKeyDialog } from './new-key.tsx';

export function KeysPage() {
  const may = useMay('developer');
  const keys = useWatched('listKeys');
  const [opened, { open, close }] = useDisclosure();
  const [withRevoked, setWithRevoked] = useState(false);
  const all = keys.data?.keys ?? [];
  const shown = all.filter((key) => withRevoked || key.revokedAt === null);
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
      {all.some((key) => key.revokedAt !== null) && (
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

function KeyLine({ row }: { row: KeyRow }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const revoke = useAction('revokeKey', {
    changes: ['listKeys', 'getOverview'],
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
          {[...sayLimits(row.limits), ...sayNetworks(row.networks)].map((limit) => (
            <Badge key={limit} color="yellow">
              {limit}
            </Badge>
          ))}
        </Group>
      </Table.Td>
      <Table.Td data-label="Last used">
        {row.lastUsedAt ? <Time at={row.lastUsedAt} /> : 'Never'}
      </Table.Td>
      <Table.Td data-label="Created">
        <Time at={row.createdAt} />
      </Table.Td>
      <Table.Td data-label="Expires">
        {row.expiresAt ? <Time at={row.expiresAt} /> : 'Never'}
      </Table.Td>
      <Table.Td className="to-the-right">
        {row.revokedAt !== null ? (
          <State tone="bad">Revoked</State>
        ) : row.expiresAt !== null && Date.parse(row.expiresAt) <= Date.now() ? (
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
                  if (yes) revoke.mutate({ params: { id: row.id } }, { onError: tellFault });
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

function sayLimits(limits: KeyRow['limits']): string[] {
  if (limits === null) return [];
  return [
    limits.sandboxOnly && 'sandbox only',
    limits.templatesOnly && 'templates only',
    limits.noBcc && 'no bcc',
    limits.dailyCap !== null && `${limits.dailyCap} a day`,
    limits.allowedRecipients !== null && `to ${sayRecipients(limits.allowedRecipients)}`,
  ].filter((limit) => typeof limit === 'string');
}

const sayNetworks = (networks: string[] | null): string[] =>
  networks === null ? [] : [`from ${sayRecipients(networks)}`];

const sayRecipients = ([first = 'nobody', ...others]: string[]): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`;
