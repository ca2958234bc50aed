// A brand colour, and what emails use instead where it is hard to read.
import '@mantine/core/styles/ColorSwatch.css';
import '@mantine/core/styles/ColorPicker.css';
import '@mantine/core/styles/ColorInput.css';
import { ColorInput, Group, Text } from '@mantine/core';
import type { BrandingContrast } from '../../../../src/client/operations.ts';
import { WarningIcon } from '../../parts/icons.tsx';

interface ColorFieldProps {
  label: string;
  description: string;
  value: string;
  fallback: string;
  onChange: (value: string) => void;
  contrast: BrandingContrast | undefined;
  disabled: boolean;
}

const swatches = [
  '#00a071',
  '#2563eb',
  '#7c3aed',
  '#db2777',
  '#dc2626',
  '#ea580c',
  '#ca8a04',
  '#111827',
];

export function ColorField({
  label,
  description,
  value,
  fallback,
  onChange,
  contrast,
  disabled,
}: ColorFieldProps) {
  return (
    <div>
      <ColorInput
        label={label}
        description={description}
        placeholder={fallback}
        format="hex"
        swatches={swatches}
        value={value}
        onChange={onChange}
        disabled={disabled}
        eyeDropperButtonProps={{ 'aria-label': `Pick the ${label.toLowerCase()} from the screen` }}
      />
      {contrast?.low && (
        <Group gap={8} mt={6} wrap="nowrap" align="flex-start" className="contrast" role="status">
          <WarningIcon size={15} />
          <Text size="xs">
            Hard to read on white ({contrast.ratio.toFixed(1)}, should be at least 4.5). Emails{' '}
            {contrast.fill_color.toLowerCase() !== value.toLowerCase() && (
              <>
                fill buttons with <Chip color={contrast.fill_color} />,{' '}
              </>
            )}
            put <Chip color={contrast.text_color} /> text on it
            {contrast.link_color.toLowerCase() !== value.toLowerCase() && (
              <>
                {' '}
                and use <Chip color={contrast.link_color} /> for links
              </>
            )}
            .
          </Text>
        </Group>
      )}
    </div>
  );
}

function Chip({ color }: { color: string }) {
  return (
    <code className="colour-chip">
      <i style={{ background: color }} />
      {color}
    </code>
  );
}
