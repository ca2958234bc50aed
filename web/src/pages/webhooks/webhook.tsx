// One endpoint: its state, secret, test event, delivery log and replay.
import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookEndpoint } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Secret } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { BackIcon, DotsIcon, SendIcon } from '../../parts/icons.tsx';
import { Menu, MenuDivider, MenuItem } from '../../parts/menu.tsx';
import { Fact, Page, Section } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
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
  const webhook = useRead('webhooks.get', { id }, { watched: true });
  return (
    <PageOf asked={webhook} title="Webhook" back={back} height={420}>
      {(endpoint) => (
        <Page title={endpoint.url} back={back} actions={may && <Actions endpoint={endpoint} />}>
          <Health endpoint={endpoint} />
          <Section
            title="Deliveries"
            lead="What was posted, what the endpoint answered, and what will be retried."
          >
            <DeliveryLog endpointId={endpoint.id} />
          </Section>
        </Page>
      )}
    </PageOf>
  );
}

function Health({ endpoint }: { endpoint: WebhookEndpoint }) {
  return (
    <Stack mb={36}>
      {endpoint.failing_since && (
        <Alert color="red" title="This endpoint keeps failing">
          {endpoint.failures} in a row since <Time at={endpoint.failing_since} />
          {endpoint.paused_until && (
            <>
              , next try <Time at={endpoint.paused_until} />
            </>
          )}
        </Alert>
      )}
      <Paper p="lg">
        <Group gap={48}>
          <Fact label="State">
            <EndpointState endpoint={endpoint} />
          </Fact>
          <Fact label="Events">{endpoint.event_types.join(', ') || 'All'}</Fact>
          <Fact label="Order">{endpoint.fifo ? 'One at a time, in order' : 'As they come'}</Fact>
          <Fact label="Waiting">{endpoint.waiting}</Fact>
          <Fact label="Added">
            <Time at={endpoint.created_at} />
          </Fact>
          {endpoint.previous_secret_until && (
            <Fact label="Old secret also signs">
              until <Time at={endpoint.previous_secret_until} />
            </Fact>
          )}
        </Group>
      </Paper>
    </Stack>
  );
}

/** As the server will have it. */
function switched(one: WebhookEndpoint, { id, enabled }: { id: string; enabled?: boolean }) {
  if (one.id !== id) return one;
  return enabled
    ? { ...one, disabled_at: null, disabled_reason: null }
    : { ...one, disabled_at: new Date().toISOString(), disabled_reason: 'owner' as const };
}

function Actions({ endpoint }: { endpoint: WebhookEndpoint }) {
  const confirm = useConfirm();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const [editing, edit] = useDisclosure();
  const [testing, test] = useDisclosure();
  const [replaying, replay] = useDisclosure();
  const { id } = endpoint;
  const rotate = useChange('webhooks.rotate', {
    changes: ['webhooks.list', 'webhooks.get'],
    onDone: (answer) => setSecret(answer.secret),
  });
  const change = useChange('webhooks.update', {
    foresee: { 'webhooks.list': switched, 'webhooks.get': switched },
    onDone: (changed) => tellDone(changed.disabled_at ? 'Switched off' : 'Switched on'),
  });
  const remove = useChange('webhooks.remove', {
    foresee: { 'webhooks.list': (one, input) => (one.id === input.id ? null : one) },
    onDone: () => tellDone('The endpoint was removed'),
  });
  return (
    <>
      <Button leftSection={<SendIcon size={15} />} onClick={test.open}>
        Send a test event
      </Button>
      <Menu
        width={210}
        target={
          <Button variant="default" px={10} aria-label="More">
            <DotsIcon />
          </Button>
        }
      >
        <MenuItem onClick={edit.open}>Edit</MenuItem>
        <MenuItem onClick={replay.open}>Replay events …</MenuItem>
        <MenuItem onClick={() => change.mutate({ id, enabled: endpoint.disabled_at !== null })}>
          {endpoint.disabled_at ? 'Switch on' : 'Switch off'}
        </MenuItem>
        <MenuItem
          onClick={async () => {
            const yes = await confirm({
              title: 'Replace the signing secret?',
              body: 'A new secret is created. The old one keeps signing for a while, so you can update your servers.',
              act: 'Replace it',
              harmless: true,
            });
            if (yes) rotate.mutate({ id }, { onError: tellFault });
          }}
        >
          Rotate the secret
        </MenuItem>
        <MenuDivider />
        <MenuItem
          danger
          onClick={async () => {
            const yes = await confirm({
              title: 'Remove this endpoint?',
              body: 'It receives nothing more, and waiting deliveries are dropped. This cannot be undone.',
              act: 'Remove the endpoint',
            });
            if (!yes) return;
            remove.mutate({ id });
            void navigate({ to: '/webhooks' });
          }}
        >
          Remove
        </MenuItem>
      </Menu>
      <EditEndpoint endpoint={endpoint} opened={editing} onClose={edit.close} />
      <TestEvent endpointId={endpoint.id} opened={testing} onClose={test.close} />
      <ReplayDialog endpointId={endpoint.id} opened={replaying} onClose={replay.close} />
      <Dialog
        opened={secret !== undefined}
        onClose={() => setSecret(undefined)}
        title="The new signing secret"
        size="lg"
        closeOnClickOutside={false}
        closeOnEscape={false}
      >
        <Secret value={secret ?? ''} label="signing secret" note={SECRET_NOTE} />
        <Text size="sm" c="dimmed" mt="md">
          Both secrets sign until the old one expires.
        </Text>
      </Dialog>
    </>
  );
}
