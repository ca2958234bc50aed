// The same recipients broken down by template, tag, stream, domain or relay, each linked to its
// messages; why some bounced; and all of it as a file.

import { Button, Group, Paper, Table, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Analytics } from '../../../../src/client/operations.ts';
import { downloadText } from '../../parts/download.ts';
import { DownloadIcon } from '../../parts/icons.tsx';
import { Empty, Section, TableBox } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { sayDuration } from '../../parts/time.tsx';
import { type Field, queryOf } from '../messages/query.ts';

export type By = 'template' | 'tag' | 'stream' | 'domain' | 'relay';

/** The fields that messages can be searched by; relay is not one of them. */
const fields: Record<Exclude<By, 'relay'>, Field> = {
  template: 'template',
  tag: 'tag',
  stream: 'stream',
  domain: 'to',
};

const count = new Intl.NumberFormat();
const share = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** With so few, a percentage says little. */
const FEW = 20;

interface BreakdownProps {
  analytics: Analytics;
  days: number;
  by: By;
  onBy: (by: By) => void;
}

export function Breakdown({ analytics, days, by, onBy }: BreakdownProps) {
  const rows = analytics.by.slice(0, 25);
  return (
    <Section
      title="Breakdown"
      actions={
        <Group gap="xs">
          <Segments
            label="Break down by"
            value={by}
            onChange={onBy}
            choices={[
              { value: 'template', label: 'Template' },
              { value: 'tag', label: 'Tag' },
              { value: 'stream', label: 'Stream' },
              { value: 'domain', label: 'Domain' },
              { value: 'relay', label: 'Relay' },
            ]}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={<DownloadIcon size={14} />}
            onClick={() => saveCsv(analytics, by)}
          >
            CSV
          </Button>
        </Group>
      }
    >
      {rows.length === 0 ? (
        <Empty title={`No ${by} in this period`}>Emails that have one appear here.</Empty>
      ) : (
        <TableBox label={`Recipients by ${by}`}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{by.charAt(0).toUpperCase() + by.slice(1)}</Table.Th>
                <Table.Th className="to-the-right">Recipients</Table.Th>
                <Table.Th className="to-the-right">Delivered</Table.Th>
                <Table.Th className="to-the-right">Opened</Table.Th>
                <Table.Th className="to-the-right">Bounced</Table.Th>
                <Table.Th className="to-the-right">Complained</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={row.value}>
                  <Table.Td>
                    <Drill {...{ by, days, row }}>{row.value}</Drill>
                  </Table.Td>
                  <Cell label="Recipients">{count.format(row.recipients)}</Cell>
                  <Cell label="Delivered">{rate(row.delivered, row.recipients)}</Cell>
                  <Cell label="Opened">{rate(row.opened, row.recipients)}</Cell>
                  <Cell label="Bounced">
                    {row.bounced > 0 ? (
                      <Drill {...{ by, days, row }} status="bounced">
                        {rate(row.bounced, row.recipients)}
                      </Drill>
                    ) : (
                      '0'
                    )}
                  </Cell>
                  <Cell label="Complained">{rate(row.complained, row.recipients)}</Cell>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
      <div className="columns columns-sm-2 below-table">
        <Paper p="lg">
          <Title order={3} size="sm" mb="xs">
            Time to deliver
          </Title>
          {analytics.time_to_deliver === null ? (
            <Text size="sm" c="dimmed">
              No delivery was reported in this period.
            </Text>
          ) : (
            <Text size="sm">
              Half within {sayDuration(analytics.time_to_deliver.p50_seconds * 1000)}, 95 of 100
              within {sayDuration(analytics.time_to_deliver.p95_seconds * 1000)}
            </Text>
          )}
        </Paper>
        <Paper p="lg">
          <Title order={3} size="sm" mb="xs">
            Why recipients bounced
          </Title>
          {analytics.reasons.length === 0 && (
            <Text size="sm" c="dimmed">
              None did.
            </Text>
          )}
          {analytics.reasons.slice(0, 8).map(({ reason, recipients }) => (
            <Group key={reason} justify="space-between">
              <Text size="sm">{reason}</Text>
              <Text size="sm">{count.format(recipients)}</Text>
            </Group>
          ))}
        </Paper>
      </div>
    </Section>
  );
}

const Cell = ({ label, children }: { label: string; children: React.ReactNode }) => (
  <Table.Td className="to-the-right" data-label={label}>
    {children}
  </Table.Td>
);

/** Always the number, and the percentage if it says something. */
const rate = (part: number, all: number): string =>
  all < FEW || part === 0
    ? count.format(part)
    : `${count.format(part)} (${share.format(part / all)})`;

interface DrillProps {
  by: By;
  days: number;
  row: Analytics['by'][number];
  status?: string;
  children: React.ReactNode;
}

function Drill({ by, days, row, status, children }: DrillProps) {
  if (by === 'relay') return children;
  const value = by === 'domain' ? `@${row.value}` : row.value;
  const q = queryOf({ [fields[by]]: value, status, after: days === 1 ? '24h' : `${days}d` });
  return (
    <Link to="/messages" search={{ q }} className="plain-link">
      {children}
    </Link>
  );
}

const COLUMNS = ['recipients', 'delivered', 'opened', 'clicked', 'bounced', 'complained'] as const;

function saveCsv({ points, by: rows }: Analytics, by: By): void {
  const line = (name: string, value: string, figures: Record<(typeof COLUMNS)[number], number>) =>
    [name, quote(value), ...COLUMNS.map((column) => figures[column])].join(',');
  const csv = [
    ['kind', 'value', ...COLUMNS].join(','),
    ...points.map((point) => line('time', point.at, point)),
    ...rows.map((row) => line(by, row.value, row)),
  ].join('\r\n');
  downloadText(`sandmartin-by-${by}.csv`, csv);
}

/** Spreadsheets run what begins like a formula, and a tag is a stranger's text. */
const quote = (text: string): string =>
  `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
