// The list of pages in the shell.
import { Box } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import {
  AccountIcon,
  BrandingIcon,
  HistoryIcon,
  KeysIcon,
  MessagesIcon,
  OperatorIcon,
  OverviewIcon,
  SandboxIcon,
  SendersIcon,
  SuppressionsIcon,
  TeamIcon,
  TemplatesIcon,
  WebhooksIcon,
} from '../parts/icons.tsx';
import { useMay, useMe } from '../session.ts';

interface Entry {
  to: LinkProps['to'];
  label: string;
  icon: ComponentType<{ size?: number }>;
  /** Others may not see what is there. */
  forOwners?: true;
}

const groups: { heading: string | null; entries: Entry[] }[] = [
  {
    heading: null,
    entries: [
      { to: '/', label: 'Overview', icon: OverviewIcon },
      { to: '/messages', label: 'Messages', icon: MessagesIcon },
    ],
  },
  {
    heading: 'Design',
    entries: [
      { to: '/templates', label: 'Templates', icon: TemplatesIcon },
      { to: '/branding', label: 'Branding', icon: BrandingIcon },
    ],
  },
  {
    heading: 'Connect',
    entries: [
      { to: '/keys', label: 'API keys', icon: KeysIcon },
      { to: '/senders', label: 'Senders', icon: SendersIcon },
      { to: '/webhooks', label: 'Webhooks', icon: WebhooksIcon },
    ],
  },
  {
    heading: 'Delivery',
    entries: [
      { to: '/suppressions', label: 'Suppressions', icon: SuppressionsIcon },
      { to: '/sandbox', label: 'Sandbox', icon: SandboxIcon },
    ],
  },
  {
    heading: 'Settings',
    entries: [
      { to: '/team', label: 'Team', icon: TeamIcon },
      { to: '/account', label: 'Account & plan', icon: AccountIcon },
      { to: '/audit', label: 'Audit', icon: HistoryIcon, forOwners: true },
    ],
  },
];
const operating = {
  heading: 'Operator',
  entries: [{ to: '/operator', label: 'Accounts', icon: OperatorIcon } as Entry],
};

export function Navigation({ onGo }: { onGo: () => void }) {
  const { account, user } = useMe();
  const owner = useMay('owner');
  const shown = [...(account ? groups : []), ...(user.operator ? [operating] : [])];
  return (
    <nav aria-label="Pages">
      {shown.map(({ heading, entries }) => (
        <Box key={heading}>
          {heading && <div className="nav-heading">{heading}</div>}
          {entries
            .filter(({ forOwners }) => owner || !forOwners)
            .map(({ to, label, icon: Icon }) => (
              <Link
                key={label}
                to={to}
                className="nav-link"
                activeOptions={{ exact: to === '/' }}
                onClick={onGo}
              >
                <Icon />
                {label}
              </Link>
            ))}
        </Box>
      ))}
    </nav>
  );
}
