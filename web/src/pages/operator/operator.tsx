// Operator: all accounts of this service with plan, quota and rate; make, change, suspend and
// resume.
import { Badge, Box, Button, Menu, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { OperatedAccount } from '../../../../src/client/operations.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { DotsIcon, PlusIcon } from '../../parts/icons.tsx';
import { LoadingRows, Page, ShowMore, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { EditAccount, NewAccountDialog, SuspendDialog } from './account-dialogs.tsx';
import { Processes } from './processes.tsx';
import { Quarantine } from './quarantine.tsx';

const count = new Intl.NumberFormat();

export function OperatorPage() {
  const accounts = useRows('accounts.list', { limit: 100 });
  const [creating, dialog] = useDisclosure();
  const [editing, setEditing] = useState<OperatedAccount>();
  const [suspending, setSuspending] = useState<OperatedAccount>();
  return (
    <Page
      title="Accounts"
      lead="Everybody who sends through this service. You see this as its operator."
      actions={
        <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
          New account
        </Button>
      }
    >
      {accounts.isError && <Fault fault={accounts.error} retry={accounts.refetch} />}
      {accounts.isPending && <LoadingRows />}
      {accounts.data && (
        <TableBox label="Accounts">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Account</Table.Th>
                <Table.Th>Plan</Table.Th>
                <Table.Th className="to-the-right">Used today</Table.Th>
                <Table.Th className="to-the-right">Daily quota</Table.Th>
                <Table.Th className="to-the-right">Calls a second</Table.Th>
                <Table.Th className="to-the-right">Members</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th aria-label="Actions" />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {accounts.data.pages
                .flatMap((page) => page.data)
                .map((account) => (
                  <AccountLine
                    key={account.id}
                    account={account}
                    onEdit={() => setEditing(account)}
                    onSuspend={() => setSuspending(account)}
                  />
                ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
      <ShowMore pages={accounts} />
      {/* After the accounts, so that nothing jumps when they come. */}
      {accounts.data && (
        <Box mt={36}>
          <Processes />
        </Box>
      )}
      {accounts.data && <Quarantine />}
      <NewAccountDialog opened={creating} onClose={dialog.close} />
      <EditAccount account={editing} onClose={() => setEditing(undefined)} />
      <SuspendDialog account={suspending} onClose={() => setSuspending(undefined)} />
    </Page>
  );
}

interface LineProps {
  account: OperatedAccount;
  onEdit: () => void;
  onSuspend: () => void;
}

function AccountLine({ account, onEdit, onSuspend }: LineProps) {
  const confirm = useConfirm();
  const resume = useChange('accounts.resume', {
    changes: ['accounts.list'],
    onDone: () => tellDone(`${account.name} may send again`),
  });
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {account.name}
        </Text>
        <Text size="xs" c="dimmed">
          {account.id} · since <Time at={account.created_at} />
        </Text>
      </Table.Td>
      <Table.Td data-label="Plan">
        <Badge color={account.plan === 'paid' ? 'martin' : 'gray'}>
          {account.plan === 'paid' ? 'Paid' : 'Free'}
        </Badge>
      </Table.Td>
      <Table.Td className="to-the-right" data-label="Used today">
        {count.format(account.used_today)}
      </Table.Td>
      <Table.Td className="to-the-right" data-label="Daily quota">
        {count.format(account.daily_quota)}
      </Table.Td>
      <Table.Td className="to-the-right" data-label="Calls a second">
        {count.format(account.rate_per_second)}
      </Table.Td>
      <Table.Td className="to-the-right" data-label="Members">
        {account.members}
      </Table.Td>
      <Table.Td data-label="State">
        {account.suspended ? (
          <>
            <State tone="bad">Suspended</State>
            <Text size="xs" c="dimmed">
              {account.suspended.reason}
            </Text>
          </>
        ) : account.paused ? (
          <>
            <State tone="warn">Paused</State>
            <Text size="xs" c="dimmed">
              {account.paused.reason}
            </Text>
          </>
        ) : (
          <State tone="good">Active</State>
        )}
      </Table.Td>
      <Table.Td className="to-the-right">
        <Menu position="bottom-end">
          <Menu.Target>
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-label={`Manage ${account.name}`}
            >
              <DotsIcon />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={onEdit}>Plan, quota and rate</Menu.Item>
            {account.suspended || account.paused ? (
              <Menu.Item
                onClick={async () => {
                  const yes = await confirm({
                    title: `Let ${account.name} send again?`,
                    body: 'Its keys work again at once.',
                    act: 'Resume',
                    harmless: true,
                  });
                  if (yes) {
                    resume.mutate({ id: account.id }, { onError: tellFault });
                  }
                }}
              >
                Resume
              </Menu.Item>
            ) : (
              <Menu.Item color="red" onClick={onSuspend}>
                Suspend …
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}
