// Streams: the kinds of email that the account sends, what recipients call them, and whether they
// can leave.
import { ActionIcon, Badge, Button, Group, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { Stream } from '../../../../src/client/operations.ts';
import { DEFAULT_STREAM } from '../../../../src/messages/stream.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { EditIcon, PlusIcon, TrashIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Page } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { Tooltip } from '../../parts/tooltip.tsx';
import { useMay } from '../../session.ts';
import { StreamDialog } from './stream-dialog.tsx';

export function StreamsPage() {
  const may = useMay('developer');
  const streams = useRows('streams.list', {});
  const [edited, setEdited] = useState<Stream>();
  const [making, { open, close }] = useDialogInAddress('stream', may);
  return (
    <Page
      title="Streams"
      lead="The kinds of email you send. A recipient who leaves one still gets the others, and always gets what they need to sign in."
      actions={
        may && (
          <Button leftSection={<PlusIcon size={16} />} onClick={open}>
            New stream
          </Button>
        )
      }
    >
      <List asked={streams} rows={streams.rows} loading={<LoadingRows rows={3} />}>
        {(rows) => (
          <RowTable label="Streams" columns={['Stream', 'Kind', 'Recipients can leave']} actions>
            {rows.map((row) => (
              <StreamLine key={row.name} row={row} onEdit={() => setEdited(row)} />
            ))}
          </RowTable>
        )}
      </List>
      <StreamDialog
        stream={making ? null : edited}
        onClose={making ? close : () => setEdited(undefined)}
      />
    </Page>
  );
}

function StreamLine({ row, onEdit }: { row: Stream; onEdit: () => void }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const archive = useChange('streams.remove', {
    foresee: {
      'streams.list': (stream, { name }) =>
        stream.name === name ? { ...stream, archived_at: new Date().toISOString() } : stream,
    },
    onDone: () => tellDone(`${row.title} is archived.`),
  });
  const archived = row.archived_at !== null;
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {row.title} {archived && <Badge color="gray">Archived</Badge>}
        </Text>
        <Text size="sm" c="dimmed">
          <code>{row.name}</code>
          {row.description && ` · ${row.description}`}
        </Text>
      </Table.Td>
      <Table.Td data-label="Kind">
        <Badge color={row.kind === 'broadcast' ? 'blue' : 'gray'}>{row.kind}</Badge>
      </Table.Td>
      <Table.Td data-label="Recipients can leave">{row.unsubscribe ? 'Yes' : 'No'}</Table.Td>
      <Table.Td className="to-the-right">
        {may && (
          <Group gap={4} wrap="nowrap" justify="flex-end">
            <Tooltip label={archived ? 'Use again' : 'Change'}>
              <ActionIcon
                aria-label={`${archived ? 'Use' : 'Change'} ${row.title}${archived ? ' again' : ''}`}
                aria-haspopup="dialog"
                onClick={onEdit}
              >
                <EditIcon size={16} />
              </ActionIcon>
            </Tooltip>
            {row.name !== DEFAULT_STREAM && !archived && (
              <Tooltip label="Archive">
                <ActionIcon
                  aria-label={`Archive ${row.title}`}
                  onClick={async () => {
                    const yes = await confirm({
                      title: `Archive ${row.title}?`,
                      body: 'Sends that name it are refused. People who left it stay unsubscribed, even if you use it again.',
                      act: 'Archive',
                    });
                    if (yes) archive.mutate({ name: row.name });
                  }}
                >
                  <TrashIcon size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
