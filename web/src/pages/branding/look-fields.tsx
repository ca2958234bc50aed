// How emails are laid out: the layout, the background and the font.

import { Text, TextInput } from '@mantine/core';
import { FONTS } from '../../../../src/templates/fonts.ts';
import { LAYOUTS } from '../../../../src/templates/layouts.ts';
import { Segments } from '../../parts/segments.tsx';
import { ColorField } from './color-field.tsx';
import type { Form, TextField } from './form.ts';

interface LookFieldsProps {
  form: Form;
  set: (name: TextField, value: string) => void;
  faults: Partial<Record<string, string>>;
  disabled: boolean;
}

const NAMES = { card: 'Card', letter: 'Letter', bold: 'Bold' };
const SAYINGS = {
  card: 'A white card on a quiet background',
  letter: 'A plain letter, without a frame',
  bold: 'A header in the primary colour',
};

export function LookFields({ form, set, faults, disabled }: LookFieldsProps) {
  const layout = form.layout === '' ? 'card' : (form.layout as keyof typeof NAMES);
  return (
    <>
      <div>
        <Text size="sm" fw={600}>
          Layout
        </Text>
        <Text size="xs" c="dimmed" mb={6}>
          {SAYINGS[layout]}
        </Text>
        <Segments
          inForm
          label="Layout"
          choices={LAYOUTS.map((value) => ({ value, label: NAMES[value] }))}
          value={layout}
          onChange={(value) => set('layout', value === 'card' ? '' : value)}
          disabled={disabled}
        />
      </div>
      <TextInput
        label="Font"
        description="One of the list, or font names such as Inter, Arial. Emails load no fonts"
        placeholder="system"
        list="fonts"
        value={form.font}
        error={faults.font}
        onChange={(event) => set('font', event.currentTarget.value)}
        disabled={disabled}
      />
      <datalist id="fonts">
        {FONTS.map((font) => (
          <option key={font} value={font} />
        ))}
      </datalist>
      <ColorField
        label="Background"
        description="The colour behind the email. Leave it empty for the layout's default"
        value={form.background}
        fallback={layout === 'letter' ? '#ffffff' : '#f4f5f7'}
        onChange={(value) => set('background', value)}
        fault={faults.background}
        contrast={undefined}
        disabled={disabled}
      />
    </>
  );
}
