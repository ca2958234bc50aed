// The sandbox inbox: mail that was captured instead of delivered, and the addresses that play a
// part.
import { Button, Paper, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useChange, useRead, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { SandboxIcon, TrashIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, Section, ShowMore, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { saySize } from '../../parts/size.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

export function SandboxPage() {
  const may = useMay('developer');
  const confirm = useConfirm();
  const pages = useRows('sandbox.list', { limit: 50 });
  const rows = pages.data?.pages.flatMap((page) => page.data) ?? [];
  const simulator = useRead('sandbox.listAddresses', {}).data?.data ?? [];
  const clear = useChange('sandbox.clear', {
    changes: ['sandbox.list'],
    onDone: ({ cleared }) => tellDone(`${cleared} mails were thrown away.`),
  });
  return (
    <Page
      title="Sandbox"
      lead="A relay that delivers nowhere: look at mails as they would have gone out, and rehearse bounces."
      actions={
        may && (
          <Button
            disabled={rows.length === 0}
            variant="default"
            leftSection={<TrashIcon size={16} />}
            loading={clear.isPending}
            onClick={async () => {
              const yes = await confirm({
                title: 'Empty the inbox?',
                body: 'All captured mails of this account are thrown away. This cannot be undone.',
                act: 'Empty it',
              });
              if (yes) clear.mutate({}, { onError: tellFault });
            }}
          >
            Empty the inbox
          </Button>
        )
      }
    >
      <Section title="Inbox">
        {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
        {pages.isPending && <LoadingRows />}
        {pages.isSuccess && rows.length === 0 && (
          <Empty icon={<SandboxIcon />} title="Nothing was captured">
            Send a mail while no relay is set, or with a key that is limited to the sandbox.
          </Empty>
        )}
        {rows.length > 0 && (
          <Paper style={{ overflow: 'hidden' }}>
            {rows.map((row) => (
              <Link
                key={row.id}
                to="/sandbox/$id"
                params={{ id: row.id }}
                className="row-link sandbox-line"
              >
                <Text size="sm" fw={500} truncate>
                  {row.subject || '(no subject)'}
                </Text>
                <Text size="sm" c="dimmed" truncate>
                  {row.recipients.join(', ')}
                </Text>
                <Text size="xs" c="dimmed">
                  {saySize(row.size)}
                </Text>
                <Text size="xs" c="dimmed" ta="right">
                  <Time at={row.captured_at} />
                </Text>
              </Link>
            ))}
          </Paper>
        )}
        <ShowMore pages={pages} />
      </Section>
      {simulator.length > 0 && (
        <Section
          title="Simulator"
          lead="Send to these addresses to see what would happen. They work in the sandbox only."
        >
          <TableBox label="Simulator addresses">
            <Table className="simulator">
              <Table.Tbody>
                {simulator.map(({ address, plays }) => (
                  <Table.Tr key={address}>
                    <Table.Td>
                      <CopyLine value={address} label={`Copy ${address}`} />
                    </Table.Td>
                    <Table.Td>{plays}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </TableBox>
        </Section>
      )}
    </Page>
  );
}
