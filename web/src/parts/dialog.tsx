// A dialog over the page. All dialogs are this one: Mantine's own returns the focus only if it
// stays mounted when it closes, and most of ours exist only while they are open.
import { Group, Modal, type ModalProps, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { ActionFault } from './fault.tsx';
import { useFocusBack } from './focus-back.ts';
import { OnceOpened } from './later.tsx';

export function Dialog(props: ModalProps) {
  useFocusBack(props.opened);
  return (
    <OnceOpened opened={props.opened}>
      <Modal {...props} returnFocus={false} />
    </OnceOpened>
  );
}

/**
 * The buttons of a long dialog, always in sight, with the reason for the last failure above them.
 */
export function DialogFoot({ fault, children }: { fault: Error | null; children: ReactNode }) {
  return (
    <Stack gap="sm" className="dialog-foot">
      <ActionFault fault={fault} />
      <Group justify="flex-end">{children}</Group>
    </Stack>
  );
}
