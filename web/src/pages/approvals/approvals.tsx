// Waiting for approval: emails that agents wrote and a person has to look at, live.
import { Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { HeldEmail } from '../../../../src/client/operations.ts';
import { useRows } from '../../operations.ts';
import { CheckIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Page } from '../../parts/page.tsx';
import { Time } from '../../parts/time.tsx';

export const REASONS: Record<HeldEmail['reason'], string> = {
  always: 'Its key sends nothing without approval',
  first_contact: 'A recipient you have not emailed before',
  outside_domain: 'A recipient outside your senders',
};

export function ApprovalsPage() {
  const waiting = useRows('approvals.list', {}, { watched: true });
  return (
    <Page
      title="Waiting for approval"
      lead="Emails from keys that need a person's approval. None of them has been sent; those not approved within a day expire."
    >
      <List
        asked={waiting}
        rows={waiting.rows}
        loading={<LoadingRows rows={3} />}
        empty={{
          icon: <CheckIcon size={28} />,
          title: 'Nothing is waiting',
          children: 'Emails from keys with the rule “A person approves” are held here.',
        }}
      >
        {(rows) => (
          <RowTable
            label="Waiting for approval"
            columns={['Email', 'To', 'Why it waits', 'Since', 'Expires']}
          >
            {rows.map((row) => (
              <Row key={row.sm_mail_id} row={row} />
            ))}
          </RowTable>
        )}
      </List>
    </Page>
  );
}

function Row({ row }: { row: HeldEmail }) {
  const [first, ...others] = row.recipients;
  return (
    <Table.Tr>
      <Table.Td>
        <Link to="/approvals/$id" params={{ id: row.sm_mail_id }} className="plain-link">
          {row.subject || '(no subject)'}
        </Link>
        {row.template && (
          <Text size="xs" c="dimmed">
            {row.template}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label="To" style={{ overflowWrap: 'anywhere' }}>
        {first}
        {others.length > 0 && ` +${others.length}`}
      </Table.Td>
      <Table.Td data-label="Why">{REASONS[row.reason]}</Table.Td>
      <Table.Td data-label="Since">
        <Time at={row.created_at} />
      </Table.Td>
      <Table.Td data-label="Expires">
        <Time at={row.expires_at} />
      </Table.Td>
    </Table.Tr>
  );
}
