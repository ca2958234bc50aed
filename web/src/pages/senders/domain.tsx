// One domain: whether it is verified, and the DNS records it needs, each with what the last check
// found.
import '@mantine/core/styles/Accordion.css';
import {
  Accordion,
  ActionIcon,
  Alert,
  Button,
  Group,
  Paper,
  Stack,
  Table,
  Text,
} from '@mantine/core';
import type { Domain, DomainRecord } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { CopyLine } from '../../parts/copy.tsx';
import { KeysIcon, RetryIcon, TrashIcon } from '../../parts/icons.tsx';
import { TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';
import { useMay, useMe } from '../../session.ts';
import { DnsHelp, isPlaceholder, useRecheck } from './dns-help.tsx';

const purposes: Record<DomainRecord['purpose'], { title: string; why: string }> = {
  ownership: { title: 'Ownership', why: 'proves that the domain is yours' },
  'dkim-rsa': { title: 'DKIM (RSA)', why: 'signs your emails; supported everywhere' },
  'dkim-ed25519': { title: 'DKIM (Ed25519)', why: 'signs your emails; short and modern' },
  'dkim-rsa-next': { title: 'Next DKIM (RSA)', why: 'will sign your emails' },
  'dkim-ed25519-next': { title: 'Next DKIM (Ed25519)', why: 'will sign your emails' },
  spf: { title: 'SPF', why: 'says which servers may send for you' },
  dmarc: { title: 'DMARC', why: 'says what to do with email that is not yours' },
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
          : 'Checked. Some records are still missing.',
      ),
  });
  const rotate = useChange('domains.rotate', {
    changes: ['domains.list'],
    onDone: () => tellDone('Publish the new DKIM records below. Keep the old ones for now.'),
  });
  const remove = useChange('domains.remove', {
    foresee: { 'domains.list': (one, input) => (one.domain === input.domain ? null : one) },
    onDone: () => tellDone(`${domain.domain} was removed.`),
  });
  return (
    <Paper p="lg" className="row-card">
      <Group justify="space-between">
        <Group gap="md" miw={0} flex="1 1 180px">
          <Text fw={600} className="anywhere">
            {domain.domain}
          </Text>
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
            {domain.records.length > 0 && domain.rotation === null && (
              <Tooltip label="Change the signing keys">
                <ActionIcon
                  aria-label={`Change the signing keys of ${domain.domain}`}
                  onClick={async () => {
                    const yes = await confirm({
                      title: `Change the signing keys of ${domain.domain}?`,
                      body: 'You get two more DNS records to publish. Emails are signed with the new keys a day after DNS has them; you can remove the old records a week later.',
                      act: 'Create new keys',
                    });
                    if (yes) rotate.mutate({ domain: domain.domain }, { onError: tellFault });
                  }}
                >
                  <KeysIcon size={16} />
                </ActionIcon>
              </Tooltip>
            )}
            <Tooltip label="Remove">
              <ActionIcon
                aria-label={`Remove ${domain.domain}`}
                onClick={async () => {
                  const yes = await confirm({
                    title: `Remove ${domain.domain}?`,
                    body: 'Emails from its addresses are refused from now on, and its signing keys are deleted. This cannot be undone.',
                    act: 'Remove the domain',
                    typed: domain.domain,
                  });
                  if (yes) remove.mutate({ domain: domain.domain });
                }}
              >
                <TrashIcon size={16} />
              </ActionIcon>
            </Tooltip>
          </Group>
        )}
      </Group>
      {domain.alignment && <DmarcLine domain={domain.domain} alignment={domain.alignment} />}
      {domain.rotation && (
        <Alert mt="md" variant="light" title="The signing keys are being changed">
          {domain.rotation.note}
        </Alert>
      )}
      {domain.records.length === 0 ? (
        <Text size="sm" c="dimmed" mt="sm">
          This domain has no signing keys of its own. Add it again to get its DNS records.
        </Text>
      ) : (
        <Accordion
          mt="md"
          variant="default"
          chevronPosition="left"
          defaultValue={domain.verified && domain.rotation === null ? null : 'records'}
        >
          <Accordion.Item value="records" style={{ borderBottom: 0 }}>
            <Accordion.Control>
              <Text size="sm" fw={500}>
                DNS records ({domain.records.filter(({ check }) => check?.state === 'ok').length} of{' '}
                {domain.records.length} in place)
              </Text>
            </Accordion.Control>
            <Accordion.Panel>
              <Records domain={domain} />
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Paper>
  );
}

/** Receivers require one of the two; the text uses their terms. */
function DmarcLine({
  domain,
  alignment: { dkim, spf, policy, policy_domain },
}: {
  domain: string;
  alignment: NonNullable<Domain['alignment']>;
}) {
  if (!dkim && !spf) {
    return (
      <Alert
        mt="md"
        color="orange"
        variant="light"
        title="Email from this domain cannot pass DMARC"
      >
        DNS has neither its DKIM key nor its own return path. Gmail, Yahoo and Microsoft reject such
        emails or file them as spam. Publish the records below, then check again.
      </Alert>
    );
  }
  const where = policy_domain && policy_domain !== domain ? ` (set at ${policy_domain})` : '';
  return (
    <Group gap="md" mt="xs">
      <State tone={dkim ? 'good' : 'warn'}>{dkim ? 'DKIM aligns' : 'DKIM does not align'}</State>
      <State tone={spf ? 'good' : 'quiet'}>{spf ? 'SPF aligns' : 'SPF does not align'}</State>
      <State tone={policy ? 'good' : 'warn'}>
        {policy ? `DMARC policy ${policy}${where}` : 'No DMARC policy'}
      </State>
    </Group>
  );
}

function Records({ domain }: { domain: Domain }) {
  const may = useMay('developer');
  const { service } = useMe();
  const { records } = domain;
  const real = records.filter((record) => !isPlaceholder(record, service.bounceDomain));
  const missing = may && real.some(({ check }) => check?.state !== 'ok');
  const { data: dns } = useRead('domains.getDns', { domain: domain.domain });
  useRecheck(domain.domain, missing);
  const nameOf = ({ purpose, name }: DomainRecord) =>
    dns?.names.find((one) => one.purpose === purpose)?.name ?? name;
  return (
    <>
      <DnsHelp domain={domain} dns={dns} records={real} checking={missing} />
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
                  {nameOf(record) === '' ? (
                    <Text size="sm" c="dimmed">
                      Leave it empty
                    </Text>
                  ) : (
                    <CopyLine
                      value={nameOf(record)}
                      label={`Copy the name for ${record.purpose}`}
                    />
                  )}
                </Table.Td>
                <Table.Td data-label="Value">
                  {isPlaceholder(record, service.bounceDomain) ? (
                    <Text size="sm" c="dimmed">
                      Nothing to publish yet: this service has no bounce domain. Its operator sets
                      BOUNCE_DOMAIN.
                    </Text>
                  ) : (
                    <CopyLine value={record.value} label={`Copy the value for ${record.purpose}`} />
                  )}
                </Table.Td>
                <Table.Td data-label="Found">
                  <Found check={record.check} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </TableBox>
    </>
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
