// Toasts: only for what an action of the user's led to.
import { notifications } from '@mantine/notifications';
import { SandmartinError } from '../../../src/client/calls.ts';
import { isOtherAccount } from '../api.ts';

const closeButtonProps = { 'aria-label': 'Dismiss' };

export function tellDone(message: string): void {
  notifications.show({ message, color: 'martin', autoClose: 4000, closeButtonProps });
}

export function tellFault(fault: unknown): void {
  // The shell asks for the password (shell/sign-in-again.tsx), or for the account.
  if (fault instanceof SandmartinError && (fault.status === 401 || isOtherAccount(fault))) return;
  const message = fault instanceof Error ? fault.message : String(fault);
  notifications.show({
    title: 'That did not work',
    message,
    color: 'red',
    autoClose: 10_000,
    closeButtonProps,
  });
}
