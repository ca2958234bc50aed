// The sandbox inbox: email that was captured instead of delivered, and the addresses that simulate
// an outcome.
import { Button, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type Output, useChange, useRead, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { SandboxIcon, TrashIcon } from '../../parts/icons.tsx';
import { List, RowBox } from '../../parts/list.tsx';
import { Page, Section, TableBox } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { saySize } from '../../parts/size.ts';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

export function SandboxPage() {
  const may = useMay('developer');
  const confirm = useConfirm();
  const captured = useRows('sandbox.list', { limit: 50 });
  const simulator = useRead('sandbox.listAddresses', {}).data?.data ?? [];
  const clear = useChange('sandbox.clear', {
    foresee: { 'sandbox.list': () => null },
    onDone: ({ cleared }) => tellDone(`${cleared} emails were deleted.`),
  });
  return (
    <Page
      title="Sandbox"
      lead="Captures emails instead of delivering them: see them as they would have been sent, and test bounces."
      actions={
        may && (
          <Button
            disabled={captured.rows.length === 0}
            variant="default"
            leftSection={<TrashIcon size={16} />}
            loading={clear.isPending}
            onClick={async () => {
              const yes = await confirm({
                title: 'Empty the inbox?',
                body: 'All captured emails of this account are deleted. This cannot be undone.',
                act: 'Empty it',
              });
              if (yes) clear.mutate({});
            }}
          >
            Empty the inbox
          </Button>
        )
      }
    >
      <Section title="Inbox">
        <List
          asked={captured}
          rows={captured.rows}
          empty={{
            icon: <SandboxIcon />,
            title: 'Nothing captured yet',
            children: 'Send an email while no relay is set, or with a sandbox-only key.',
          }}
        >
          {(rows) => (
            <RowBox>
              {rows.map((row) => (
                <CapturedLine key={row.id} row={row} />
              ))}
            </RowBox>
          )}
        </List>
      </Section>
      {simulator.length > 0 && (
        <Section
          title="Simulator"
          lead="Send to these addresses to see what happens. They work only in the sandbox."
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

function CapturedLine({ row }: { row: Output<'sandbox.list'>['data'][number] }) {
  return (
    <Link to="/sandbox/$id" params={{ id: row.id }} className="row-link sandbox-line">
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
  );
}
