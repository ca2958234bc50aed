// Where someone is signed in: each browser with place and time, which can be ended one by one or
// all others at once.
import { ActionIcon, Badge, Button, Group, Table, Text } from '@mantine/core';
import type { SessionView } from '../../../../src/dashboard/views/factors.ts';
import { useAction, useApi } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { SignOutIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';

export function Sessions() {
  const sessions = useApi('listSessions');
  const rows = sessions.data?.sessions ?? [];
  return (
    <Section
      title="Sessions"
      lead="Where you are signed in. End any session you do not recognise, then change your password."
      actions={rows.length > 1 && <EndOthers />}
    >
      <List asked={sessions} rows={rows} loading={<LoadingRows rows={2} />}>
        {(shown) => (
          <RowTable label="Sessions" columns={['Device', 'Address', 'Signed in', 'Seen']} actions>
            {shown.map((one) => (
              <SessionLine key={one.id} row={one} />
            ))}
          </RowTable>
        )}
      </List>
    </Section>
  );
}

function SessionLine({ row }: { row: SessionView }) {
  const end = useAction('endOwnSession', {
    changes: ['listSessions'],
    onDone: () => tellDone('The session was ended'),
  });
  const device = row.device || 'Unknown device';
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="xs">
          <Text size="sm" fw={500}>
            {device}
          </Text>
          {row.current && <Badge color="martin">This one</Badge>}
          {row.secondFactor && <Badge color="gray">Second factor</Badge>}
        </Group>
      </Table.Td>
      <Table.Td data-label="Address">{row.ipAddress || '—'}</Table.Td>
      <Table.Td data-label="Signed in">
        <Time at={row.createdAt} />
      </Table.Td>
      <Table.Td data-label="Seen">
        <Time at={row.seenAt} />
      </Table.Td>
      <Table.Td className="to-the-right">
        {!row.current && (
          <Tooltip label="Sign out there">
            <ActionIcon
              aria-label={`Sign out on ${device}`}
              loading={end.isPending}
              onClick={() => end.mutate({ params: { id: row.id } }, { onError: tellFault })}
            >
              <SignOutIcon size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function EndOthers() {
  const confirm = useConfirm();
  const end = useAction('signOutOthers', {
    changes: ['listSessions'],
    onDone: ({ ended }) =>
      tellDone(ended === 1 ? 'One other session was ended' : `${ended} other sessions were ended`),
  });
  return (
    <Button
      variant="default"
      loading={end.isPending}
      onClick={async () => {
        const yes = await confirm({
          title: 'Sign out everywhere else?',
          body: 'Your other browsers and devices must sign in again.',
          act: 'Sign out',
        });
        if (yes) end.mutate({}, { onError: tellFault });
      }}
    >
      Sign out everywhere else
    </Button>
  );
}
