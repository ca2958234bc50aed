// The log of an endpoint: each delivery with its state; opened, its request and response, and a
// button to retry it.

import { Button, Drawer, Group, Skeleton, Stack, Text, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { memo, useCallback } from 'react';
import type { WebhookDelivery } from '../../../../src/client/operations.ts';
import { type Input, useRead, useRows } from '../../operations.ts';
import { CodeBlock } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { RetryIcon, WebhooksIcon } from '../../parts/icons.tsx';
import { List, RowBox } from '../../parts/list.tsx';
import { Fact } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { capital, State } from '../../parts/status.tsx';
import { sayMoment, Time } from '../../parts/time.tsx';
import { ResendDelivery, toneOfDelivery } from '../messages/handover.tsx';

type Filter = 'all' | 'failed' | WebhookDelivery['state'];

export function DeliveryLog({ endpointId }: { endpointId: string }) {
  const { state: filter = 'all', delivery: openId } = useSearch({ from: '/inside/webhooks/$id' });
  const navigate = useNavigate({ from: '/webhooks/$id' });
  const setFilter = (state: Filter) =>
    void navigate({ search: state === 'all' ? {} : { state }, replace: true });
  const setOpenId = useCallback(
    (delivery: string | undefined) =>
      void navigate({
        search: ({ state }) => ({ ...(state && { state }), ...(delivery && { delivery }) }),
        replace: true,
      }),
    [navigate],
  );
  const client = useQueryClient();
  const deliveries = useRows(
    'webhooks.listDeliveries',
    { id: endpointId, ...filterOf(filter as Filter) },
    { watched: true },
  );
  return (
    <>
      <Group justify="space-between" mb="sm">
        <Segments
          label="State"
          value={filter as Filter}
          onChange={setFilter}
          choices={[
            { value: 'all', label: 'All' },
            { value: 'failed', label: 'Failed' },
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
            void deliveries.refetch();
            // The endpoint's own page shows how many are waiting.
            void client.invalidateQueries({ queryKey: ['webhooks.get'] });
          }}
        >
          Refresh
        </Button>
      </Group>
      <List
        asked={deliveries}
        rows={deliveries.rows}
        empty={{
          icon: <WebhooksIcon />,
          title: 'No deliveries',
          children:
            filter === 'all' ? 'They appear with the next event.' : 'No deliveries in this state.',
        }}
      >
        {(rows) => (
          <RowBox>
            {rows.map((row) => (
              <DeliveryLine key={row.id} row={row} onOpen={setOpenId} />
            ))}
          </RowBox>
        )}
      </List>
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

interface DeliveryLineProps {
  row: WebhookDelivery;
  onOpen: (id: string) => void;
}

const DeliveryLine = memo(function DeliveryLine({ row, onOpen }: DeliveryLineProps) {
  return (
    <UnstyledButton className="row-link log-line" onClick={() => onOpen(row.id)}>
      <State tone={toneOfDelivery(row)}>{capital(row.state)}</State>
      <Text size="sm" fw={500}>
        {row.event_type}
      </Text>
      <div className="cut">
        <Text size="sm" truncate>
          {row.recipients.join(', ') || 'Nobody in particular'}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {sayOutcome(row)}
        </Text>
      </div>
      <Text size="xs" c="dimmed" ta="right">
        <Time at={row.attempted_at ?? row.created_at} />
      </Text>
    </UnstyledButton>
  );
});

const filterOf = (filter: Filter): Pick<Input<'webhooks.listDeliveries'>, 'state' | 'failed'> => {
  if (filter === 'all') return {};
  return filter === 'failed' ? { failed: true } : { state: filter };
};

function sayOutcome(row: WebhookDelivery): string {
  const tries = row.attempts === 1 ? '1 attempt' : `${row.attempts} attempts`;
  const outcome = row.status !== null ? `answered ${row.status}` : row.error;
  const said = row.attempts === 0 ? ['Not tried yet'] : [outcome, tries];
  return [...said, row.message_id].filter(Boolean).join(' · ');
}

function Delivery({ endpointId, deliveryId }: { endpointId: string; deliveryId: string }) {
  const which = { id: endpointId, delivery_id: deliveryId };
  const delivery = useRead('webhooks.getDelivery', which, { watched: true });
  const { data } = delivery;
  if (delivery.isError && !data) return <Fault fault={delivery.error} retry={delivery.refetch} />;
  if (!data) return <Skeleton height={480} />;
  return (
    <Stack>
      <Group justify="space-between">
        <State tone={toneOfDelivery(data)}>{capital(data.state)}</State>
        <ResendDelivery row={data} />
      </Group>
      <Group gap={32}>
        <Fact label="Event">{data.event_type}</Fact>
        <Fact label="Attempts">{data.attempts}</Fact>
        {data.duration_ms !== null && <Fact label="Took">{Math.round(data.duration_ms)} ms</Fact>}
        {data.next_attempt_at && (
          <Fact label="Next attempt">
            {Date.parse(data.next_attempt_at) <= Date.now() ? (
              'Due now'
            ) : (
              <>
                {sayMoment(data.next_attempt_at)} (<Time at={data.next_attempt_at} />)
              </>
            )}
          </Fact>
        )}
        {data.attempted_at && <Fact label="Last attempt">{sayMoment(data.attempted_at)}</Fact>}
        {data.recipients.length > 0 && (
          <Fact label="About">
            {data.recipients.slice(0, 5).join(', ')}
            {data.recipients.length > 5 && ` and ${data.recipients.length - 5} more`}
          </Fact>
        )}
        {data.message_id !== null && (
          <Fact label="Message">
            <Link to="/messages/$id" params={{ id: data.message_id }} className="plain-link">
              Its timeline
            </Link>
          </Fact>
        )}
      </Group>
      <Text fw={600} size="sm">
        Request
      </Text>
      {data.request ? (
        <CodeBlock label="Request" code={show(data.request)} copied={data.request.body} />
      ) : (
        <Text size="sm" c="dimmed">
          The event is no longer stored.
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
