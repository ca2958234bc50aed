// Audit: who changed what, when, through which door, and what it was before. For owners.
import { Group, Table, Text } from '@mantine/core';
import { memo } from 'react';
import type { AuditEntry } from '../../../../src/client/operations.ts';
import { useRows } from '../../operations.ts';
import { HistoryIcon } from '../../parts/icons.tsx';
import { List, RowTable, SearchBox } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useSearchText } from '../../parts/typed.ts';

export function AuditPage() {
  const asked = useSearchText();
  const { search } = asked;
  const changes = useRows('audit.list', { target: search, limit: 50 });
  return (
    <Page title="Audit" lead="Every change to this account: who made it, and the value before.">
      <SearchBox label="What was changed" placeholder="A slug, an address or an id" {...asked} />
      <List asked={changes} rows={changes.rows} empty={search ? noHit : noChange}>
        {(rows) => (
          <RowTable label="Changes" columns={['When', 'Who', 'What', 'Before and after']}>
            {rows.map((row) => (
              <AuditLine key={row.id} row={row} />
            ))}
          </RowTable>
        )}
      </List>
    </Page>
  );
}

const noHit = {
  icon: <HistoryIcon />,
  title: 'Nothing matches',
  children: 'Enter the full slug, address or id.',
};
const noChange = {
  icon: <HistoryIcon />,
  title: 'No changes yet',
  children: 'Changes made by people, keys and commands appear here.',
};

const doors: Record<string, string> = {
  rest: 'REST API',
  mcp: 'MCP',
  dashboard: 'dashboard',
  cli: 'command line',
};

const AuditLine = memo(function AuditLine({ row }: { row: AuditEntry }) {
  const { at, actor, door, action, target, before, after } = row;
  return (
    <Table.Tr style={{ verticalAlign: 'top' }}>
      <Table.Td data-label="When">
        <Time at={at} />
      </Table.Td>
      <Table.Td data-label="Who">
        {sayWho(actor)}
        <Text size="xs" c="dimmed">
          {doors[door] ?? door}
        </Text>
      </Table.Td>
      <Table.Td data-label="What" style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm" fw={500}>
          {capital(action.replaceAll('_', ' '))}
        </Text>
        <Text size="xs" c="dimmed">
          {target}
        </Text>
      </Table.Td>
      <Table.Td data-label="Before and after" style={{ overflowWrap: 'anywhere' }}>
        <Changes before={before ?? {}} after={after ?? {}} />
      </Table.Td>
    </Table.Tr>
  );
});

function sayWho({ kind, name, id }: AuditEntry['actor']): string {
  if (kind === 'command') return 'An operator, on the command line';
  return name ?? (kind === 'key' ? `Key ${id}` : 'Someone who has left');
}

type Fields = Record<string, unknown>;

/** Field by field; what is equal before and after is left out. */
function Changes({ before, after }: { before: Fields; after: Fields }) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => say(before[name]) !== say(after[name]));
  return (
    <Group gap={2} component="ul" p={0} m={0} style={{ listStyle: 'none', display: 'block' }}>
      {changed.map((name) => (
        <Text key={name} size="sm" component="li">
          <Text span c="dimmed" size="sm">
            {name.replaceAll('_', ' ')}:
          </Text>{' '}
          {before[name] !== undefined && <del>{say(before[name])}</del>}{' '}
          {after[name] !== undefined && <ins>{say(after[name])}</ins>}
        </Text>
      ))}
    </Group>
  );
}

function say(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(say).join(', ');
  if (typeof value !== 'object') return String(value);
  // In rules of a key and similar objects, fields that are not set are left out.
  const set = Object.entries(value).filter(([, one]) => one !== null && one !== false);
  return set.map(([name, one]) => `${name.replaceAll('_', ' ')} ${say(one)}`).join(', ') || 'none';
}
