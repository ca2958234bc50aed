// Emails that were set aside, for operators, each with the reason; released when the cause is
// fixed.
import { Button, Stack, Table, Text, Title } from '@mantine/core';
import { useChange, useRows } from '../../operations.ts';
import { List, RowTable } from '../../parts/list.tsx';
import { tellDone } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';

/** Shows nothing while nothing is set aside. */
export function Quarantine() {
  const quarantine = useRows('quarantine.list', { limit: 100 });
  const release = useChange('quarantine.release', {
    foresee: { 'quarantine.list': (one, { id }) => (one.id === id ? null : one) },
    onDone: () => tellDone('The email is queued again'),
  });
  if (quarantine.rows.length === 0) return null;
  return (
    <Stack gap="xs" mt="xl">
      <Title order={2} size="h4">
        Set aside
      </Title>
      <Text size="sm" c="dimmed">
        These emails could not be read, composed or recorded. They are not retried until you release
        them.
      </Text>
      <List asked={quarantine} rows={quarantine.rows}>
        {(rows) => (
          <RowTable
            label="Emails set aside"
            columns={['Message', 'Account', 'Since', 'Reason']}
            actions
          >
            {rows.map(({ id, account_id, since, reason }) => (
              <Table.Tr key={id}>
                <Table.Td>
                  <code>{id}</code>
                </Table.Td>
                <Table.Td data-label="Account">{account_id}</Table.Td>
                <Table.Td data-label="Since">
                  <Time at={since} />
                </Table.Td>
                <Table.Td data-label="Reason">{reason}</Table.Td>
                <Table.Td className="to-the-right">
                  <Button
                    variant="subtle"
                    size="compact-sm"
                    aria-label={`Release ${id}`}
                    onClick={() => release.mutate({ id })}
                  >
                    Release
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </RowTable>
        )}
      </List>
    </Stack>
  );
}
