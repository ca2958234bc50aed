// What others did with a message: each recipient's state, the relay's replies, webhook deliveries.
import { Group, Paper, Stack, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { RecipientState, RelayState } from '../../../../src/dashboard/views/messages.ts';
import type { DeliveryRow } from '../../../../src/dashboard/views/webhooks.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { WebhooksIcon } from '../../parts/icons.tsx';
import { Empty, Fact, TableBox } from '../../parts/page.tsx';
import { capital, State, Status, type Tone } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export function Recipients({ states }: { states: RecipientState[] }) {
  return (
    <TableBox label="Recipients">
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Address</Table.Th>
            <Table.Th>As</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Since</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {states.map(({ address, kind, state, at, response }) => (
            <Table.Tr key={`${kind} ${address}`}>
              <Table.Td>
                {address}
                {response && (
                  <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                    {response}
                  </Text>
                )}
              </Table.Td>
              <Table.Td data-label="As">{capital(kind)}</Table.Td>
              <Table.Td data-label="State">
                <Status status={state} />
              </Table.Td>
              <Table.Td data-label="Since">{at ? <Time at={at} /> : '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

/** What was no end and so is not in the timeline. */
function Attempts({ attempts }: { attempts: RelayState['attempts'] }) {
  return (
    <TableBox label="Attempts that were put off">
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
            recipients.map(({ recipient, result, reply }) => (
              <Table.Tr key={`${at} ${recipient}`}>
                <Table.Td data-label="When">
                  <Time at={at} />
                </Table.Td>
                <Table.Td data-label="Attempt">{attempt ?? `Reported by ${server}`}</Table.Td>
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

export function RelayPanel({
  relay: { messageId, pending, delay, attempts, replies },
}: {
  relay: RelayState;
}) {
  return (
    <Stack>
      <Paper p="lg">
        <Stack gap="md">
          <Fact label="Id at the relay">
            {messageId ? (
              <CopyLine value={messageId} label="Copy the relay's id" />
            ) : (
              'Not taken yet'
            )}
          </Fact>
          {pending && (
            <Fact label={pending.setAside === null ? 'Still to hand over' : 'Set aside'}>
              {pending.remaining.join(', ')}: {pending.attempts}{' '}
              {pending.attempts === 1 ? 'attempt' : 'attempts'} so far,{' '}
              {pending.setAside === null ? (
                <>
                  next <Time at={pending.nextAt} />
                </>
              ) : (
                `not tried any more. ${pending.setAside}`
              )}
              {pending.unknown.length > 0 && (
                <Text size="sm">
                  Nobody knows whether the relay has it for {pending.unknown.join(', ')}: the line
                  was cut after the mail.
                </Text>
              )}
              {pending.lastResponse && (
                <Text size="sm" c="dimmed">
                  {pending.lastResponse}
                </Text>
              )}
            </Fact>
          )}
          {delay && (
            <Fact label="Reported late">
              <code>{JSON.stringify(delay)}</code>
            </Fact>
          )}
        </Stack>
      </Paper>
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      {replies.length === 0 ? (
        <Empty title="Nothing was said yet">Replies of mail servers appear here.</Empty>
      ) : (
        <TableBox label="Replies of mail servers">
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
                    <Time at={reply.at} />
                  </Table.Td>
                  <Table.Td data-label="Server">{reply.reportingMta}</Table.Td>
                  <Table.Td data-label="About">{reply.recipients.join(', ')}</Table.Td>
                  <Table.Td data-label="Reply">
                    <code>{reply.response}</code>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
    </Stack>
  );
}

/** One that failed and waits for its next attempt is not as well as one that waits for its first. */
export function toneOfDelivery({ state, attempts }: Pick<DeliveryRow, 'state' | 'attempts'>): Tone {
  if (state === 'pending') return attempts > 0 ? 'warn' : 'busy';
  return state === 'delivered' ? 'good' : 'bad';
}

export function Deliveries({ deliveries }: { deliveries: DeliveryRow[] }) {
  if (deliveries.length === 0) {
    return (
      <Empty icon={<WebhooksIcon />} title="No webhook was called">
        Endpoints get the events of a message as they happen.{' '}
        <Link to="/webhooks" className="plain-link">
          Webhooks
        </Link>
      </Empty>
    );
  }
  return (
    <Paper style={{ overflow: 'hidden' }}>
      {deliveries.map((row) => (
        <Link
          key={row.id}
          to="/webhooks/$id"
          params={{ id: row.endpointId }}
          className="row-link delivery-line"
        >
          <State tone={toneOfDelivery(row)}>{capital(row.state)}</State>
          <Text size="sm" fw={500}>
            {row.eventType}
          </Text>
          <Text size="sm" c="dimmed" truncate>
            {row.endpointUrl}
          </Text>
          <Group gap="xs" justify="flex-end" wrap="nowrap">
            <Text size="xs" c="dimmed">
              {row.status ?? row.error ?? ''}
            </Text>
            <Text size="xs" c="dimmed">
              <Time at={row.attemptedAt ?? row.createdAt} />
            </Text>
          </Group>
        </Link>
      ))}
    </Paper>
  );
}
