// Single addresses that may send, and whether their link was followed.
import { ActionIcon, Button, Group, Table, Tooltip } from '@mantine/core';
import type { SenderAddress } from '../../../../src/client/operations.ts';
import { type Output, useChange } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { TrashIcon } from '../../parts/icons.tsx';
import { TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

/** What became of the link. */
export function tellAsked({ address, verified, note }: Output<'addresses.put'>): void {
  if (note !== null) tellFault(note);
  else tellDone(verified ? `${address} is verified.` : `A link was mailed to ${address}.`);
}

export function AddressTable({ addresses }: { addresses: SenderAddress[] }) {
  return (
    <TableBox label="Addresses">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Address</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Added</Table.Th>
            <Table.Th aria-label="Actions" />
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {addresses.map((address) => (
            <AddressLine key={address.address} row={address} />
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

function AddressLine({ row }: { row: SenderAddress }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const { address } = row;
  const verify = useChange('addresses.verify', {
    changes: ['addresses.list'],
    onDone: tellAsked,
  });
  const remove = useChange('addresses.remove', {
    changes: ['addresses.list'],
    onDone: () => tellDone(`${address} was removed.`),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{address}</Table.Td>
      <Table.Td data-label="State">
        {row.verified ? (
          <State tone="good">Verified</State>
        ) : (
          <State tone="warn">{row.link_until ? 'Waiting for the link' : 'Link is too old'}</State>
        )}
      </Table.Td>
      <Table.Td data-label="Added">
        <Time at={row.created_at} />
      </Table.Td>
      <Table.Td>
        {may && (
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            {!row.verified && (
              <Button
                size="compact-sm"
                variant="default"
                loading={verify.isPending}
                onClick={() => verify.mutate({ address }, { onError: tellFault })}
              >
                Mail again
              </Button>
            )}
            <Tooltip label="Remove">
              <ActionIcon
                aria-label={`Remove ${address}`}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Remove ${address}?`,
                    body: 'Mail from it is refused from now on. To use it again, it must be verified anew.',
                    act: 'Remove the address',
                  });
                  if (yes) remove.mutate({ address }, { onError: tellFault });
                }}
              >
                <TrashIcon size={16} />
              </ActionIcon>
            </Tooltip>
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
