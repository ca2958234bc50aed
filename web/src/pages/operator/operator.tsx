// Operator: all accounts of this service with plan, quota and rate; create, change, suspend and
// resume them.
import { Badge, Box, Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { OperatedAccount } from '../../../../src/client/operations.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { NotFound } from '../../parts/fault.tsx';
import { DotsIcon, PlusIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMe } from '../../session.ts';
import { EditAccount, NewAccountDialog, SuspendDialog } from './account-dialogs.tsx';
import { KeptEmail } from './kept-emails.tsx';
import { Processes } from './processes.tsx';
import { Quarantine } from './quarantine.tsx';

const count = new Intl.NumberFormat();

export function OperatorPage() {
  const { user } = useMe();
  // The server would refuse all of it.
  return user.operator ? <Accounts /> : <NotFound />;
}

function Accounts() {
  const accounts = useRows('accounts.list', { limit: 100 });
  const [creating, dialog] = useDisclosure();
  const [editing, setEditing] = useState<OperatedAccount>();
  const [suspending, setSuspending] = useState<OperatedAccount>();
  return (
    <Page
      title="Accounts"
      lead="All accounts of this service. Only operators see this page."
      actions={
        <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
          New account
        </Button>
      }
    >
      <List asked={accounts} rows={accounts.rows}>
        {(rows) => (
          <RowTable label="Accounts" columns={columns} actions>
            {rows.map((account) => (
              <AccountLine
                key={account.id}
                account={account}
                onEdit={() => setEditing(account)}
                onSuspend={() => setSuspending(account)}
              />
            ))}
          </RowTable>
        )}
      </List>
      {/* After the accounts, so that nothing jumps when they are loaded. */}
      {accounts.data && (
        <Box mt={36}>
          <Processes />
        </Box>
      )}
      {accounts.data && <Quarantine />}
      {accounts.data && <KeptEmail />}
      <NewAccountDialog opened={creating} onClose={dialog.close} />
      <EditAccount account={editing} onClose={() => setEditing(undefined)} />
      <SuspendDialog account={suspending} onClose={() => setSuspending(undefined)} />
    </Page>
  );
}

const columns = [
  'Account',
  'Plan',
  { figures: 'Used today' },
  { figures: 'Daily quota' },
  { figures: 'Calls per second' },
  { figures: 'Members' },
  'State',
];

interface LineProps {
  account: OperatedAccount;
  onEdit: () => void;
  onSuspend: () => void;
}

function AccountLine({ account, onEdit, onSuspend }: LineProps) {
  const confirm = useConfirm();
  const resume = useChange('accounts.resume', {
    foresee: {
      'accounts.list': (one, { id }) =>
        one.id === id ? { ...one, suspended: null, paused: null } : one,
    },
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
      <Table.Td className="to-the-right" data-label="Calls per second">
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
        <Menu
          target={
            <Button
              variant="subtle"
              color="gray"
              size="compact-sm"
              aria-label={`Manage ${account.name}`}
            >
              <DotsIcon />
            </Button>
          }
        >
          <MenuItem onClick={onEdit}>Plan, quota and rate</MenuItem>
          {account.suspended || account.paused ? (
            <MenuItem
              onClick={async () => {
                const yes = await confirm({
                  title: `Let ${account.name} send again?`,
                  body: 'Its keys work again, and held emails are sent.',
                  act: 'Resume',
                  harmless: true,
                });
                if (yes) resume.mutate({ id: account.id });
              }}
            >
              Resume
            </MenuItem>
          ) : (
            <MenuItem danger onClick={onSuspend}>
              Suspend …
            </MenuItem>
          )}
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}
