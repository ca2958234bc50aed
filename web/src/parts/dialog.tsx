// A dialog over the page. All of them are this one: Mantine's own gives the focus back only where
// it stays when it is closed, and most are there only while they are open.
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

/** The buttons of a long dialog, always in sight, and above them why the last try failed. */
export function DialogFoot({ fault, children }: { fault: Error | null; children: ReactNode }) {
  return (
    <Stack gap="sm" className="dialog-foot">
      <ActionFault fault={fault} />
      <Group justify="flex-end">{children}</Group>
    </Stack>
  );
}
