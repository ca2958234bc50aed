// Overview: what needs an action, today's quota, and what happened to emails. Before the first
// email: the quickstart.
import { Segments } from '../../parts/segments.tsx';
import '@mantine/core/styles/Progress.css';
import { Alert, Box, Group, Paper, Progress, Skeleton, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Alert as ActionNeeded, Analytics, Usage } from '../../../../src/client/operations.ts';
import { readOf, useRead } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { ChevronIcon, WarningIcon } from '../../parts/icons.tsx';
import { AfterPaint } from '../../parts/later.tsx';
import { LOADING, Page, Section } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';
import { Bars } from './bars.tsx';
import { Breakdown, type By } from './breakdown.tsx';
import { LatestMessages } from './latest-messages.tsx';
import { QuickstartPanel } from './quickstart.tsx';
import { Receivers } from './receivers.tsx';

const count = new Intl.NumberFormat();
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

export function OverviewPage() {
  const { days = 7, by = 'template' } = useSearch({ from: '/inside/' });
  const navigate = useNavigate({ from: '/' });
  const show = (change: { days?: number; by?: By }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  // Once the first email is on its way, its timeline stays in sight until the reader moves on.
  const [quickstarting, setQuickstarting] = useState<boolean>();
  const usage = useRead('usage.get', {}, { watched: true });
  const alerts = useRead('usage.listAlerts', {}, { watched: true });
  const analytics = useQuery({
    ...readOf('usage.analytics', { days, by }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.complete === false ? 3000 : 15_000),
  });
  if (usage.data && quickstarting === undefined) setQuickstarting(!usage.data.has_sent);

  const failed = [usage, analytics, alerts].find(({ isError, data }) => isError && !data);
  if (failed) {
    return (
      <Page title="Overview">
        <Fault fault={failed.error!} retry={failed.refetch} />
      </Page>
    );
  }
  if (usage.data && quickstarting) {
    return (
      <Page title="Send your first email" lead="One call, sixty seconds. Then watch it arrive.">
        <QuickstartPanel usage={usage.data} onDone={() => setQuickstarting(false)} />
      </Page>
    );
  }
  const loaded = usage.data && alerts.data && analytics.data;
  return (
    <Page
      title="Overview"
      actions={
        <Segments
          label="Period"
          value={String(days)}
          onChange={(value) => show({ days: Number(value) })}
          choices={[
            { value: '1', label: '24 hours' },
            { value: '7', label: '7 days' },
            { value: '30', label: '30 days' },
            { value: '90', label: '90 days' },
          ]}
        />
      }
    >
      {loaded ? (
        <Loaded
          usage={usage.data}
          analytics={analytics.data}
          alerts={alerts.data.data}
          {...{ days, by }}
          onBy={(next) => show({ by: next })}
        />
      ) : (
        <Loading />
      )}
    </Page>
  );
}

/**
 * Separate from what loads later: problems are above the figures, and nothing that is shown may
 * jump.
 */
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
  analytics: Analytics;
  alerts: ActionNeeded[];
  days: number;
  by: By;
  onBy: (by: By) => void;
}

function Loaded({ usage, analytics, alerts, days, by, onBy }: LoadedProps) {
  return (
    <>
      {alerts.length > 0 && <Alerts alerts={alerts} />}
      <Figures data={analytics} usage={usage} />
      <Section title="Recipients">
        <Paper p="lg">
          <Bars analytics={analytics} />
          {!analytics.complete && (
            <Text size="xs" c="dimmed" ta="center" mt="sm" role="status">
              Still counting: the oldest days are not included yet.
            </Text>
          )}
        </Paper>
      </Section>
      <AfterPaint meanwhile={<div className="below-figures" />}>
        <Breakdown {...{ analytics, days, by, onBy }} />
        <Receivers days={days} />
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
      </AfterPaint>
    </>
  );
}

interface FiguresProps {
  data: Analytics | undefined;
  usage: Usage | undefined;
}

function Figures({ data, usage }: FiguresProps) {
  return (
    <div className="section columns columns-2 columns-md-4">
      <Figure
        label="Recipients"
        value={data && count.format(data.totals.recipients)}
        note="written to"
      />
      <Figure
        label="Delivered"
        value={data && rate(data.totals.delivered, data.totals.recipients)}
        note={data && say(data.totals.delivered, 'recipient')}
      />
      <Figure
        label="Opened"
        value={data && rate(data.totals.opened, data.totals.recipients)}
        note={data && `${count.format(data.totals.clicked)} clicked`}
      />
      <Figure
        label="Bounced"
        value={data && rate(data.totals.bounced, data.totals.recipients)}
        note={
          data &&
          `${say(data.totals.bounced, 'recipient')}, ${say(data.totals.complained, 'complaint')}`
        }
      />
      <Box style={{ gridColumn: '1 / -1' }}>
        <QuotaBar quota={usage} />
      </Box>
    </div>
  );
}

const say = (number: number, what: string): string =>
  `${count.format(number)} ${what}${number === 1 ? '' : 's'}`;

const rate = (part: number, all: number): string => (all === 0 ? '–' : share.format(part / all));

function Figure({ label, value, note }: { label: string; value?: string; note?: string }) {
  return (
    <Paper p="lg">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Known className="figure">{value}</Known>
      <Known className="figure-note">{note}</Known>
    </Paper>
  );
}

const NO_WORDS = '\u00a0';

/** The same height before it is known. */
function Known({ className, children }: { className: string; children: string | undefined }) {
  if (children !== undefined) return <div className={className}>{children}</div>;
  return (
    <Skeleton className={className}>
      <span>{NO_WORDS}</span>
    </Skeleton>
  );
}

function QuotaBar({ quota }: { quota: Usage | undefined }) {
  if (quota === undefined) return <Skeleton height={82} {...LOADING} />;
  const used = quota.limit === 0 ? 1 : quota.used / quota.limit;
  return (
    <Paper p="lg">
      <Group justify="space-between" mb={10}>
        <Text size="sm">
          <Text span fw={600}>
            {count.format(quota.used)}
          </Text>{' '}
          of {count.format(quota.limit)} recipients today
        </Text>
        <Text size="sm" c="dimmed">
          {count.format(quota.left)} left · resets <Time at={quota.resets_at} />
        </Text>
      </Group>
      <Progress
        value={used * 100}
        color={used > 0.95 ? 'red' : used > 0.8 ? 'yellow' : 'martin'}
        size="sm"
        aria-label="Share of today's quota used"
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
