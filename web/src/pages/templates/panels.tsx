// The editor's tabs beside the sources: values for the preview, and everything else that belongs to
// a template. Fetched when one of them is first opened.
import { Button, Group, Select, Stack, Tabs, Text, Textarea, TextInput } from '@mantine/core';
import { type Category, categories } from '../../../../src/templates/categories.ts';
import { tellDone } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import type { Draft } from './draft.ts';
import { StreamSelect } from './stream-select.tsx';
import { JsonField, type Values, VariableForm } from './variable-form.tsx';

interface PanelsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
  values: Values;
  onValues: (values: Values) => void;
}

export function OtherPanels({ draft, change, values, onValues }: PanelsProps) {
  return (
    <>
      <Tabs.Panel value="values">
        <Group justify="space-between" mb="md">
          <Text size="sm" c="dimmed">
            The values used by the preview and test sends.
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => {
              change({ sample: values });
              tellDone('These values become the sample once you save');
            }}
          >
            Keep as the sample
          </Button>
        </Group>
        <VariableForm variables={draft.variables} values={values} onChange={onValues} />
      </Tabs.Panel>
      <Tabs.Panel value="variables">
        <JsonField
          label="Variables"
          description="A list of {name, required, type, description, example}"
          value={draft.variables}
          onChange={(variables) => change({ variables: (variables ?? []) as Draft['variables'] })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="messages">
        <JsonField
          label="Messages"
          description="The messages behind t('key', name=…), by language and key"
          value={draft.messages}
          onChange={(messages) => change({ messages: (messages ?? {}) as Draft['messages'] })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="details">
        <Stack>
          <TextInput
            label="Name"
            value={draft.name}
            onChange={(event) => change({ name: event.currentTarget.value })}
          />
          <Select
            label="Category"
            data={categories.map((value) => ({ value, label: capital(value) }))}
            value={draft.category}
            onChange={(value) => change({ category: value as Category })}
          />
          <StreamSelect
            category={draft.category}
            value={draft.stream}
            onChange={(stream) => change({ stream })}
          />
          <Textarea
            label="Description"
            value={draft.description}
            onChange={(event) => change({ description: event.currentTarget.value })}
          />
        </Stack>
      </Tabs.Panel>
    </>
  );
}
