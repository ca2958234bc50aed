// Forms: fields are read by their names when the form is sent. Under every dialog and page that
// asks for something.
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ActionFault } from './fault.tsx';

interface FormProps {
  /** `field` answers what stands in the field of that name. */
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
  /** What the button says. */
  act: string;
  disabled?: boolean;
}

/**
 * A form that carries out an action: below the fields the button, in a long dialog always in sight,
 * and above it why the last try failed.
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
