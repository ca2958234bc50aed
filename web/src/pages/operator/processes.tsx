// Operator: the processes of this service, and how each role does.
import { Table, Text } from '@mantine/core';
import { useRead } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { LoadingRows, Section, TableBox } from '../../parts/page.tsx';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export function Processes() {
  const state = useRead('service.get', {}, { watched: true });
  return (
    <Section
      title="Processes"
      lead="What runs of this service. A role without a process stands still until one is started."
    >
      {state.isError && <Fault fault={state.error} retry={state.refetch} />}
      {state.isPending && <LoadingRows rows={3} />}
      {state.data && (
        <TableBox label="Roles">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Role</Table.Th>
                <Table.Th>State</Table.Th>
                <Table.Th>Processes</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {state.data.roles.map(({ role, running, missing, detail }) => (
                <Table.Tr key={role}>
                  <Table.Td>
                    <Text size="sm" fw={500}>
                      {role}
                    </Text>
                  </Table.Td>
                  <Table.Td data-label="State">
                    <State tone={missing ? 'bad' : running > 0 ? 'good' : 'quiet'}>
                      {missing ? 'Missing' : running > 0 ? 'Running' : 'Not used'}
                    </State>
                    {running === 0 && (
                      <Text size="xs" c="dimmed">
                        {detail}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td data-label="Processes">
                    {state.data.processes
                      .filter(({ roles }) => roles.includes(role))
                      .map(({ host, pid, version, started_at }) => (
                        <Text key={`${host} ${pid}`} size="sm">
                          {host}, process {pid}{' '}
                          <Text span size="xs" c="dimmed">
                            {version}, since <Time at={started_at} />
                          </Text>
                        </Text>
                      ))}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
    </Section>
  );
}
