// Suppressions: addresses that get nothing more, why, and the way back.
import {
  ActionIcon,
  Badge,
  Button,
  Modal,
  Table,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Suppression } from '../../../../src/client/operations.ts';
import { api, useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';
import {
  DownloadIcon,
  PlusIcon,
  SearchIcon,
  SuppressionsIcon,
  TrashIcon,
} from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, ShowMore, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

export function SuppressionsPage() {
  const may = useMay('developer');
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), 300);
  const pages = useRows('suppressions.list', { search });
  const [opened, { open, close }] = useDisclosure();
  const rows = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Page
      title="Suppressions"
      lead="Mail to these addresses is not handed to the relay; it is recorded as bounced. It keeps your reputation clean."
      actions={
        <>
          {rows.length > 0 && <ExportButton />}
          {may && (
            <Button leftSection={<PlusIcon size={16} />} onClick={open}>
              Add addresses
            </Button>
          )}
        </>
      }
    >
      <TextInput
        mb="md"
        maw={360}
        type="search"
        aria-label="Search by address"
        placeholder="Search by address"
        leftSection={<SearchIcon size={16} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
      {pages.isPending && <LoadingRows />}
      {pages.isSuccess && rows.length === 0 && (
        <Empty
          icon={<SuppressionsIcon />}
          title={search ? 'Nothing matches' : 'Nobody is suppressed'}
        >
          {search
            ? 'No suppressed address holds this.'
            : 'Addresses that are gone, complain or unsubscribe come here by themselves.'}
        </Empty>
      )}
      {rows.length > 0 && (
        <TableBox label="Suppressed addresses">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Address</Table.Th>
                <Table.Th>Because of</Table.Th>
                <Table.Th>Mail</Table.Th>
                <Table.Th>Since</Table.Th>
                <Table.Th aria-label="Actions" />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <SuppressionLine key={row.address} row={row} />
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
      <ShowMore pages={pages} />
      <AddSuppressions opened={opened} onClose={close} />
    </Page>
  );
}

const toneOfReason = { bounce: 'red', complaint: 'orange', unsubscribe: 'blue', manual: 'gray' };

function SuppressionLine({ row }: { row: Suppression }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const remove = useChange('suppressions.remove', {
    changes: ['suppressions.list'],
    onDone: () => tellDone(`${row.address} can get mail again.`),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{row.address}</Table.Td>
      <Table.Td data-label="Because of">
        <Badge color={toneOfReason[row.reason]}>{capital(row.reason)}</Badge>
      </Table.Td>
      <Table.Td data-label="Mail">
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
                      ? 'They asked for no more mail. Remove them only if they asked for it again.'
                      : 'If it bounces again it comes back here by itself.',
                  act: 'Remove',
                });
                if (yes) {
                  remove.mutate({ address: row.address }, { onError: tellFault });
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
}

function AddSuppressions({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const add = useChange('suppressions.add', {
    changes: ['suppressions.list'],
    onDone: ({ added, present }) => {
      onClose();
      const already = present === 0 ? '' : ` ${present} ${present === 1 ? 'was' : 'were'} there.`;
      tellDone(`${added === 1 ? 'One address gets' : `${added} addresses get`} no more.${already}`);
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Suppress addresses">
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
          description="One a line, up to 1,000 at a time"
          name="addresses"
          autosize
          minRows={3}
          maxRows={12}
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Modal>
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

/** No field can hold a comma or a quote. */
async function exportAll(): Promise<void> {
  const lines = ['address,reason,message_id,created_at'];
  for await (const row of api.suppressions.list({ limit: 1000 })) {
    lines.push([row.address, row.reason, row.message_id ?? '', row.created_at].join(','));
  }
  const file = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }));
  const link = Object.assign(document.createElement('a'), {
    href: file,
    download: 'suppressions.csv',
  });
  link.click();
  URL.revokeObjectURL(file);
}
