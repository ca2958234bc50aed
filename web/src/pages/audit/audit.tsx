// Audit: who changed what, when, through which door, and what it was before. For owners.
import { Group, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import type { AuditEntry } from '../../../../src/client/operations.ts';
import { useRows } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { HistoryIcon, SearchIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, ShowMore, TableBox } from '../../parts/page.tsx';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';

export function AuditPage() {
  const [text, setText] = useState('');
  const [target] = useDebouncedValue(text.trim(), 300);
  const pages = useRows('audit.list', { target, limit: 50 });
  const rows = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Page title="Audit" lead="Every change of this account: who made it, and what it was before.">
      <TextInput
        mb="md"
        maw={360}
        type="search"
        aria-label="What was changed"
        placeholder="A slug, an address or an id"
        leftSection={<SearchIcon size={16} />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
      {pages.isPending && <LoadingRows />}
      {pages.isSuccess && rows.length === 0 && (
        <Empty
          icon={<HistoryIcon />}
          title={target ? 'Nothing matches' : 'Nothing was changed yet'}
        >
          {target
            ? 'Write the whole slug, address or id.'
            : 'Changes by people, keys and commands come here by themselves.'}
        </Empty>
      )}
      {rows.length > 0 && (
        <TableBox label="Changes">
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>When</Table.Th>
                <Table.Th>Who</Table.Th>
                <Table.Th>What</Table.Th>
                <Table.Th>Before and after</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <AuditLine key={row.id} row={row} />
              ))}
            </Table.Tbody>
          </Table>
        </TableBox>
      )}
      <ShowMore pages={pages} />
    </Page>
  );
}

const doors: Record<string, string> = {
  rest: 'REST API',
  mcp: 'MCP',
  dashboard: 'dashboard',
  cli: 'command line',
};

function AuditLine({
  row: { at, actor, door, action, target, before, after },
}: {
  row: AuditEntry;
}) {
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
}

function sayWho({ kind, name, id }: AuditEntry['actor']): string {
  if (kind === 'command') return 'A command of the operator';
  return name ?? (kind === 'key' ? `Key ${id}` : 'Somebody who left');
}

type Fields = Record<string, unknown>;

/** Field by field; what is the same before and after says nothing. */
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
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
