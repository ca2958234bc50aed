// The frame around every signed-in page: navigation at the side (a drawer on phones), account and
// user menus, banners.
import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { Mark } from '../parts/mark.tsx';
import { MeContext, sessionQuery } from '../session.ts';
import { Banners } from './banners.tsx';
import { AccountMenu, UserMenu } from './menus.tsx';
import { Navigation } from './navigation.tsx';

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { data } = useQuery(sessionQuery);
  // Between a session's end and the redirect there is one render without a user.
  if (!data?.me) return null;
  return (
    <MeContext value={data.me}>
      <AppShell
        header={{ height: { base: 56, sm: 0 } }}
        navbar={{ width: 244, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      >
        <a href="#main" className="skip">
          Skip to the page
        </a>
        <AppShell.Header className="shell-header" hiddenFrom="sm">
          <Group h="100%" px="md" justify="space-between">
            <Brand />
            <Burger
              opened={opened}
              onClick={toggle}
              size="sm"
              aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
            />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar className="shell-nav" p="sm">
          <AppShell.Section visibleFrom="sm" px={6} pt={6} pb="md">
            <Brand />
          </AppShell.Section>
          <AppShell.Section pb={6}>
            <AccountMenu />
          </AppShell.Section>
          <AppShell.Section grow component={ScrollArea} scrollbarSize={6}>
            <Navigation onGo={close} />
          </AppShell.Section>
          <AppShell.Section pt="sm">
            <UserMenu />
          </AppShell.Section>
        </AppShell.Navbar>
        <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
          <Banners />
          <Outlet />
        </AppShell.Main>
      </AppShell>
    </MeContext>
  );
}

function Brand() {
  return (
    <Link to="/" className="brand" aria-label="Sandmartin, overview">
      <Mark size={26} />
      <Text span fw={650} fz={16} lts="-0.02em">
        Sandmartin
      </Text>
    </Link>
  );
}
