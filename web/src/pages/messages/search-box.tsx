// The box above the messages, with the most common searches at hand, and saved searches.
import {
  ActionIcon,
  Button,
  Group,
  NativeSelect,
  Popover,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ChangeEvent, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { ChevronDownIcon, InfoIcon, SearchIcon, TrashIcon } from '../../parts/icons.tsx';
import { Menu, MenuDivider, MenuItem, MenuLabel } from '../../parts/menu.tsx';
import { capital, statuses } from '../../parts/status.tsx';
import { useTyped } from '../../parts/typed.ts';
import { useMe } from '../../session.ts';
import { FIELDS, type Field, fieldIn, withField } from './query.ts';

interface BoxProps {
  text: string;
  faults: string[];
  onText: (text: string) => void;
}

const periods = [
  { value: '', label: 'Any time' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];

const states = [
  { value: '', label: 'Any status' },
  { value: 'scheduled', label: 'Scheduled' },
  ...statuses.map((value) => ({ value: value as string, label: capital(value) })),
];

export function SearchBox({ text, faults, onText }: BoxProps) {
  const box = useTyped(text, onText);
  const typed = box.value;
  const set = (field: Field) => (event: ChangeEvent<HTMLSelectElement>) =>
    onText(withField(typed, field, event.currentTarget.value));
  const [status, period] = [fieldIn(typed, 'status'), fieldIn(typed, 'after')];
  return (
    <search>
      <Group mb="md" gap="xs" align="flex-start">
        <TextInput
          flex={1}
          miw={220}
          type="search"
          aria-label="Search messages"
          data-page-search
          placeholder="to:ada@example.net subject:invoice status:bounced after:7d"
          leftSection={<SearchIcon size={16} />}
          rightSection={<Help />}
          error={faults.length > 0 ? faults.join(' ') : undefined}
          {...box}
        />
        <NativeSelect
          aria-label="Status"
          w={142}
          data={withTyped(states, status, status)}
          value={status}
          onChange={set('status')}
        />
        <NativeSelect
          aria-label="Time"
          w={150}
          data={withTyped(periods, period, `After ${period}`)}
          value={period}
          onChange={set('after')}
        />
        <Views text={typed} onText={onText} />
      </Group>
    </search>
  );
}

type Choice = (typeof periods)[number];

/** What someone typed need not be one of the choices. */
const withTyped = (choices: Choice[], value: string, label: string): Choice[] =>
  choices.some((it) => it.value === value) ? choices : [...choices, { value, label }];

function Help() {
  return (
    <Popover width={420} position="bottom-end" withArrow>
      <Popover.Target>
        <ActionIcon variant="subtle" color="gray" aria-label="What can be searched for">
          <InfoIcon size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Table>
          <Table.Tbody>
            {Object.entries(FIELDS).map(([field, meaning]) => (
              <Table.Tr key={field}>
                <Table.Th scope="row">
                  <code>{field}:</code>
                </Table.Th>
                <Table.Td>{meaning}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Text size="xs" c="dimmed" mt="xs">
          All of them must match. Put values with spaces in quotation marks: subject:"your order".
        </Text>
      </Popover.Dropdown>
    </Popover>
  );
}

interface View {
  name: string;
  text: string;
}

/** Saved searches, kept in this browser for this account. */
function Views({ text, onText }: Pick<BoxProps, 'text' | 'onText'>) {
  const { user, account } = useMe();
  const key = `sandmartin views ${user.id} ${account?.id}`;
  const [views, setViews] = useState(() => readViews(key));
  const [naming, name] = useDisclosure();
  const keep = (next: View[]) => {
    setViews(next);
    localStorage.setItem(key, JSON.stringify(next));
  };
  return (
    <>
      <Menu
        width={260}
        target={
          <Button variant="default" rightSection={<ChevronDownIcon size={14} />}>
            Views
          </Button>
        }
      >
        {views.length === 0 && <MenuLabel>No saved searches yet</MenuLabel>}
        {views.map((view) => (
          <MenuItem key={view.name} onClick={() => onText(view.text)}>
            {view.name}
            <Text size="xs" c="dimmed" truncate>
              {view.text}
            </Text>
          </MenuItem>
        ))}
        <MenuDivider />
        <MenuItem disabled={text.trim() === ''} onClick={name.open}>
          Save this search …
        </MenuItem>
        {views.map((view) => (
          <MenuItem
            key={view.name}
            icon={<TrashIcon size={14} />}
            danger
            onClick={() => keep(views.filter((it) => it.name !== view.name))}
          >
            Remove “{view.name}”
          </MenuItem>
        ))}
      </Menu>
      <Dialog opened={naming} onClose={name.close} title="Save this search">
        <Form
          onSend={(field) => {
            const view = { name: field('name').trim(), text };
            keep([...views.filter((it) => it.name !== view.name), view]);
            name.close();
          }}
        >
          <Text size="sm">
            <code>{text}</code>
          </Text>
          <TextInput label="Name" name="name" required withAsterisk={false} data-autofocus />
          <Group justify="flex-end">
            <Button type="submit">Save</Button>
          </Group>
        </Form>
      </Dialog>
    </>
  );
}

function readViews(key: string): View[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as View[];
  } catch {
    return [];
  }
}
