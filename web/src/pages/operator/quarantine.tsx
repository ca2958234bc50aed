// Quarantine, for operators: mails that were set aside with the reason of each; released when the
// cause is mended.
import { Button, Stack, Table, Text, Title } from '@mantine/core';
import { useChange, useRows } from '../../operations.ts';
import { ShowMore, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';

/** Nothing while nothing is set aside. */
export function Quarantine() {
  const quarantine = useRows('quarantine.list', { limit: 100 });
  const release = useChange('quarantine.release', {
    changes: ['quarantine.list'],
    onDone: () => tellDone('The mail is due again'),
  });
  const items = quarantine.data?.pages.flatMap((page) => page.data) ?? [];
  if (items.length === 0) return null;
  return (
    <Stack gap="xs" mt="xl">
      <Title order={2} size="h4">
        Quarantine
      </Title>
      <Text size="sm" c="dimmed">
        These mails could not be read, made or recorded, and are not tried until you release them.
      </Text>
      <TableBox label="Quarantine">
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Message</Table.Th>
              <Table.Th>Account</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th>Reason</Table.Th>
              <Table.Th aria-label="Actions" />
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {items.map(({ id, account_id, since, reason }) => (
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
                    onClick={() => release.mutate({ id }, { onError: tellFault })}
                  >
                    Release
                  </Button>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
      <ShowMore pages={quarantine} />
    </Stack>
  );
}
