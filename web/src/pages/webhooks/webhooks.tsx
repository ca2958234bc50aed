// Webhooks: the endpoints that receive events.
import { Badge, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { WebhookEndpoint } from '../../../../src/client/operations.ts';
import { useRead } from '../../operations.ts';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { PlusIcon, WebhooksIcon } from '../../parts/icons.tsx';
import { List, RowBox } from '../../parts/list.tsx';
import { LoadingRows, Page } from '../../parts/page.tsx';
import { State } from '../../parts/status.tsx';
import { useMay } from '../../session.ts';
import { NewEndpointDialog } from './new-endpoint.tsx';

export function WebhooksPage() {
  const may = useMay('developer');
  const webhooks = useRead('webhooks.list', {}, { watched: true });
  const [opened, { open, close }] = useDialogInAddress('endpoint', may);
  const endpoints = webhooks.data?.data ?? [];
  const add = may && (
    <Button leftSection={<PlusIcon size={16} />} onClick={open}>
      Add an endpoint
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Signed notifications to your servers about deliveries, bounces, opens, clicks and complaints, as they happen."
      actions={endpoints.length > 0 && add}
    >
      <List
        asked={webhooks}
        rows={endpoints}
        loading={<LoadingRows rows={3} />}
        empty={{
          icon: <WebhooksIcon />,
          title: 'No endpoints',
          children: 'Add an HTTPS URL. Each event is posted to it and retried for nine hours.',
          action: add,
        }}
      >
        {(rows) => (
          <RowBox>
            {rows.map((endpoint) => (
              <EndpointLine key={endpoint.id} endpoint={endpoint} />
            ))}
          </RowBox>
        )}
      </List>
      <NewEndpointDialog opened={opened} onClose={close} />
    </Page>
  );
}

function EndpointLine({ endpoint }: { endpoint: WebhookEndpoint }) {
  const types = endpoint.event_types.length > 0 ? endpoint.event_types : ['all events'];
  return (
    <Link to="/webhooks/$id" params={{ id: endpoint.id }} className="row-link endpoint-line">
      <EndpointState endpoint={endpoint} />
      <Text size="sm" fw={500} truncate>
        {endpoint.url}
      </Text>
      <Group gap={6} wrap="nowrap" className="message-tags">
        {types.map((type) => (
          <Badge key={type} color="gray">
            {type}
          </Badge>
        ))}
      </Group>
      <Text size="xs" c="dimmed" ta="right">
        {endpoint.waiting > 0 ? `${endpoint.waiting} waiting` : ''}
      </Text>
    </Link>
  );
}

export function EndpointState({ endpoint }: { endpoint: WebhookEndpoint }) {
  if (endpoint.disabled_reason) {
    const word = { owner: 'Off', gone: 'Off: answered 410', failing: 'Off: kept failing' };
    return <State tone="quiet">{word[endpoint.disabled_reason]}</State>;
  }
  if (endpoint.failures > 0) return <State tone="bad">Failing</State>;
  return <State tone="good">On</State>;
}
