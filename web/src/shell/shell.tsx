// The frame around every signed-in page: navigation at the side (a drawer on phones), account and
// user menus, banners, confirmation dialogs and toasts. focus-back.ts comes with the first page: it
// must know which button had the focus before the button's dialog is fetched.
import '../parts/focus-back.ts';
import { Burger, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import { ConfirmProvider } from '../parts/confirm.tsx';
import { Mark } from '../parts/mark.tsx';
import { Toasts } from '../parts/toasts.tsx';
import { Tooltips } from '../parts/tooltip.tsx';
import { MeContext, sessionQuery } from '../session.ts';
import { useCodeAhead } from './ahead.ts';
import { Banners } from './banners.tsx';
import { Interruptions } from './interruptions.tsx';
import { Keyboard } from './keyboard.tsx';
import { AccountMenu, UserMenu } from './menus.tsx';
import { Navigation } from './navigation.tsx';

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure();
  const { data } = useQuery(sessionQuery);
  useCodeAhead();
  // Between a session's end and the redirect there is one render without a user.
  if (!data?.me) return null;
  return (
    <MeContext value={data.me}>
      <Toasts />
      <Tooltips />
      <ConfirmProvider>
        <Interruptions />
        <Keyboard />
        <button type="button" className="skip" onClick={skipToPage}>
          Skip to the page
        </button>
        <header className="shell-header">
          <Brand />
          <Burger
            opened={opened}
            onClick={toggle}
            size="sm"
            aria-label={opened ? 'Close the navigation' : 'Open the navigation'}
          />
        </header>
        <div className="shell-nav" data-opened={opened || undefined}>
          <div className="shell-brand">
            <Brand />
          </div>
          <AccountMenu />
          <div className="shell-pages">
            <Navigation onGo={close} />
          </div>
          <UserMenu />
        </div>
        <main className="shell-main" id="main" tabIndex={-1}>
          <Banners />
          <Outlet />
        </main>
      </ConfirmProvider>
    </MeContext>
  );
}

/** Not a link: with a <base>, `#main` would lead to the first page. */
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
