// Which stream a template's emails go through: one of the account's streams in use.
import { Select } from '@mantine/core';
import { DEFAULT_STREAM } from '../../../../src/messages/stream.ts';
import { type Category, isAboutAccess } from '../../../../src/templates/categories.ts';
import { useRows } from '../../operations.ts';

interface StreamSelectProps {
  category: Category;
  /** Null: the default one. */
  value: string | null;
  onChange: (stream: string | null) => void;
}

export function StreamSelect({ category, value, onChange }: StreamSelectProps) {
  const streams = useRows('streams.list', {});
  const chosen = value ?? DEFAULT_STREAM;
  const offered = streams.rows.filter((it) => it.archived_at === null || it.name === chosen);
  const mustArrive = isAboutAccess(category);
  return (
    <Select
      label="Stream"
      description={
        mustArrive
          ? 'Emails about signing in must reach people, so they cannot use a broadcast stream'
          : 'Applies as soon as you save. Recipients can leave a broadcast stream'
      }
      data={offered.map(({ name, title, kind }) => ({
        value: name,
        label: `${title} (${name}, ${kind})`,
        disabled: mustArrive && kind === 'broadcast',
      }))}
      value={chosen}
      allowDeselect={false}
      onChange={(name) => onChange(name === DEFAULT_STREAM ? null : name)}
    />
  );
}
