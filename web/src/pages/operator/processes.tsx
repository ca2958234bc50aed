// Operator: the processes of this service, and the state of each role.
import { Table, Text } from '@mantine/core';
import { useRead } from '../../operations.ts';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Section } from '../../parts/page.tsx';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export function Processes() {
  const state = useRead('service.get', {}, { watched: true });
  return (
    <Section
      title="Processes"
      lead="The running processes of this service. A role without a process does nothing until you start one."
    >
      <List asked={state} rows={state.data?.roles ?? []} loading={<LoadingRows rows={3} />}>
        {(roles) => (
          <RowTable label="Roles" columns={['Role', 'State', 'Processes']}>
            {roles.map(({ role, running, missing, detail }) => (
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
                  {state.data?.processes
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
          </RowTable>
        )}
      </List>
    </Section>
  );
}
