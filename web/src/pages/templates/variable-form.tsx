// A form for a template's variables, built from its schema: the preview and test sends use its
// values.
import { Badge, Group, NumberInput, Stack, Switch, Textarea, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import type { TemplateVariable } from '../../../../src/client/operations.ts';

export type Values = Record<string, unknown>;

interface VariableFormProps {
  variables: TemplateVariable[];
  values: Values;
  onChange: (values: Values) => void;
}

export function VariableForm({ variables, values, onChange }: VariableFormProps) {
  return (
    <Stack gap="md">
      {variables.map((variable) => (
        <VariableField
          key={variable.name}
          variable={variable}
          value={valueAt(values, variable.name)}
          onChange={(value) => onChange(withValue(values, variable.name.split('.'), value))}
        />
      ))}
    </Stack>
  );
}

interface FieldProps {
  variable: TemplateVariable;
  value: unknown;
  onChange: (value: unknown) => void;
}

function VariableField({ variable, value, onChange }: FieldProps) {
  const about = {
    label: (
      <Group gap={6} component="span" display="inline-flex">
        <code>{variable.name}</code>
        {variable.required && <Badge color="yellow">required</Badge>}
      </Group>
    ),
    description: variable.description,
  };
  switch (variable.type) {
    case 'boolean':
      return (
        <Switch
          {...about}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'number':
      return (
        <NumberInput
          {...about}
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(next === '' ? undefined : Number(next))}
        />
      );
    case 'array':
    case 'object':
      return <JsonField {...about} value={value} onChange={onChange} />;
    default:
      return (
        <TextInput
          {...about}
          value={typeof value === 'string' || typeof value === 'number' ? String(value) : ''}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
}

interface JsonFieldProps {
  label: React.ReactNode;
  description: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Keeps what is typed while it is not yet valid JSON. */
export function JsonField({ label, description, value, onChange }: JsonFieldProps) {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [text, setText] = useState(written);
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    setText((before) => (sameJson(before, written) ? before : written));
  }, [written]);
  return (
    <Textarea
      label={label}
      description={description}
      className="json-field"
      value={text}
      error={fault}
      onChange={(event) => {
        const next = event.currentTarget.value;
        setText(next);
        try {
          onChange(next.trim() === '' ? undefined : JSON.parse(next));
          setFault(undefined);
        } catch (reason) {
          setFault(reason instanceof Error ? reason.message : 'This is not JSON.');
        }
      }}
    />
  );
}

function sameJson(one: string, other: string): boolean {
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other));
  } catch {
    return one.trim() === other.trim();
  }
}

export function valueAt(values: Values, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as Values)[key] : undefined,
      values,
    );
}

function withValue(values: Values, [key, ...rest]: string[], value: unknown): Values {
  if (key === undefined) return values;
  const inner = values[key];
  const below = typeof inner === 'object' && inner !== null ? (inner as Values) : {};
  return { ...values, [key]: rest.length === 0 ? value : withValue(below, rest, value) };
}
