// Overview: what needs an action, today's quota, and what became of the mails. Before the first
// mail: the quickstart.
import {
  Alert,
  Box,
  Group,
  Paper,
  Progress,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type {
  Alert as ActionNeeded,
  Statistics,
  Usage,
} from '../../../../src/client/operations.ts';
import { api, useRead } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { ChevronIcon, WarningIcon } from '../../parts/icons.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { QuickstartPanel } from './quickstart.tsx';

// Charts weigh more than the rest of the page together.
const VolumeChart = lazy(async () => ({
  default: (await import('./volume-chart.tsx')).VolumeChart,
}));

type Days = 1 | 7 | 30 | 90;
const count = new Intl.NumberFormat();
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function OverviewPage() {
  const [days, setDays] = useState<Days>(7);
  // Once the first mail is on its way its timeline stays in sight until the reader moves on.
  const [quickstarting, setQuickstarting] = useState<boolean>();
  const usage = useRead('usage.get', {}, { watched: true });
  const alerts = useRead('usage.listAlerts', {}, { watched: true });
  const statistics = useQuery({
    queryKey: ['usage.statistics', { days }],
    queryFn: () => api.usage.statistics({ days }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.complete === false ? 3000 : 15_000),
  });
  if (usage.data && quickstarting === undefined) setQuickstarting(!usage.data.has_sent);

  const failed = [usage, statistics, alerts].find(({ isError, data }) => isError && !data);
  if (failed) {
    return (
      <Page title="Overview">
        <Fault fault={failed.error!} retry={failed.refetch} />
      </Page>
    );
  }
  if (usage.data && quickstarting) {
    return (
      <Page title="Send your first mail" lead="One call, sixty seconds. Then watch it arrive.">
        <QuickstartPanel usage={usage.data} onDone={() => setQuickstarting(false)} />
      </Page>
    );
  }
  const loaded = usage.data && alerts.data && statistics.data;
  return (
    <Page
      title="Overview"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={String(days)}
          onChange={(value) => setDays(Number(value) as Days)}
          data={[
            { value: '1', label: '24 hours' },
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
            { value: '90', label: '90 days' },
          ]}
        />
      }
    >
      {loaded ? (
        <Loaded usage={usage.data} statistics={statistics.data} alerts={alerts.data.data} />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

/** Apart from what comes: problems stand above the figures, and nothing that is shown may jump. */
function Loading() {
  return (
    <>
      <Figures data={undefined} usage={undefined} />
      <Skeleton height={320} />
    </>
  );
}

interface LoadedProps {
  usage: Usage;
  statistics: Statistics;
  alerts: ActionNeeded[];
}

function Loaded({ usage, statistics, alerts }: LoadedProps) {
  return (
    <>
      {alerts.length > 0 && <Alerts alerts={alerts} />}
      <Figures data={statistics} usage={usage} />
      <Section title="Volume">
        <Paper p="lg" pl="xs">
          <Suspense fallback={<Skeleton height={280} />}>
            <VolumeChart statistics={statistics} />
          </Suspense>
        </Paper>
      </Section>
      <Section
        title="Latest messages"
        actions={
          <Link to="/messages" className="plain-link">
            All messages
          </Link>
        }
      >
        <LatestMessages />
      </Section>
    </>
  );
}

interface FiguresProps {
  data: Statistics | undefined;
  usage: Usage | undefined;
}

function Figures({ data, usage }: FiguresProps) {
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} mb={36} spacing="md">
      <Figure
        label="Sent"
        value={data && count.format(data.totals.sends)}
        note="messages handed over"
      />
      <Figure
        label="Delivered"
        value={data && rate(data.rates.delivered)}
        note={data && say(data.totals.delivered, 'message')}
      />
      <Figure
        label="Opened"
        value={data && rate(data.rates.opened)}
        note={data && `${count.format(data.totals.clicked)} clicked`}
      />
      <Figure
        label="Bounced"
        value={data && rate(data.rates.bounced)}
        note={data && say(data.totals.complained, 'complaint')}
      />
      <Box style={{ gridColumn: '1 / -1' }}>
        <QuotaBar quota={usage} />
      </Box>
    </SimpleGrid>
  );
}

const say = (number: number, what: string): string =>
  `${count.format(number)} ${what}${number === 1 ? '' : 's'}`;

const rate = (value: number | null): string => (value === null ? '–' : share.format(value));

function Figure({ label, value, note }: { label: string; value?: string; note?: string }) {
  return (
    <Paper p="lg">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Skeleton visible={value === undefined} mt={6}>
        <Text className="figure">{value ?? '0'}</Text>
      </Skeleton>
      <Skeleton visible={note === undefined} mt={4}>
        <Text size="xs" c="dimmed">
          {note ?? '0'}
        </Text>
      </Skeleton>
    </Paper>
  );
}

function QuotaBar({ quota }: { quota: Usage | undefined }) {
  const used = quota ? (quota.limit === 0 ? 1 : quota.used / quota.limit) : 0;
  return (
    <Paper p="lg">
      <Group justify="space-between" mb={10}>
        <Text size="sm">
          <Text span fw={600}>
            {quota ? count.format(quota.used) : '0'}
          </Text>{' '}
          of {quota ? count.format(quota.limit) : '0'} recipients today
        </Text>
        <Text size="sm" c="dimmed">
          {quota ? count.format(quota.left) : '0'} left · starts anew{' '}
          {quota ? <Time at={quota.resets_at} /> : 'soon'}
        </Text>
      </Group>
      <Progress
        value={used * 100}
        color={used > 0.95 ? 'red' : used > 0.8 ? 'yellow' : 'martin'}
        size="sm"
        aria-label="Share of today's quota that is used"
      />
    </Paper>
  );
}

function Alerts({ alerts }: { alerts: ActionNeeded[] }) {
  return (
    <Stack gap="xs" mb="xl" component="section" aria-label="Needs your attention">
      {alerts.map((alert) => (
        <Alert
          key={`${alert.kind} ${alert.subject}`}
          color={{ warning: 'yellow', critical: 'red' }[alert.severity]}
          icon={<WarningIcon />}
          title={alert.title}
        >
          <Group justify="space-between" align="flex-end" gap="xs">
            <Text size="sm" flex={1} miw={220}>
              {alert.detail}
            </Text>
            {alert.resource && (
              <Link to={`/${alert.resource}`} className="problem-link">
                Go to {alert.resource} <ChevronIcon size={14} />
              </Link>
            )}
          </Group>
        </Alert>
      ))}
    </Stack>
  );
}
