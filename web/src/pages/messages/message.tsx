// One message: its live story, who got it, what it looked like and what was said about it.
import {
  Badge,
  Button,
  Grid,
  Group,
  Paper,
  Skeleton,
  Stack,
  Tabs,
  Text,
  Title,
} from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useRef } from 'react';
import type { Door } from '../../../../src/dashboard/views/common.ts';
import type { LiveTimeline, MessageDetail } from '../../../../src/dashboard/views/messages.ts';
import { urlOf, useAction, useApi } from '../../api.ts';
import { useLive } from '../../live.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, RetryIcon } from '../../parts/icons.tsx';
import { Fact, Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { Attachments, Headers, MailBody, Source } from './content.tsx';
import { Deliveries, Recipients, RelayPanel } from './handover.tsx';
import { Story } from './timeline.tsx';

const back = (
  <Link to="/messages" className="back-link">
    <BackIcon size={15} /> Messages
  </Link>
);

export function MessagePage() {
  const { id } = useParams({ from: '/inside/messages/$id' });
  const message = useApi('getMessage', { params: { id } });
  const queries = useQueryClient();
  const told = useRef('');
  useLive<LiveTimeline>(
    message.isSuccess ? urlOf('liveMessage', { params: { id } }) : null,
    'timeline',
    (live) => {
      const key = ['getMessage', { params: { id } }];
      queries.setQueryData<MessageDetail>(key, (before) => before && { ...before, ...live });
      // The relay's replies and webhook deliveries change with the story, but are not part of the stream.
      const state = JSON.stringify(live);
      if (told.current !== '' && told.current !== state) {
        void queries.invalidateQueries({ queryKey: key });
      }
      told.current = state;
    },
  );
  if (message.isError && !message.data) {
    return (
      <Page title="Message" back={back}>
        <Fault fault={message.error} retry={message.refetch} />
      </Page>
    );
  }
  const { data } = message;
  if (!data) {
    return (
      <Page title="Message" back={back}>
        <Skeleton height={520} />
      </Page>
    );
  }
  return (
    <Page title={data.subject || '(no subject)'} back={back} actions={<SendAgain message={data} />}>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Side message={data} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Panels message={data} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

function Side({ message }: { message: MessageDetail }) {
  return (
    <Stack>
      <Paper p="lg">
        <Group justify="space-between" mb="lg">
          <Title order={2}>Timeline</Title>
          <Status status={message.status} />
        </Group>
        <Story createdAt={message.createdAt} timeline={message.timeline} />
      </Paper>
      <Paper p="lg">
        <Stack gap="md">
          <Fact label="Id">
            <CopyLine value={message.id} label="Copy the id" />
          </Fact>
          <Fact label="From">{message.from}</Fact>
          {message.content?.replyTo && <Fact label="Reply to">{message.content.replyTo}</Fact>}
          <Fact label="Queued">
            <Time at={message.createdAt} />
          </Fact>
          <Fact label="Came through">
            <CameThrough message={message} />
          </Fact>
          {message.template && (
            <Fact label="Template">
              <Link
                to="/templates/$slug"
                params={{ slug: message.template }}
                className="plain-link"
              >
                {message.template}
              </Link>
              {message.templateVersion !== null && ` version ${message.templateVersion}`}
              {message.brandingVersion !== null && message.brandingVersion > 0 && (
                <Text span c="dimmed" size="sm">
                  {' '}
                  · branding {message.brandingVersion}
                </Text>
              )}
            </Fact>
          )}
          {message.tags.length > 0 && (
            <Fact label="Tags">
              <Group gap={6}>
                {message.tags.map((tag) => (
                  <Link key={tag} to="/messages" search={{ tag }} className="tag-link">
                    <Badge color="gray">{tag}</Badge>
                  </Link>
                ))}
              </Group>
            </Fact>
          )}
        </Stack>
      </Paper>
    </Stack>
  );
}

const doors: Record<Door, string> = {
  rest: 'REST API',
  mcp: 'MCP',
  dashboard: 'Dashboard',
  cli: 'Command line',
  system: 'This service itself',
};

function CameThrough({ message: { door, key } }: { message: MessageDetail }) {
  return (
    <>
      {doors[door]}
      {key && (
        <Text span c="dimmed" size="sm">
          {' '}
          with {key.name ?? 'key'} <code>{key.prefix}…</code>
          {key.revoked && ' (revoked)'}
        </Text>
      )}
    </>
  );
}

function Panels({ message }: { message: MessageDetail }) {
  const attachments = message.content?.attachments.length ?? 0;
  return (
    <Tabs defaultValue="mail" keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="mail">Mail</Tabs.Tab>
        <Tabs.Tab value="recipients">Recipients</Tabs.Tab>
        <Tabs.Tab value="headers">Headers</Tabs.Tab>
        {!message.sealed && <Tabs.Tab value="source">Source</Tabs.Tab>}
        {attachments > 0 && <Tabs.Tab value="attachments">Attachments ({attachments})</Tabs.Tab>}
        <Tabs.Tab value="relay">Relay</Tabs.Tab>
        <Tabs.Tab value="webhooks">Webhooks ({message.webhooks.length})</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="mail">
        <MailBody message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="recipients">
        <Recipients states={message.recipientStates} />
      </Tabs.Panel>
      <Tabs.Panel value="headers">
        <Headers message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <Source id={message.id} />
      </Tabs.Panel>
      <Tabs.Panel value="attachments">
        <Attachments message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="relay">
        <RelayPanel relay={message.relay} />
      </Tabs.Panel>
      <Tabs.Panel value="webhooks">
        <Deliveries deliveries={message.webhooks} />
      </Tabs.Panel>
    </Tabs>
  );
}

function SendAgain({ message }: { message: MessageDetail }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const navigate = useNavigate();
  const sendAgain = useAction('sendAgain', {
    changes: ['searchMessages'],
    onDone: ({ id }) => {
      tellDone('Queued as a new message');
      void navigate({ to: '/messages/$id', params: { id } });
    },
  });
  // What the service itself wrote is asked for where it came from, such as an invitation under Team.
  if (!may || message.content === null || message.door === 'system') return null;
  return (
    <Button
      variant="default"
      leftSection={<RetryIcon size={16} />}
      loading={sendAgain.isPending}
      onClick={async () => {
        const yes = await confirm({
          title: 'Send this mail again?',
          body: `A new message goes to ${message.recipients.join(', ')}. It counts toward today's quota.`,
          act: 'Send again',
          harmless: true,
        });
        if (yes) sendAgain.mutate({ params: { id: message.id } }, { onError: tellFault });
      }}
    >
      Send again
    </Button>
  );
}
