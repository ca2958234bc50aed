// Forms: fields are read by name when the form is submitted. Used by every dialog and page that
// asks for something.
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ActionFault } from './fault.tsx';

interface FormProps {
  /** `field` returns the value of the field with that name. */
  onSend: (field: (name: string) => string) => void;
  children: ReactNode;
}

export function Form({ onSend, children }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        onSend((name) => String(form.get(name) ?? ''));
      }}
    >
      <Stack>{children}</Stack>
    </form>
  );
}

interface ActionFormProps extends FormProps {
  action: { error: Error | null; isPending: boolean };
  /** The label of the button. */
  act: string;
  disabled?: boolean;
}

/**
 * A form that performs an action: the button is below the fields, always in sight in a long dialog,
 * with the reason for the last failure above it.
 */
export function ActionForm({ action, act, disabled = false, onSend, children }: ActionFormProps) {
  return (
    <Form onSend={onSend}>
      {children}
      <Stack className="form-foot">
        <ActionFault fault={action.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={action.isPending} disabled={disabled}>
            {act}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
