// Account and plan: quota and rate, what is blocked and why, the name, and how emails are tracked.
import '@mantine/core/styles/Progress.css';
import {
  Alert,
  Badge,
  Button,
  Group,
  List,
  Paper,
  Progress,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Account } from '../../../../src/client/operations.ts';
import type { SessionState } from '../../../../src/dashboard/views/session.ts';
import { SESSION_KEY } from '../../api.ts';
import { useChange, useRead } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { WarningIcon } from '../../parts/icons.tsx';
import { Fact, LoadingRows, Page, Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { SigningIn } from './signing-in.tsx';

const count = new Intl.NumberFormat();

export function AccountPage() {
  const account = useRead('account.get', {});
  return (
    <Page title="Account & plan">
      {account.isError && !account.data && <Fault fault={account.error} retry={account.refetch} />}
      {account.isPending && <LoadingRows />}
      {account.data && (
        <>
          <Blocked account={account.data} />
          <Plan account={account.data} />
          <Name account={account.data} />
          <TrackingSwitches account={account.data} />
          <SigningIn />
        </>
      )}
    </Page>
  );
}

function Blocked({ account }: { account: Account }) {
  if (account.blocked.length === 0) return null;
  return (
    <Alert
      color={account.suspended ? 'red' : 'yellow'}
      icon={<WarningIcon />}
      title={account.suspended ? 'This account is suspended' : 'Some things are blocked'}
      mb="xl"
    >
      <List size="sm" spacing={6}>
        {account.blocked.map(({ what, why }) => (
          <List.Item key={what}>
            <Text span fw={600} size="sm">
              {what}
            </Text>
            : {why}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Plan({ account: { plan, quota, created_at, id } }: { account: Account }) {
  return (
    <Section title="Plan">
      <Paper p="lg">
        <div className="columns columns-2 columns-sm-4 above-bar">
          <Fact label="Plan">
            <Badge color={plan === 'paid' ? 'martin' : 'yellow'}>
              {plan === 'paid' ? 'Paid' : 'Free'}
            </Badge>
          </Fact>
          <Fact label="Recipients per day">{count.format(quota.limit)}</Fact>
          <Fact label="Calls per second">{count.format(quota.rate_per_second)}</Fact>
          <Fact label="Account">
            {id}, since <Time at={created_at} />
          </Fact>
        </div>
        <Group justify="space-between" mb={8}>
          <Text size="sm">
            {count.format(quota.used)} used today, {count.format(quota.left)} left
          </Text>
          <Text size="sm" c="dimmed">
            resets <Time at={quota.resets_at} />
          </Text>
        </Group>
        <Progress
          value={quota.limit === 0 ? 0 : (quota.used / quota.limit) * 100}
          size="sm"
          aria-label="Share of today's quota used"
        />
        <Text size="xs" c="dimmed" mt="md">
          The operator of this service sets plan, quota and rate.
        </Text>
      </Paper>
    </Section>
  );
}

function Name({ account }: { account: Account }) {
  const owner = useMay('owner');
  const queries = useQueryClient();
  const [name, setName] = useState(account.name);
  const change = useChange('account.update', {
    changes: ['account.get'],
    onDone: (changed) => {
      tellDone('Saved');
      queries.setQueryData<SessionState>(SESSION_KEY, (before) =>
        before?.me?.account
          ? {
              ...before,
              me: { ...before.me, account: { ...before.me.account, name: changed.name } },
            }
          : before,
      );
    },
  });
  return (
    <Section title="Name">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ name: name.trim() }, { onError: tellFault });
        }}
      >
        <Group align="flex-end">
          <TextInput
            aria-label="Name of the account"
            w={340}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            readOnly={!owner}
            required
          />
          {owner && (
            <Button
              type="submit"
              variant="default"
              loading={change.isPending}
              disabled={name.trim() === account.name || name.trim() === ''}
            >
              Save
            </Button>
          )}
        </Group>
      </form>
    </Section>
  );
}

const tracks = [
  {
    field: 'track_opens',
    label: 'Opens',
    description: 'An invisible image records when an email is opened',
  },
  {
    field: 'track_clicks',
    label: 'Clicks',
    description: 'Links go through this service, except in emails about signing in and security',
  },
  {
    field: 'one_click_unsubscribe',
    label: 'One-click unsubscribe',
    description: 'Email programs show an unsubscribe button',
  },
  {
    field: 'refuse_unaligned',
    label: 'Refuse email that cannot pass DMARC',
    description: 'Otherwise it is sent, and the response carries a warning',
  },
  {
    field: 'lint_sends',
    label: 'Lint every send',
    description: 'The response to each send lists what receivers could object to',
  },
] as const;

function TrackingSwitches({ account }: { account: Account }) {
  const owner = useMay('owner');
  const change = useChange('account.update', {
    foresee: { 'account.get': (before, change) => ({ ...before, ...change }) },
    onDone: () => tellDone('Saved'),
  });
  return (
    <Section title="Sending" lead="Applies to emails sent from now on.">
      <Paper p="lg">
        <Stack gap="lg">
          {tracks.map(({ field, label, description }) => (
            <Switch
              key={field}
              label={label}
              description={description}
              checked={account[field]}
              disabled={!owner}
              onChange={(event) => change.mutate({ [field]: event.currentTarget.checked })}
            />
          ))}
        </Stack>
      </Paper>
    </Section>
  );
}
