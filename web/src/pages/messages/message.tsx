// One message: its live timeline, who got it, what it looked like and what was said about it.
import { Badge, Button, Group, Paper, Stack, Tabs, Text, Title } from '@mantine/core';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import type { MessageContent, MessageDetails } from '../../../../src/client/operations.ts';
import { urlOf } from '../../api.ts';
import { useLive } from '../../live.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { EmailPreview } from '../../parts/email-preview.tsx';
import { BackIcon, RetryIcon } from '../../parts/icons.tsx';
import { Fact, Page } from '../../parts/page.tsx';
import { PageOf } from '../../parts/page-of.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { MessageState, statuses, toneOfStatus } from '../../parts/status.tsx';
import { sayMoment, Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';
import { Attachments, Headers, NoContent, Source } from './content.tsx';
import { Deliveries, Recipients, RelayPanel } from './handover.tsx';
import { Recall } from './recall.tsx';
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
  const queries = useQueryClient();
  const told = useRef('');
  useLive<MessageDetails>(
    message.isSuccess ? urlOf('liveMessage', { params: { id } }) : null,
    'message',
    (live) => {
      const queryKey = ['messages.details', which];
      // An answer still on its way is older than this, and must not replace it.
      void queries
        .cancelQueries({ queryKey, exact: true })
        .then(() => queries.setQueryData(queryKey, live));
      // Attempts and webhook deliveries change with the timeline, but are not part of the stream.
      const state = JSON.stringify(live);
      if (told.current !== '' && told.current !== state) {
        for (const read of ['messages.listAttempts', 'messages.listWebhooks']) {
          void queries.invalidateQueries({ queryKey: [read, which] });
        }
      }
      told.current = state;
    },
  );
  return (
    <PageOf asked={message} title="Message" back={back}>
      {(data) => <OneMessage message={data} />}
    </PageOf>
  );
}

function OneMessage({ message }: { message: MessageDetails }) {
  const content = useRead(
    'messages.content',
    { sm_mail_id: message.id },
    { enabled: !message.sealed },
  );
  return (
    <Page
      title={message.subject || '(no subject)'}
      back={back}
      actions={
        <>
          <Recall message={message} />
          {content.data && <SendAgain message={message} />}
        </>
      }
    >
      <Envelope message={message} content={content.data} />
      <div className="two-parts">
        <Side message={message} />
        <div>
          <Panels message={message} content={content} />
        </div>
      </div>
    </Page>
  );
}

const MOST_NAMED = 4;

const nameSome = (addresses: string[]): string => {
  const more = addresses.length - MOST_NAMED;
  return `${addresses.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

interface EnvelopeProps {
  message: MessageDetails;
  content: MessageContent | undefined;
}

/** Who wrote to whom and when. */
function Envelope({ message, content }: EnvelopeProps) {
  const writtenTo = content
    ? [
        ...content.to,
        ...content.cc.map((it) => `${it} (cc)`),
        ...content.bcc.map((it) => `${it} (bcc)`),
      ]
    : message.recipients;
  const more = writtenTo.length - MOST_NAMED;
  return (
    <Paper p="lg" mb="lg">
      <Group justify="space-between" align="flex-start" gap="lg">
        <dl className="envelope">
          <dt>From</dt>
          <dd>{content?.from_email ?? message.from_email}</dd>
          <dt>To</dt>
          <dd>
            {writtenTo.slice(0, MOST_NAMED).join(', ')}
            {more > 0 && (
              <>
                {' '}
                <Link
                  to="/messages/$id"
                  params={{ id: message.id }}
                  search={{ tab: 'recipients' }}
                  className="plain-link"
                >
                  and {more} more
                </Link>
              </>
            )}
          </dd>
          {content?.reply_to && (
            <>
              <dt>Reply to</dt>
              <dd>{content.reply_to}</dd>
            </>
          )}
          <dt>{message.scheduled_at ? 'Scheduled' : 'Accepted'}</dt>
          <dd>
            {sayMoment(message.scheduled_at ?? message.created_at)} (
            <Time at={message.scheduled_at ?? message.created_at} />)
          </dd>
          {message.cancelled_at && (
            <>
              <dt>Cancelled</dt>
              <dd>{sayMoment(message.cancelled_at)}</dd>
            </>
          )}
        </dl>
        <MessageState message={message} />
      </Group>
      {message.recipient_states.length > 1 && <Tally states={message.recipient_states} />}
    </Paper>
  );
}

/** `20 delivered, 10 bounced`, as a bar and in words. */
function Tally({ states }: { states: MessageDetails['recipient_states'] }) {
  const counts = statuses
    .map((status) => ({ status, count: states.filter((it) => it.status === status).length }))
    .filter(({ count }) => count > 0);
  return (
    <div className="tally">
      <div className="tally-bar" aria-hidden="true">
        {counts.map(({ status, count }) => (
          <span key={status} data-tone={toneOfStatus[status]} style={{ flexGrow: count }} />
        ))}
      </div>
      <Text size="sm">
        {states.length} recipients:{' '}
        {counts.map(({ status, count }) => `${count} ${status}`).join(', ')}
      </Text>
    </div>
  );
}

function Side({ message }: { message: MessageDetails }) {
  const attempts = useRead('messages.listAttempts', { sm_mail_id: message.id });
  return (
    <Stack>
      <Paper p="lg">
        <Title order={2} mb="lg">
          Timeline
        </Title>
        <Story
          createdAt={message.created_at}
          events={message.events}
          attempts={attempts.data?.data ?? []}
          recipients={message.recipients.length}
        />
      </Paper>
      <Paper p="lg">
        <Stack gap="md">
          <Fact label="Id">
            <CopyLine value={message.id} label="Copy the id" />
          </Fact>
          <Fact label="Received through">
            <CameThrough message={message} />
          </Fact>
          <Fact label="Stream">{message.stream}</Fact>
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
  smtp: 'SMTP',
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
  content: UseQueryResult<MessageContent>;
}

function Panels({ message, content: asked }: PanelsProps) {
  const content = asked.data;
  const attachments = content?.attachments.length ?? 0;
  const { tab = 'email' } = useSearch({ from: '/inside/messages/$id' });
  const navigate = useNavigate({ from: '/messages/$id' });
  const webhooks = useRead('messages.listWebhooks', { sm_mail_id: message.id });
  const missing = <NoContent sealed={message.sealed} asked={asked} />;
  return (
    <Tabs
      value={tab}
      onChange={(next) =>
        void navigate({ search: next && next !== 'email' ? { tab: next } : {}, replace: true })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md">
        <Tabs.Tab value="email">Email</Tabs.Tab>
        <Tabs.Tab value="recipients">Recipients ({message.recipient_states.length})</Tabs.Tab>
        <Tabs.Tab value="headers">Headers</Tabs.Tab>
        {!message.sealed && <Tabs.Tab value="source">Source</Tabs.Tab>}
        {attachments > 0 && <Tabs.Tab value="attachments">Attachments ({attachments})</Tabs.Tab>}
        <Tabs.Tab value="relay">Relay</Tabs.Tab>
        <Tabs.Tab value="webhooks">
          Webhooks{webhooks.data && ` (${webhooks.data.data.length})`}
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="email">
        {content ? (
          <EmailPreview
            email={{ ...content, from: content.from_email }}
            title={`Email: ${message.subject}`}
          />
        ) : (
          missing
        )}
      </Tabs.Panel>
      <Tabs.Panel value="recipients">
        <Recipients states={message.recipient_states} />
      </Tabs.Panel>
      <Tabs.Panel value="headers">
        {content ? <Headers id={message.id} bcc={content.bcc} /> : missing}
      </Tabs.Panel>
      <Tabs.Panel value="source">
        <Source id={message.id} />
      </Tabs.Panel>
      <Tabs.Panel value="attachments">{content && <Attachments content={content} />}</Tabs.Panel>
      <Tabs.Panel value="relay">
        <RelayPanel message={message} />
      </Tabs.Panel>
      <Tabs.Panel value="webhooks">
        <Deliveries asked={webhooks} />
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
  // The service's own emails are sent again from where they came, such as an invitation under Team.
  if (!may || message.door === 'system') return null;
  return (
    <Button
      variant="default"
      leftSection={<RetryIcon size={16} />}
      loading={sendAgain.isPending}
      onClick={async () => {
        const yes = await confirm({
          title: 'Send this email again?',
          body: `A new message goes to ${nameSome(message.recipients)}. It counts toward today's quota.`,
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
