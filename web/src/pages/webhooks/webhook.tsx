// One endpoint: its state, secret, test event, delivery log and replay.
import { Alert, Button, Group, Menu, Modal, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../src/dashboard/views/webhooks.ts';
import { Refused, useAction, useWatched } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Secret } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, DotsIcon, SendIcon } from '../../parts/icons.tsx';
import { Fact, Page, Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { EditEndpoint } from './edit-endpoint.tsx';
import { SECRET_NOTE } from './new-endpoint.tsx';
import { ReplayDialog } from './replay.tsx';
import { TestEvent } from './test-event.tsx';
import { EndpointState } from './webhooks.tsx';

const back = (
  <Link to="/webhooks" className="back-link">
    <BackIcon size={15} /> Webhooks
  </Link>
);

export function WebhookPage() {
  const { id } = useParams({ from: '/inside/webhooks/$id' });
  const may = useMay('developer');
  const webhooks = useWatched('listWebhooks');
  const endpoint = webhooks.data?.endpoints.find((one) => one.id === id);
  const missing = webhooks.isSuccess && !endpoint;
  if ((webhooks.isError && !webhooks.data) || missing) {
    const fault = missing
      ? new Refused(404, { detail: 'This endpoint was removed, or never was.' })
      : webhooks.error;
    return (
      <Page title="Webhook" back={back}>
        <Fault fault={fault} retry={webhooks.refetch} />
      </Page>
    );
  }
  if (!endpoint) {
    return (
      <Page title="Webhook" back={back}>
        <Skeleton height={420} />
      </Page>
    );
  }
  return (
    <Page title={endpoint.url} back={back} actions={may && <Actions endpoint={endpoint} />}>
      <Health endpoint={endpoint} />
      <Section
        title="Deliveries"
        lead="What was posted, what came back, and what will be tried again."
      >
        <DeliveryLog endpointId={endpoint.id} />
      </Section>
    </Page>
  );
}

function Health({ endpoint }: { endpoint: WebhookEndpoint }) {
  return (
    <Stack mb={36}>
      {endpoint.failingSince && (
        <Alert color="red" title="This endpoint keeps failing">
          {endpoint.failures} in a row since <Time at={endpoint.failingSince} />.
          {endpoint.pausedUntil && (
            <>
              {' '}
              Next try <Time at={endpoint.pausedUntil} />.
            </>
          )}
        </Alert>
      )}
      <Paper p="lg">
        <Group gap={48}>
          <Fact label="State">
            <EndpointState endpoint={endpoint} />
          </Fact>
          <Fact label="Events">{endpoint.eventTypes?.join(', ') ?? 'All'}</Fact>
          <Fact label="Order">{endpoint.fifo ? 'One at a time, in order' : 'As they come'}</Fact>
          <Fact label="Waiting">{endpoint.pending}</Fact>
          <Fact label="Added">
            <Time at={endpoint.createdAt} />
          </Fact>
          {endpoint.previousSecretUntil && (
            <Fact label="Old secret signs too">
              until <Time at={endpoint.previousSecretUntil} />
            </Fact>
          )}
        </Group>
      </Paper>
    </Stack>
  );
}

function Actions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const [editing, edit] = useDisclosure();
  const [testing, test] = useDisclosure();
  const [replaying, replay] = useDisclosure();
  const params = { id: endpoint.id };
  const rotate = useAction('rotateWebhook', {
    changes: ['listWebhooks'],
    onDone: (answer) => setSecret(answer.secret),
  });
  const change = useAction('changeWebhook', {
    changes: ['listWebhooks', 'getOverview'],
    onDone: (changed) => tellDone(changed.disabled ? 'Switched off' : 'Switched on'),
  });
  const remove = useAction('removeWebhook', {
    changes: ['listWebhooks', 'getOverview'],
    onDone: () => {
      tellDone('The endpoint was removed');
      void navigate({ to: '/webhooks' });
    },
  });
  return (
    <>
      <Button leftSection={<SendIcon size={15} />} onClick={test.open}>
        Send a test event
      </Button>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <Button variant="default" px={10} aria-label="More">
            <DotsIcon />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={edit.open}>Edit</Menu.Item>
          <Menu.Item onClick={replay.open}>Replay events …</Menu.Item>
          <Menu.Item
            onClick={() =>
              change.mutate(
                { params, body: { disabled: endpoint.disabled === null } },
                { onError: tellFault },
              )
            }
          >
            {endpoint.disabled ? 'Switch on' : 'Switch off'}
          </Menu.Item>
          <Menu.Item
            onClick={async () => {
              const yes = await confirm({
                title: 'Replace the signing secret?',
                body: 'A new secret is made. The old one signs beside it for a while, so that your servers can change over.',
                act: 'Replace it',
                harmless: true,
              });
              if (yes) rotate.mutate({ params }, { onError: tellFault });
            }}
          >
            Rotate the secret
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item
            color="red"
            onClick={async () => {
              const yes = await confirm({
                title: 'Remove this endpoint?',
                body: 'It is told of nothing more; deliveries that wait are dropped. This cannot be undone.',
                act: 'Remove the endpoint',
              });
              if (yes) remove.mutate({ params }, { onError: tellFault });
            }}
          >
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <EditEndpoint endpoint={endpoint} opened={editing} onClose={edit.close} />
      <TestEvent endpointId={endpoint.id} opened={testing} onClose={test.close} />
      <ReplayDialog endpointId={endpoint.id} opened={replaying} onClose={replay.close} />
      <Modal
        opened={secret !== undefined}
        onClose={() => setSecret(undefined)}
        title="The new signing secret"
        size="lg"
        closeOnClickOutside={false}
      >
        <Secret value={secret ?? ''} label="signing secret" note={SECRET_NOTE} />
        <Text size="sm" c="dimmed" mt="md">
          Both secrets sign until the old one runs out.
        </Text>
      </Modal>
    </>
  );
}
