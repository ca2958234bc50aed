// What people wrote to postmaster@ and abuse@, and reports that caused no event, for operators. A
// stranger's text: shown as text, never as a page.
import { Button, Code, ScrollArea, Stack, Switch, Table, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { useRead, useRows } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { Time } from '../../parts/time.tsx';

export function KeptEmail() {
  const [all, setAll] = useState(false);
  const [shown, show] = useState<string | null>(null);
  const kept = useRows('feedback.list', { limit: 25, for_people: !all });
  return (
    <Stack gap="xs" mt="xl">
      <Title order={2} size="h4">
        Email to postmaster and abuse
      </Title>
      <Text size="sm" c="dimmed">
        Emails to postmaster@ and abuse@ of the bounce domain, kept for 30 days. Complaints that
        identify their message are recorded on it instead.
      </Text>
      <Switch
        label="Include reports that caused no event"
        checked={all}
        onChange={(event) => setAll(event.currentTarget.checked)}
      />
      <List asked={kept} rows={kept.rows} empty={{ title: 'Nothing is kept' }}>
        {(rows) => (
          <RowTable
            label="Email to postmaster and abuse"
            columns={['Subject', 'From', 'To', 'Received', 'Why it is here']}
            actions
          >
            {rows.map(({ id, subject, from, recipient, received_at, reason }) => (
              <Table.Tr key={id}>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{subject || '(none)'}</Table.Td>
                <Table.Td data-label="From" style={{ overflowWrap: 'anywhere' }}>
                  {from || '<>'}
                </Table.Td>
                <Table.Td data-label="To" style={{ overflowWrap: 'anywhere' }}>
                  {recipient}
                </Table.Td>
                <Table.Td data-label="Received">
                  <Time at={received_at} />
                </Table.Td>
                <Table.Td data-label="Why it is here">{reason}</Table.Td>
                <Table.Td className="to-the-right">
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    aria-label={`Read ${subject || id}`}
                    onClick={() => show(id)}
                  >
                    Read
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </RowTable>
        )}
      </List>
      <Dialog opened={shown !== null} onClose={() => show(null)} title="As received" size="xl">
        {shown !== null && <Source id={shown} />}
      </Dialog>
    </Stack>
  );
}

function Source({ id }: { id: string }) {
  const email = useRead('feedback.get', { id });
  if (email.isError) return <Text size="sm">{email.error.message}</Text>;
  return (
    <ScrollArea h={480}>
      <Code block>{email.data?.raw ?? ''}</Code>
    </ScrollArea>
  );
}
