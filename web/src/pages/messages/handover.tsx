// What others did with a message: each recipient's state, the relay's replies, webhook deliveries.

import { Button, Group, Paper, Stack, Table, Text, TextInput } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type {
  DeliveryAttempt,
  MessageDetails,
  RecipientState,
  WebhookDelivery,
} from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { SearchIcon, WebhooksIcon } from '../../parts/icons.tsx';
import { List } from '../../parts/list.tsx';
import { Empty, Fact, LoadingRows, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Segments } from '../../parts/segments.tsx';
import { capital, State, Status, statuses, type Tone } from '../../parts/status.tsx';
import { sayMoment, Time } from '../../parts/time.tsx';
import { useTyped } from '../../parts/typed.ts';
import { useMay } from '../../session.ts';

const FEW = 8;

export function Recipients({ states }: { states: RecipientState[] }) {
  const { state: status = '', q: part = '' } = useSearch({ from: '/inside/messages/$id' });
  const navigate = useNavigate({ from: '/messages/$id' });
  const show = (change: { state?: string | undefined; q?: string | undefined }) =>
    void navigate({
      search: (before) => ({ ...before, ...change }),
      replace: true,
      resetScroll: false,
    });
  const typed = useTyped(part, (text) => show({ q: text || undefined }));
  const found = states.filter(
    (it) =>
      (status === '' || it.status === status) &&
      it.address.toLowerCase().includes(part.toLowerCase()),
  );
  const counts = statuses
    .map((value) => ({ value, count: states.filter((it) => it.status === value).length }))
    .filter(({ count }) => count > 0);
  return (
    <>
      {states.length > FEW && (
        <Group mb="sm" gap="xs">
          <TextInput
            type="search"
            aria-label="Part of an address"
            placeholder="Part of an address"
            leftSection={<SearchIcon size={15} />}
            {...typed}
          />
          <Segments
            label="State"
            value={status}
            onChange={(state) => show({ state: state || undefined })}
            choices={[
              { value: '', label: `All ${states.length}` },
              ...counts.map(({ value, count }) => ({ value, label: `${count} ${value}` })),
            ]}
          />
        </Group>
      )}
      <TableBox label="Recipients">
        <Table className="lines">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Address</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th>Since</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.map(({ address, kind, status, at, response }) => (
              <Table.Tr key={`${kind} ${address}`}>
                <Table.Td>
                  {kind === 'to' ? address : `${address} (${kind})`}
                  {response && (
                    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                      {response}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td data-label="State">
                  <Status status={status} />
                </Table.Td>
                <Table.Td data-label="Since">{at ? sayMoment(at) : '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
    </>
  );
}

/** Attempts that settled nothing, and so are not in the timeline. */
function Attempts({ attempts }: { attempts: DeliveryAttempt[] }) {
  return (
    <TableBox label="Deferred attempts">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Attempt</Table.Th>
            <Table.Th>About</Table.Th>
            <Table.Th>Outcome</Table.Th>
            <Table.Th>Reply</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {attempts.flatMap(({ at, attempt, server, recipients }) =>
            recipients.map(({ recipient, result, reply, relay }) => (
              <Table.Tr key={`${at} ${recipient}`}>
                <Table.Td data-label="When">
                  <Time at={at} />
                </Table.Td>
                <Table.Td data-label="Attempt">
                  {attempt === null
                    ? `Reported by ${server}`
                    : relay
                      ? `${attempt}, at ${relay}`
                      : attempt}
                </Table.Td>
                <Table.Td data-label="About">{recipient}</Table.Td>
                <Table.Td data-label="Outcome">
                  {result === 'unknown' ? 'Unknown' : 'Deferred'}
                </Table.Td>
                <Table.Td data-label="Reply">
                  <code>{reply}</code>
                </Table.Td>
              </Table.Tr>
            )),
          )}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

export function RelayPanel({ message }: { message: MessageDetails }) {
  const { relays, relay_message_id, delay, pending } = message;
  const attempts = useRead('messages.listAttempts', { sm_mail_id: message.id });
  const tried = attempts.data?.data ?? [];
  return (
    <Stack>
      <Paper p="lg">
        <Stack gap="md">
          {relays.length > 0 && <Fact label="Accepted by">{relays.join(', ')}</Fact>}
          <Fact label="Relay id">
            {relay_message_id ? (
              <CopyLine value={relay_message_id} label="Copy the relay's id" />
            ) : (
              'Not accepted yet'
            )}
          </Fact>
          {pending && <StillPending id={message.id} pending={pending} />}
          {delay && (
            <Fact label="Reported late">
              <code>{JSON.stringify(delay)}</code>
            </Fact>
          )}
        </Stack>
      </Paper>
      {tried.length > 0 && <Attempts attempts={tried} />}
      <Replies events={message.events} />
    </Stack>
  );
}

interface PendingProps {
  id: string;
  pending: NonNullable<MessageDetails['pending']>;
}

function StillPending({ id, pending }: PendingProps) {
  return (
    <Fact label={pending.set_aside === null ? 'Still to hand over' : 'Set aside'}>
      {pending.remaining.join(', ')}: {pending.attempts}{' '}
      {pending.attempts === 1 ? 'attempt' : 'attempts'} so far,{' '}
      {pending.set_aside === null ? (
        <>
          next <Time at={pending.next_at} />
        </>
      ) : (
        `no longer retried. ${pending.set_aside}`
      )}
      {pending.last_response && (
        <Text size="sm" c="dimmed">
          {pending.last_response}
        </Text>
      )}
      {pending.unknown.length > 0 && <Unknown id={id} recipients={pending.unknown} />}
    </Fact>
  );
}

/** Someone who can ask the relay decides. */
function Unknown({ id, recipients }: { id: string; recipients: string[] }) {
  const may = useMay('developer');
  const resolve = useChange('messages.resolve', {
    changes: ['messages.details', 'messages.listAttempts'],
    onDone: () => tellDone('Decided'),
  });
  const as = (outcome: 'sent' | 'again') => () =>
    resolve.mutate({ sm_mail_id: id, as: outcome }, { onError: tellFault });
  return (
    <>
      <Text size="sm">
        It is not known whether the relay has it for {recipients.join(', ')}: the connection was
        lost after the email was handed over.
      </Text>
      {may && (
        <Group gap="xs" mt="xs">
          <Button size="xs" variant="default" loading={resolve.isPending} onClick={as('sent')}>
            Count it as sent
          </Button>
          <Button size="xs" variant="default" loading={resolve.isPending} onClick={as('again')}>
            Send it again now
          </Button>
        </Group>
      )}
    </>
  );
}

/** What mail servers said, as the events tell it. */
function Replies({ events }: Pick<MessageDetails, 'events'>) {
  const replies = events.flatMap((event) => ('reporting_mta' in event ? [event] : []));
  if (replies.length === 0) {
    return <Empty title="No replies yet">Replies from mail servers appear here.</Empty>;
  }
  return (
    <TableBox label="Replies from mail servers">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Server</Table.Th>
            <Table.Th>About</Table.Th>
            <Table.Th>Reply</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {replies.map((reply, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: replies are only added at the end
            <Table.Tr key={index}>
              <Table.Td data-label="When">
                <Time at={reply.timestamp} />
              </Table.Td>
              <Table.Td data-label="Server">{reply.remote_mta || reply.reporting_mta}</Table.Td>
              <Table.Td data-label="About">{reply.recipients.join(', ')}</Table.Td>
              <Table.Td data-label="Reply">
                <code>{reply.smtp_response}</code>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

/**
 * A delivery that failed and waits for its next attempt looks worse than one that waits for its
 * first.
 */
export function toneOfDelivery({
  state,
  attempts,
}: Pick<WebhookDelivery, 'state' | 'attempts'>): Tone {
  if (state === 'pending') return attempts > 0 ? 'warn' : 'busy';
  return state === 'delivered' ? 'good' : 'bad';
}

const NONE_CALLED = {
  icon: <WebhooksIcon />,
  title: 'No webhook was called',
  children: (
    <>
      Endpoints receive a message's events as they happen.{' '}
      <Link to="/webhooks" className="plain-link">
        Webhooks
      </Link>
    </>
  ),
};

export function Deliveries({ asked }: { asked: UseQueryResult<{ data: WebhookDelivery[] }> }) {
  const deliveries = asked.data?.data ?? [];
  const endpoints = useRead('webhooks.list', {}, { enabled: deliveries.length > 0 });
  const urlOf = (id: string) => endpoints.data?.data.find((it) => it.id === id)?.url;
  return (
    <List asked={asked} rows={deliveries} empty={NONE_CALLED} loading={<LoadingRows rows={3} />}>
      {(rows) => (
        <Paper style={{ overflow: 'hidden' }}>
          {rows.map((row) => (
            <div key={row.id} className="delivery-line">
              <State tone={toneOfDelivery(row)}>{capital(row.state)}</State>
              <Text size="sm" fw={500}>
                {row.event_type}
              </Text>
              <Link
                to="/webhooks/$id"
                params={{ id: row.endpoint_id }}
                search={{ delivery: row.id }}
                className="plain-link cut"
              >
                {urlOf(row.endpoint_id) ?? 'Endpoint'}
              </Link>
              <Group gap="xs" justify="flex-end" wrap="nowrap">
                <Text size="xs" c="dimmed">
                  {row.status ?? row.error ?? ''}
                </Text>
                <Text size="xs" c="dimmed">
                  <Time at={row.attempted_at ?? row.created_at} />
                </Text>
                <ResendDelivery row={row} />
              </Group>
            </div>
          ))}
        </Paper>
      )}
    </List>
  );
}

/** Posts one delivery again, whatever happened to it. */
export function ResendDelivery({ row }: { row: WebhookDelivery }) {
  const may = useMay('developer');
  const resend = useChange('webhooks.retryDelivery', {
    changes: [
      'webhooks.getDelivery',
      'webhooks.listDeliveries',
      'webhooks.get',
      'messages.listWebhooks',
    ],
    onDone: () => tellDone('It is being posted again'),
  });
  if (!may) return null;
  const label = row.state === 'pending' ? 'Send now' : 'Resend';
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={resend.isPending}
      aria-label={`${label}: ${row.event_type}`}
      onClick={() =>
        resend.mutate({ id: row.endpoint_id, delivery_id: row.id }, { onError: tellFault })
      }
    >
      {label}
    </Button>
  );
}
