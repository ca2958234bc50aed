// A brand colour, and what emails use instead where it is hard to read. The browser's own picker:
// it costs nothing until it is opened.
import { Group, Text, TextInput } from '@mantine/core';
import { useId } from 'react';
import type { BrandingContrast } from '../../../../src/client/operations.ts';
import { WarningIcon } from '../../parts/icons.tsx';

interface ColorFieldProps {
  label: string;
  description: string;
  value: string;
  fallback: string;
  onChange: (value: string) => void;
  fault: string | undefined;
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
  fault,
  contrast,
  disabled,
}: ColorFieldProps) {
  const list = useId();
  return (
    <div>
      <TextInput
        label={label}
        description={description}
        placeholder={fallback}
        value={value}
        error={fault}
        onChange={(event) => onChange(event.currentTarget.value)}
        disabled={disabled}
        leftSection={
          <input
            type="color"
            className="colour-well"
            aria-label={`Pick the ${label.toLowerCase()}`}
            list={list}
            value={sixDigits(value) ?? fallback}
            onChange={(event) => onChange(event.currentTarget.value)}
            disabled={disabled}
          />
        }
        leftSectionPointerEvents="all"
      />
      <datalist id={list}>
        {swatches.map((color) => (
          <option key={color} value={color} />
        ))}
      </datalist>
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

/** The one form that a picker understands; undefined: not a colour, or not yet. */
const sixDigits = (color: string): string | undefined =>
  /^#(?:[0-9a-f]{3}){1,2}$/i.test(color)
    ? color.replace(/^#(.)(.)(.)$/, '#$1$1$2$2$3$3').toLowerCase()
    : undefined;

function Chip({ color }: { color: string }) {
  return (
    <code className="colour-chip">
      <i style={{ background: color }} />
      {color}
    </code>
  );
}
