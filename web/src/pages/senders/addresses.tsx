// Single addresses that may send, and whether their link was opened.
import { ActionIcon, Button, Group, Table } from '@mantine/core';
import type { SenderAddress } from '../../../../src/client/operations.ts';
import { type Output, useChange } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { TrashIcon } from '../../parts/icons.tsx';
import { RowTable } from '../../parts/list.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';
import { useMay } from '../../session.ts';

/** What happened to the link. */
export function tellAsked({ address, verified, note }: Output<'addresses.put'>): void {
  if (note !== null) tellFault(note);
  else tellDone(verified ? `${address} is verified.` : `A link was emailed to ${address}.`);
}

export function AddressTable({ addresses }: { addresses: SenderAddress[] }) {
  return (
    <RowTable label="Addresses" columns={['Address', 'State', 'Added']} actions>
      {addresses.map((address) => (
        <AddressLine key={address.address} row={address} />
      ))}
    </RowTable>
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
    foresee: { 'addresses.list': (one, input) => (one.address === input.address ? null : one) },
    onDone: () => tellDone(`${address} was removed.`),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{address}</Table.Td>
      <Table.Td data-label="State">
        {row.verified ? (
          <State tone="good">Verified</State>
        ) : (
          <State tone="warn">{row.link_until ? 'Waiting for the link' : 'Link has expired'}</State>
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
                Email again
              </Button>
            )}
            <Tooltip label="Remove">
              <ActionIcon
                aria-label={`Remove ${address}`}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Remove ${address}?`,
                    body: 'Emails from it are refused from now on. To use it again, you must verify it again.',
                    act: 'Remove the address',
                  });
                  if (yes) remove.mutate({ address });
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
