// Suppressions: addresses that get no more email, why, and how to lift that.
import { ActionIcon, Badge, Button, Table, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { memo } from 'react';
import type { Suppression } from '../../../../src/client/operations.ts';
import { CSV_HEAD, csvLine } from '../../../../src/suppressions/csv.ts';
import { api, useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { downloadText } from '../../parts/download.ts';
import { ActionForm } from '../../parts/form.tsx';
import { DownloadIcon, PlusIcon, SuppressionsIcon, TrashIcon } from '../../parts/icons.tsx';
import { List, RowTable, SearchBox } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';
import { useSearchText } from '../../parts/typed.ts';
import { useMay } from '../../session.ts';

export function SuppressionsPage() {
  const may = useMay('developer');
  const asked = useSearchText();
  const { search } = asked;
  const suppressions = useRows('suppressions.list', { search });
  const [opened, { open, close }] = useDialogInAddress('addresses', may);
  return (
    <Page
      title="Suppressions"
      lead="Emails to these addresses are not sent; they are recorded as bounced. An unsubscribe applies only to its stream."
      actions={
        <>
          {suppressions.rows.length > 0 && <ExportButton />}
          {may && (
            <Button leftSection={<PlusIcon size={16} />} onClick={open}>
              Add addresses
            </Button>
          )}
        </>
      }
    >
      <SearchBox label="Search by address" {...asked} />
      <List asked={suppressions} rows={suppressions.rows} empty={search ? noHit : nobody}>
        {(rows) => (
          <RowTable
            label="Suppressed addresses"
            columns={['Address', 'Caused by', 'Stream', 'Email', 'Since']}
            actions
          >
            {rows.map((row) => (
              <SuppressionLine key={`${row.address} ${row.reason} ${row.stream}`} row={row} />
            ))}
          </RowTable>
        )}
      </List>
      <AddSuppressions opened={opened} onClose={close} />
    </Page>
  );
}

const noHit = {
  icon: <SuppressionsIcon />,
  title: 'Nothing matches',
  children: 'No suppressed address contains this.',
};
const nobody = {
  icon: <SuppressionsIcon />,
  title: 'Nobody is suppressed',
  children: 'Addresses that no longer exist, complain or unsubscribe are added automatically.',
};

const toneOfReason = { bounce: 'red', complaint: 'orange', unsubscribe: 'blue', manual: 'gray' };

const SuppressionLine = memo(function SuppressionLine({ row }: { row: Suppression }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const remove = useChange('suppressions.remove', {
    foresee: {
      'suppressions.list': (one, { address, stream = null }) =>
        one.address === address && one.stream === stream ? null : one,
    },
    onDone: () => tellDone(`${row.address} can get email again.`),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{row.address}</Table.Td>
      <Table.Td data-label="Caused by">
        <Badge color={toneOfReason[row.reason]}>{capital(row.reason)}</Badge>
      </Table.Td>
      <Table.Td data-label="Stream">{row.stream ?? 'All'}</Table.Td>
      <Table.Td data-label="Email">
        {row.message_id ? (
          <Link to="/messages/$id" params={{ id: row.message_id }} className="plain-link">
            Show
          </Link>
        ) : (
          '–'
        )}
      </Table.Td>
      <Table.Td data-label="Since">
        <Time at={row.created_at} />
      </Table.Td>
      <Table.Td className="to-the-right">
        {may && (
          <Tooltip label="Remove">
            <ActionIcon
              aria-label={`Remove ${row.address}`}
              onClick={async () => {
                const yes = await confirm({
                  title: `Send to ${row.address} again?`,
                  body:
                    row.reason === 'complaint' || row.reason === 'unsubscribe'
                      ? 'They asked not to be emailed. Remove them only if they have asked for emails again.'
                      : 'If it bounces again, it is suppressed again.',
                  act: 'Remove',
                });
                if (yes) {
                  const stream = row.stream === null ? {} : { stream: row.stream };
                  remove.mutate({ address: row.address, ...stream });
                }
              }}
            >
              <TrashIcon size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  );
});

function AddSuppressions({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const add = useChange('suppressions.add', {
    changes: ['suppressions.list'],
    onDone: ({ added, present }) => {
      onClose();
      const already =
        present === 0 ? '' : ` ${present} ${present === 1 ? 'was' : 'were'} already suppressed.`;
      tellDone(
        `${added === 1 ? 'One address gets' : `${added} addresses get`} no more email.${already}`,
      );
    },
  });
  return (
    <Dialog opened={opened} onClose={onClose} title="Suppress addresses">
      <ActionForm
        action={add}
        act="Suppress"
        onSend={(field) => {
          add.mutate({
            addresses: field('addresses')
              .split(/[\s,;]+/)
              .filter(Boolean),
          });
        }}
      >
        <Textarea
          label="Addresses"
          description="One per line, up to 1,000 at a time"
          name="addresses"
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Dialog>
  );
}

function ExportButton() {
  const exporting = useMutation({ mutationFn: exportAll, onError: tellFault });
  return (
    <Button
      variant="default"
      leftSection={<DownloadIcon size={16} />}
      loading={exporting.isPending}
      onClick={() => exporting.mutate()}
    >
      Export
    </Button>
  );
}

async function exportAll(): Promise<void> {
  const lines = [CSV_HEAD];
  for await (const row of api.suppressions.list({ limit: 1000 })) lines.push(csvLine(row));
  downloadText('suppressions.csv', `${lines.join('\n')}\n`);
}
