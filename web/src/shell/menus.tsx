// The two menus of the shell: which account, and who.
import { Avatar, Group, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { SessionState } from '../../../src/dashboard/views/session.ts';
import { SESSION_KEY, useAction } from '../api.ts';
import { useEnter } from '../enter.ts';
import { forgetDrafts } from '../kept-draft.ts';
import { ChevronDownIcon, SignOutIcon, TeamIcon } from '../parts/icons.tsx';
import { Menu, MenuChoice, MenuDivider, MenuItem, MenuLabel } from '../parts/menu.tsx';
import { tellFault } from '../parts/results.ts';
import { capital } from '../parts/status.tsx';
import { useMe } from '../session.ts';

export function AccountMenu() {
  const { account, accounts } = useMe();
  const enter = useEnter();
  const navigate = useNavigate();
  const move = useAction('switchAccount', {
    onDone: (me) => {
      enter(me);
      void navigate({ to: '/' });
    },
  });
  if (account === null) return null;
  if (accounts.length < 2) {
    return (
      <div className="account-name">
        <AccountLabel name={account.name} role={account.role} />
      </div>
    );
  }
  return (
    <Menu
      width={232}
      align="start"
      target={
        <UnstyledButton className="account-name" data-button>
          <AccountLabel name={account.name} role={account.role} />
          <ChevronDownIcon size={15} />
        </UnstyledButton>
      }
    >
      <MenuLabel>Your accounts</MenuLabel>
      {accounts.map((one) => (
        <MenuItem
          key={one.id}
          current={one.id === account.id}
          onClick={() => move.mutate({ body: { accountId: one.id } }, { onError: tellFault })}
        >
          {one.name}
        </MenuItem>
      ))}
    </Menu>
  );
}

function AccountLabel({ name, role }: { name: string; role: string }) {
  return (
    <div className="cut">
      <Text size="sm" fw={600} truncate>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        {capital(role)}
      </Text>
    </div>
  );
}

export function UserMenu() {
  const { user, service } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const leave = useAction('signOut', {
    onDone: () => {
      forgetDrafts(user.id);
      queries.clear();
      queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-out', me: null });
      void navigate({ to: '/sign-in' });
    },
  });
  return (
    <Menu
      width={232}
      align="start"
      above
      target={
        <UnstyledButton className="account-name" data-button>
          <Group gap={10} wrap="nowrap" miw={0}>
            <Avatar size={28} color="martin" radius="xl" name={user.name || user.email} />
            <div className="cut">
              <Text size="sm" fw={500} truncate>
                {user.name || user.email}
              </Text>
            </div>
          </Group>
          <ChevronDownIcon size={15} />
        </UnstyledButton>
      }
    >
      <MenuLabel>{user.email}</MenuLabel>
      <Schemes />
      <MenuDivider />
      <Link to="/profile" role="menuitem" tabIndex={-1} className="menu-item">
        <TeamIcon size={16} />
        <span className="menu-words">Profile & password</span>
      </Link>
      <MenuItem
        icon={<SignOutIcon size={16} />}
        onClick={() => leave.mutate({}, { onError: tellFault })}
      >
        Sign out
      </MenuItem>
      <MenuDivider />
      <MenuLabel>Sandmartin {service.version}</MenuLabel>
    </Menu>
  );
}

const schemes = { light: 'Light', dark: 'Dark', auto: 'System' } as const;

function Schemes() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return Object.entries(schemes).map(([scheme, label]) => (
    <MenuChoice
      key={scheme}
      checked={scheme === colorScheme}
      onClick={() => setColorScheme(scheme as keyof typeof schemes)}
    >
      {label}
    </MenuChoice>
  ));
}
