// What happened to the email at each large mailbox provider, and how its refusals were worded.
import { Table, Text } from '@mantine/core';
import type { ReceiverStatistics } from '../../../../src/client/operations.ts';
import { useRead } from '../../operations.ts';
import { List, RowTable } from '../../parts/list.tsx';
import { Section } from '../../parts/page.tsx';

const count = new Intl.NumberFormat();

export function Receivers({ days }: { days: number }) {
  const asked = useRead('usage.receivers', { days });
  return (
    <Section title="Receivers" lead="By the mailbox provider of the recipient.">
      <List
        asked={asked}
        rows={asked.data?.receivers ?? []}
        empty={{ title: 'No receiver has reported anything yet' }}
      >
        {(rows) => (
          <RowTable
            label="Receivers"
            columns={['Receiver', 'Delivered', 'Deferred', 'Bounced', 'Complaints', 'Refusals']}
          >
            {rows.map((row) => (
              <Receiver key={row.receiver} row={row} />
            ))}
          </RowTable>
        )}
      </List>
    </Section>
  );
}

function Receiver({ row }: { row: ReceiverStatistics }) {
  const { complaint_rate: rate, refusals } = row;
  const share = rate === null || rate === 0 ? '' : ` (${(rate * 100).toFixed(2)}%)`;
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td>{row.receiver === 'others' ? 'Others' : row.receiver}</Table.Td>
      <Table.Td data-label="Delivered">{count.format(row.delivered)}</Table.Td>
      <Table.Td data-label="Deferred">{count.format(row.deferred)}</Table.Td>
      <Table.Td data-label="Bounced">{count.format(row.bounced)}</Table.Td>
      <Table.Td data-label="Complaints">
        {count.format(row.complained)}
        {share}
      </Table.Td>
      <Table.Td data-label="Refusals">
        {refusals.slice(0, 3).map(({ words, count: times }) => (
          <Text key={words} size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {count.format(times)} × {words}
          </Text>
        ))}
      </Table.Td>
    </Table.Tr>
  );
}
