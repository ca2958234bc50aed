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
import type { MessageContent, MessageDetails } from '../../../../src/client/operations.ts';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { BackIcon, RetryIcon } from '../../parts/icons.tsx';
import { Fact, Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { Attachments, BodyView, Headers, NoContent, Source } from './content.tsx';
import { Deliveries, Recipients, RelayPanel } from './handover.tsx';
import { Story } from './timeline.tsx';

const back = (
  <Link to="/messages" className="back-link">
    <BackIcon size={15} /> Messages
  </Link>
);

export function MessagePage() {
  const { id } = useParams({ from: '/inside/messages/$id' });
  const which = { sm_mail_id: id };
  const message = useRead('messages.details', which);
  const content = useContent(message.data);
  const queries = useQueryClient();
  const told = useRef('');
  useLive<MessageDetails>(
    message.isSuccess ? urlOf('liveMessage', { params: { id } }) : null,
    'message',
    (live) => {
      queries.setQueryData(['messages.details', which], live);
      // Attempts and webhook deliveries change with the story, but are not part of the stream.
      const state = JSON.stringify(live);
      if (told.current !== '' && told.current !== state) {
        for (const read of ['messages.listAttempts', 'messages.listWebhooks']) {
          void queries.invalidateQueries({ queryKey: [read, which] });
        }
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
    <Page
      title={data.subject || '(no subject)'}
      back={back}
      actions={content && <SendAgain message={data} />}
    >
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Side message={data} replyTo={content?.reply_to ?? null} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Panels message={data} content={content} />
        </Grid.Col>
      </Grid>
    </Page>
  );
}

/** Undefined: not there yet; null: there is none to show. */
function useContent(message: MessageDetails | undefined): MessageContent | null | undefined {
  const open = message !== undefined && !message.sealed;
  const content = useRead('messages.content', { sm_mail_id: message?.id ?? '' }, { enabled: open });
  return message?.sealed || content.isError ? null : content.data;
}

function Side({ message, replyTo }: { message: MessageDetails; replyTo: string | null }) {
  return (
    <Stack>
      <Paper p="lg">
        <Group justify="space-between" mb="lg">
          <Title order={2}>Timeline</Title>
          <Status status={message.status} />
        </Group>
        <Story createdAt={message.created_at} events={message.events} />
      </Paper>
      <Paper p="lg">
        <Stack gap="md">
          <Fact label="Id">
            <CopyLine value={message.id} label="Copy the id" />
          </Fact>
          <Fact label="From">{message.from_email}</Fact>
          {replyTo && <Fact label="Reply to">{replyTo}</Fact>}
          <Fact label="Queued">
            <Time at={message.created_at} />
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
              {message.template_version !== null && ` version ${message.template_version}`}
              {message.branding_version !== null && message.branding_version > 0 && (
                <Text span c="dimmed" size="sm">
                  {' '}
                  · branding {message.branding_version}
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

const doors: Record<MessageDetails['door'], string> = {
  rest: 'REST API',
  mcp: 'MCP',
  dashboard: 'Dashboard',
  cli: 'Command line',
  system: 'This service itself',
};

function CameThrough({ message: { door, key } }: { message: MessageDetails }) {
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

interface PanelsProps {
  message: MessageDetails;
  content: MessageContent | null | undefined;
}

function Panels({ message, content }: PanelsProps) {
  const attachments = content?.attachments.length ?? 0;
  const webhooks = useRead('messages.listWebhooks', { sm_mail_id: message.id });
  const deliveries = webhooks.data?.data ?? [];
  const missing =
    content === null ? <NoContent sealed={message.sealed} /> : <Skeleton height={420} />;
  return (
    <Tabs defaultValue="mail" keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="mail">Mail</Tabs.Tab>
        <Tabs.Tab value="recipients">Recipients</Tabs.Tab>
        <Tabs.Tab value="headers">Headers</Tabs.Tab>
        {!message.sealed && <Tabs.Tab value="source">Source</Tabs.Tab>}
        {attachments > 0 && <Tabs.Tab value="attachments">Attachments ({attachments})</Tabs.Tab>}
        <Tabs.Tab value="relay">Relay</Tabs.Tab>
        <Tabs.Tab value="webhooks">Webhooks ({deliveries.length})</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="mail">
        {content ? (
          <BodyView html={content.html} text={content.text} subject={message.subject} />
        ) : (
          missing
        )}
      </Tabs.Panel>
      <Tabs.Panel value="recipients">
        <Recipients states={message.recipient_states} />
      </Tabs.Panel>
      <Tabs.Panel value="headers">{content ? <Headers content={content} /> : missing}</Tabs.Panel>
      <Tabs.Panel value="source">
        <Source id={message.id} />
      </Tabs.Panel>
      <Tabs.Panel value="attachments">{content && <Attachments content={content} />}</Tabs.Panel>
      <Tabs.Panel value="relay">
        <RelayPanel message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="webhooks">
        <Deliveries deliveries={deliveries} />
      </Tabs.Panel>
    </Tabs>
  );
}

function SendAgain({ message }: { message: MessageDetails }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const navigate = useNavigate();
  const sendAgain = useChange('messages.sendAgain', {
    changes: ['messages.list'],
    onDone: ({ id }) => {
      tellDone('Queued as a new message');
      void navigate({ to: '/messages/$id', params: { id } });
    },
  });
  // What the service itself wrote is asked for where it came from, such as an invitation under
  // Team.
  if (!may || message.door === 'system') return null;
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
        if (yes) sendAgain.mutate({ sm_mail_id: message.id }, { onError: tellFault });
      }}
    >
      Send again
    </Button>
  );
}
