// The list of pages in the shell.
import { Box } from '@mantine/core';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import {
  AccountIcon,
  BrandingIcon,
  CheckIcon,
  HistoryIcon,
  InfoIcon,
  KeysIcon,
  MessagesIcon,
  OperatorIcon,
  OverviewIcon,
  SandboxIcon,
  SendersIcon,
  SendIcon,
  StreamsIcon,
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
  /** Others may not see this page. */
  forOwners?: true;
}

const groups: { heading: string | null; entries: Entry[] }[] = [
  {
    heading: null,
    entries: [
      { to: '/', label: 'Overview', icon: OverviewIcon },
      { to: '/messages', label: 'Messages', icon: MessagesIcon },
      { to: '/approvals', label: 'Waiting for approval', icon: CheckIcon },
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
      { to: '/connect', label: 'Connect', icon: InfoIcon },
      { to: '/keys', label: 'API keys', icon: KeysIcon },
      { to: '/senders', label: 'Senders', icon: SendersIcon },
      { to: '/webhooks', label: 'Webhooks', icon: WebhooksIcon },
    ],
  },
  {
    heading: 'Delivery',
    entries: [
      { to: '/streams', label: 'Streams', icon: StreamsIcon },
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
  entries: [
    { to: '/operator', label: 'Accounts', icon: OperatorIcon },
    { to: '/operator/relays', label: 'Relays', icon: SendIcon },
  ] as Entry[],
};

/** What this person may see. */
function useGroups() {
  const { account, user } = useMe();
  const owner = useMay('owner');
  return [...(account ? groups : []), ...(user.operator ? [operating] : [])].map((group) => ({
    ...group,
    entries: group.entries.filter(({ forOwners }) => owner || !forOwners),
  }));
}

/** The same as one list, for the palette. */
export const useEntries = (): Entry[] =>
  useGroups().flatMap(({ heading, entries }) =>
    // Two pages are called Accounts and Relays only in their headings.
    entries.map((entry) =>
      heading === 'Operator' ? { ...entry, label: `${heading}: ${entry.label}` } : entry,
    ),
  );

export function Navigation({ onGo }: { onGo: () => void }) {
  return (
    <nav aria-label="Pages">
      {useGroups().map(({ heading, entries }) => (
        <Box key={heading}>
          {heading && <div className="nav-heading">{heading}</div>}
          {entries.map(({ to, label, icon: Icon }) => (
            <Link
              key={label}
              to={to}
              className="nav-link"
              activeOptions={{ exact: to === '/' || to === '/operator' }}
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
