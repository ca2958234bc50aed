// The frame around every signed-in page: navigation at the side (a drawer on phones), account and
// user menus, banners, the question before what cannot be undone, and what was done.
import { AppShell, Burger, Group, ScrollArea, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { ConfirmProvider } from '../parts/confirm.tsx';
import { Mark } from '../parts/mark.tsx';
import { MeContext, sessionQuery } from '../session.ts';
import { Banners } from './banners.tsx';
import { Keyboard } from './keyboard.tsx';
import { AccountMenu, UserMenu } from './menus.tsx';
import { Navigation } from './navigation.tsx';
import { OtherAccount } from './other-account.tsx';
import { SignInAgain } from './sign-in-again.tsx';

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { data } = useQuery(sessionQuery);
  // Between a session's end and the redirect there is one render without a user.
  if (!data?.me) return null;
  return (
    <MeContext value={data.me}>
      <Notifications position="bottom-right" limit={4} />
      <ConfirmProvider>
        <SignInAgain />
        <OtherAccount />
        <Keyboard />
        <AppShell
          header={{ height: { base: 56, sm: 0 } }}
          navbar={{ width: 244, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        >
          <button type="button" className="skip" onClick={skipToPage}>
            Skip to the page
          </button>
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
      </ConfirmProvider>
    </MeContext>
  );
}

/** No link: with a <base>, `#main` is a place on the first page. */
const skipToPage = (): void => document.getElementById('main')?.focus();

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
