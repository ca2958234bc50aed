// Relays, for operators: where email is handed over, the state of each relay, and what it is for.
import { Badge, Button, Table, Text } from '@mantine/core';
import { useState } from 'react';
import type { Relay } from '../../../../src/client/operations.ts';
import { ruleInWords } from '../../../../src/relays/rule-words.ts';
import { useChange, useRows } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { DotsIcon, PlusIcon, SendIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Page } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { State, type Tone } from '../../parts/status.tsx';
import { RelayDialog } from './relay-dialog.tsx';

const STATES: Record<Relay['state'], [Tone, string]> = {
  up: ['good', 'Up'],
  down: ['bad', 'Down'],
  mixed: ['warn', 'Down for some'],
  unknown: ['quiet', 'Not checked'],
  disabled: ['quiet', 'Disabled'],
};

const count = new Intl.NumberFormat();

export function RelaysPage() {
  const relays = useRows('relays.list', {}, { watched: true });
  // Undefined: the dialog is closed. Null: it adds one.
  const [edited, setEdited] = useState<Relay | null>();
  return (
    <Page
      title="Relays"
      lead="Where emails are handed over: by rule, otherwise by weight. If a relay is down, the others take over."
      actions={
        <Button leftSection={<PlusIcon size={16} />} onClick={() => setEdited(null)}>
          Add a relay
        </Button>
      }
    >
      <List
        asked={relays}
        rows={relays.rows}
        empty={{
          icon: <SendIcon size={28} />,
          title: 'No relay yet',
          children: 'The sandbox captures every email and delivers none. Add a relay to send.',
        }}
      >
        {(rows) => (
          <RowTable label="Relays" columns={['Relay', 'State', 'Weight', 'Limits', 'For']} actions>
            {rows.map((relay) => (
              <RelayLine key={relay.name} relay={relay} onEdit={() => setEdited(relay)} />
            ))}
          </RowTable>
        )}
      </List>
      <RelayDialog relay={edited} onClose={() => setEdited(undefined)} />
    </Page>
  );
}

function RelayLine({ relay, onEdit }: { relay: Relay; onEdit: () => void }) {
  const [tone, word] = STATES[relay.state];
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm" fw={500}>
          {relay.name} {relay.from_settings && <Badge color="gray">RELAY_URL</Badge>}
        </Text>
        <Text size="xs" c="dimmed">
          {relay.url ?? 'RELAY_URL is unset'}
        </Text>
      </Table.Td>
      <Table.Td data-label="State">
        <State tone={tone}>{word}</State>
        {relay.detail && (
          <Text size="xs" c="dimmed" miw={160} className="anywhere">
            {relay.detail}
          </Text>
        )}
      </Table.Td>
      <Table.Td data-label="Weight">{relay.weight}</Table.Td>
      <Table.Td data-label="Limits">{limitsOf(relay)}</Table.Td>
      <Table.Td data-label="For">
        {relay.rules.length === 0
          ? relay.weight === 0
            ? 'What no other relay can take'
            : 'Any email'
          : relay.rules.map((rule) => <div key={ruleInWords(rule)}>{ruleInWords(rule)}</div>)}
      </Table.Td>
      <Table.Td className="to-the-right">
        <RelayMenu relay={relay} onEdit={onEdit} />
      </Table.Td>
    </Table.Tr>
  );
}

function RelayMenu({ relay, onEdit }: { relay: Relay; onEdit: () => void }) {
  const { name, enabled, from_settings } = relay;
  const confirm = useConfirm();
  const test = useChange('relays.test', {
    onDone: ({ ok, detail }) => (ok ? tellDone(detail) : tellFault(new Error(detail))),
  });
  const change = useChange('relays.update', {
    foresee: {
      'relays.list': (one, input) =>
        one.name === input.name ? { ...one, enabled: input.enabled ?? one.enabled } : one,
    },
    onDone: (after) => tellDone(`${name} is ${after.enabled ? 'enabled' : 'disabled'}.`),
  });
  const remove = useChange('relays.remove', {
    foresee: { 'relays.list': (one, input) => (one.name === input.name ? null : one) },
    onDone: () => tellDone(`${name} is removed.`),
  });
  return (
    <Menu
      target={
        <Button variant="subtle" color="gray" size="compact-sm" aria-label={`Manage ${name}`}>
          <DotsIcon />
        </Button>
      }
    >
      <MenuItem onClick={onEdit}>Change</MenuItem>
      <MenuItem onClick={() => test.mutate({ name }, { onError: tellFault })}>Test</MenuItem>
      <MenuItem onClick={() => change.mutate({ name, enabled: !enabled })}>
        {enabled ? 'Disable' : 'Enable'}
      </MenuItem>
      {!from_settings && (
        <MenuItem
          danger
          onClick={async () => {
            const yes = await confirm({
              title: `Remove ${name}?`,
              body: 'Emails it is handing over are finished; the rest goes to the other relays.',
              act: 'Remove',
            });
            if (yes) remove.mutate({ name });
          }}
        >
          Remove …
        </MenuItem>
      )}
    </Menu>
  );
}

function limitsOf({ connections, rate_per_second, daily_limit, used_today }: Relay): string {
  const limits = [
    ...(connections === null ? [] : [`${connections} connections`]),
    ...(rate_per_second === null ? [] : [`${count.format(rate_per_second)} a second`]),
    ...(daily_limit === null
      ? []
      : [`${count.format(used_today ?? 0)} of ${count.format(daily_limit)} today`]),
  ];
  return limits.join(', ') || 'None';
}
