// One domain: whether it is verified, and the DNS records it needs, each with what the last check
// found.
import {
  Accordion,
  ActionIcon,
  Button,
  Group,
  Paper,
  Stack,
  Table,
  Text,
  Tooltip,
} from '@mantine/core';
import type { Domain, DomainRecord } from '../../../../src/client/operations.ts';
import { useChange } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { RetryIcon, TrashIcon } from '../../parts/icons.tsx';
import { TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

const purposes: Record<DomainRecord['purpose'], { title: string; why: string }> = {
  ownership: { title: 'Ownership', why: 'proves that the domain is yours' },
  'dkim-rsa': { title: 'DKIM (RSA)', why: 'signs your mail, understood everywhere' },
  'dkim-ed25519': { title: 'DKIM (Ed25519)', why: 'signs your mail, short and modern' },
  spf: { title: 'SPF', why: 'says which servers may send for you' },
  dmarc: { title: 'DMARC', why: 'says what to do with mail that is not yours' },
  'return-path': { title: 'Return path', why: 'brings bounces back to this service' },
};

export function DomainCard({ domain }: { domain: Domain }) {
  const may = useMay('developer');
  const confirm = useConfirm();
  const check = useChange('domains.check', {
    changes: ['domains.list'],
    onDone: (checked) =>
      tellDone(
        checked.verified
          ? `${checked.domain} is verified.`
          : 'Checked. Some records are missing yet.',
      ),
  });
  const remove = useChange('domains.remove', {
    changes: ['domains.list'],
    onDone: () => tellDone(`${domain.domain} was removed.`),
  });
  return (
    <Paper p="lg">
      <Group justify="space-between">
        <Group gap="md">
          <Text fw={600}>{domain.domain}</Text>
          <State tone={domain.verified ? 'good' : 'warn'}>
            {domain.verified ? 'Verified' : 'Not verified'}
          </State>
          {domain.verified_by === 'operator' && (
            <Text size="xs" c="dimmed">
              by the operator
            </Text>
          )}
        </Group>
        {may && (
          <Group gap="xs">
            {domain.checked_at && (
              <Text size="xs" c="dimmed">
                checked <Time at={domain.checked_at} />
              </Text>
            )}
            {domain.records.length > 0 && (
              <Button
                size="xs"
                variant="default"
                leftSection={<RetryIcon size={14} />}
                loading={check.isPending}
                onClick={() => check.mutate({ domain: domain.domain }, { onError: tellFault })}
              >
                Check now
              </Button>
            )}
            <Tooltip label="Remove">
              <ActionIcon
                aria-label={`Remove ${domain.domain}`}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Remove ${domain.domain}?`,
                    body: 'Mail from its addresses is refused from now on, and its signing keys are deleted. This cannot be undone.',
                    act: 'Remove the domain',
                    typed: domain.domain,
                  });
                  if (yes) {
                    remove.mutate({ domain: domain.domain }, { onError: tellFault });
                  }
                }}
              >
                <TrashIcon size={16} />
              </ActionIcon>
            </Tooltip>
          </Group>
        )}
      </Group>
      {domain.records.length === 0 ? (
        <Text size="sm" c="dimmed" mt="sm">
          This domain has no signing keys of its own. Add it again to get its DNS records.
        </Text>
      ) : (
        <Accordion
          mt="md"
          variant="default"
          chevronPosition="left"
          defaultValue={domain.verified ? null : 'records'}
        >
          <Accordion.Item value="records" style={{ borderBottom: 0 }}>
            <Accordion.Control>
              <Text size="sm" fw={500}>
                DNS records ({domain.records.filter(({ check }) => check?.state === 'ok').length} of{' '}
                {domain.records.length} in place)
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Records records={domain.records} />
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Paper>
  );
}

function Records({ records }: { records: DomainRecord[] }) {
  return (
    <TableBox label="DNS records">
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={190}>For</Table.Th>
            <Table.Th w={92}>Type</Table.Th>
            <Table.Th>Name</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th w={170}>Found</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {records.map((record) => (
            <Table.Tr key={record.purpose} style={{ verticalAlign: 'top' }}>
              <Table.Td>
                <Text size="sm" fw={500}>
                  {purposes[record.purpose].title}
                </Text>
                <Text size="xs" c="dimmed">
                  {purposes[record.purpose].why}
                </Text>
              </Table.Td>
              <Table.Td data-label="Type">{record.type}</Table.Td>
              <Table.Td data-label="Name">
                <CopyLine value={record.name} label={`Copy the name for ${record.purpose}`} />
              </Table.Td>
              <Table.Td data-label="Value">
                <CopyLine value={record.value} label={`Copy the value for ${record.purpose}`} />
              </Table.Td>
              <Table.Td data-label="Found">
                <Found check={record.check} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </TableBox>
  );
}

const found = {
  ok: { tone: 'good', word: 'In place' },
  missing: { tone: 'warn', word: 'Missing' },
  unknown: { tone: 'quiet', word: 'DNS did not answer' },
} as const;

function Found({ check }: { check: DomainRecord['check'] }) {
  if (check === null) return <State tone="quiet">Not checked</State>;
  return (
    <Stack gap={4}>
      <State tone={found[check.state].tone}>{found[check.state].word}</State>
      {check.note && (
        <Text size="xs" c="dimmed">
          {check.note}
        </Text>
      )}
      {check.state !== 'ok' && check.seen.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          Seen: {check.seen.join(' · ')}
        </Text>
      )}
    </Stack>
  );
}
