// The log of an endpoint: each delivery with its state; opened, its request and response, and the
// way to try again.
import {
  Button,
  Drawer,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookDelivery } from '../../../../src/client/operations.ts';
import { useChange, useRead, useRows } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { RetryIcon, WebhooksIcon } from '../../parts/icons.tsx';
import { Empty, Fact, LoadingRows, ShowMore } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital, State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { toneOfDelivery } from '../messages/handover.tsx';

type Filter = 'all' | WebhookDelivery['state'];

export function DeliveryLog({ endpointId }: { endpointId: string }) {
  const [filter, setFilter] = useState<Filter>('all');
  const [openId, setOpenId] = useState<string>();
  const client = useQueryClient();
  const pages = useRows(
    'webhooks.listDeliveries',
    { id: endpointId, ...(filter === 'all' ? {} : { state: filter }) },
    { watched: true },
  );
  const rows = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <Group justify="space-between" mb="sm">
        <SegmentedControl
          size="xs"
          aria-label="State"
          value={filter}
          onChange={(value) => setFilter(value as Filter)}
          data={[
            { value: 'all', label: 'All' },
            { value: 'pending', label: 'Pending' },
            { value: 'delivered', label: 'Delivered' },
            { value: 'abandoned', label: 'Abandoned' },
          ]}
        />
        <Button
          size="xs"
          variant="default"
          leftSection={<RetryIcon size={14} />}
          onClick={() => {
            void pages.refetch();
            // How many wait stands with the endpoint.
            void client.invalidateQueries({ queryKey: ['webhooks.get'] });
          }}
        >
          Refresh
        </Button>
      </Group>
      {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
      {pages.isPending && <LoadingRows />}
      {pages.isSuccess && rows.length === 0 && (
        <Empty icon={<WebhooksIcon />} title="No deliveries">
          {filter === 'all' ? 'They appear with the next event.' : 'None is in this state.'}
        </Empty>
      )}
      {rows.length > 0 && (
        <Paper style={{ overflow: 'hidden' }}>
          {rows.map((row) => (
            <UnstyledButton
              key={row.id}
              className="row-link log-line"
              onClick={() => setOpenId(row.id)}
            >
              <State tone={toneOfDelivery(row)}>{capital(row.state)}</State>
              <Text size="sm" fw={500}>
                {row.event_type}
              </Text>
              <Text size="sm" c="dimmed" truncate>
                {sayOutcome(row)}
              </Text>
              <Text size="xs" c="dimmed" ta="right">
                <Time at={row.attempted_at ?? row.created_at} />
              </Text>
            </UnstyledButton>
          ))}
        </Paper>
      )}
      <ShowMore pages={pages} />
      <Drawer
        opened={openId !== undefined}
        onClose={() => setOpenId(undefined)}
        position="right"
        size="lg"
        title="Delivery"
      >
        {openId && <Delivery endpointId={endpointId} deliveryId={openId} />}
      </Drawer>
    </>
  );
}

function sayOutcome(row: WebhookDelivery): string {
  const tries = row.attempts === 1 ? '1 attempt' : `${row.attempts} attempts`;
  const outcome = row.status !== null ? `answered ${row.status}` : row.error;
  return [outcome, tries].filter(Boolean).join(' · ');
}

function Delivery({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const may = useMay('developer');
  const which = { id: endpointId, delivery_id: deliveryId };
  const delivery = useRead('webhooks.getDelivery', which, { watched: true });
  const retry = useChange('webhooks.retryDelivery', {
    changes: ['webhooks.getDelivery', 'webhooks.listDeliveries', 'webhooks.get'],
    onDone: () => tellDone('It is tried again now'),
  });
  const { data } = delivery;
  if (delivery.isError && !data) return <Fault fault={delivery.error} retry={delivery.refetch} />;
  if (!data) return <Skeleton height={480} />;
  return (
    <Stack>
      <Group justify="space-between">
        <State tone={toneOfDelivery(data)}>{capital(data.state)}</State>
        {may && data.state !== 'delivered' && (
          <Button
            size="xs"
            leftSection={<RetryIcon size={14} />}
            loading={retry.isPending}
            onClick={() => retry.mutate(which, { onError: tellFault })}
          >
            Retry now
          </Button>
        )}
      </Group>
      <Group gap={32}>
        <Fact label="Event">{data.event_type}</Fact>
        <Fact label="Attempts">{data.attempts}</Fact>
        {data.duration_ms !== null && <Fact label="Took">{Math.round(data.duration_ms)} ms</Fact>}
        {data.next_attempt_at && (
          <Fact label="Next attempt">
            <Time at={data.next_attempt_at} />
          </Fact>
        )}
        <Fact label="Message">
          <Link to="/messages/$id" params={{ id: data.message_id }} className="plain-link">
            Its timeline
          </Link>
        </Fact>
      </Group>
      <Text fw={600} size="sm">
        Request
      </Text>
      {data.request ? (
        <CodeBlock label="Request" code={show(data.request)} copied={data.request.body} />
      ) : (
        <Text size="sm" c="dimmed">
          The event is older than what is kept.
        </Text>
      )}
      <Text fw={600} size="sm">
        Response
      </Text>
      {data.response ? (
        <CodeBlock
          label="Response"
          code={`${data.response.status}\n\n${data.response.body}${data.response.truncated ? '\n… (cut)' : ''}`}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {data.error ?? 'None yet.'}
        </Text>
      )}
    </Stack>
  );
}

function show({ url, headers, body }: { url: string; headers: object; body: string }): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `POST ${url}\n${lines.join('\n')}\n\n${indent(body)}`;
}

function indent(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
