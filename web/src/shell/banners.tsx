// Lines above every page about the state of the account or the service. They stay as long as they
// are true.
import { Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../operations.ts';
import { InfoIcon, WarningIcon } from '../parts/icons.tsx';
import { useMe } from '../session.ts';

export function Banners() {
  const { account, service, user } = useMe();
  return (
    <>
      {user.operator && <MissingRoles />}
      {user.operator && !service.sandbox && <SilentRelays />}
      {account?.suspended && (
        <Banner tone="bad">
          This account is suspended: nothing is sent. Ask the operator of this service.
        </Banner>
      )}
      {account?.plan === 'free' && (
        <Banner tone="warn">
          This account is on the free plan and cannot send.{' '}
          <Link to="/account" className="plain-link">
            See what is blocked
          </Link>
        </Banner>
      )}
      {account && service.sandbox && (
        <Banner tone="quiet">
          Sandbox (no relay is set): emails are captured, not delivered.{' '}
          <Link to="/sandbox" className="plain-link">
            Open the inbox
          </Link>
        </Banner>
      )}
    </>
  );
}

/** For operators: a process has to be started. */
function MissingRoles() {
  const { data } = useRead('service.get', {}, { watched: true });
  return data?.roles
    .filter(({ missing }) => missing)
    .map(({ role, detail }) => (
      <Banner key={role} tone="bad">
        {detail}
      </Banner>
    ));
}

/** For operators: emails that arrive look as if they never had. */
function SilentRelays() {
  const { data } = useRead('service.get', {}, { watched: true });
  const silent = data?.relays_without_reports ?? [];
  if (silent.length === 0) return null;
  const which =
    silent.length === 1 ? `The relay ${silent[0]} offers` : `${silent.join(', ')} offer`;
  return (
    <Banner tone="quiet">
      {which} no delivery reports (DSN), so email through {silent.length === 1 ? 'it' : 'them'} is
      never marked delivered.{' '}
      <Link to="/operator/relays" className="plain-link">
        See the relays
      </Link>
    </Banner>
  );
}

function Banner({ tone, children }: { tone: 'quiet' | 'warn' | 'bad'; children: ReactNode }) {
  return (
    <Group className="banner" data-tone={tone} gap={10} wrap="nowrap">
      {tone === 'quiet' ? <InfoIcon size={16} /> : <WarningIcon size={16} />}
      <Text size="sm" inherit>
        {children}
      </Text>
    </Group>
  );
}
