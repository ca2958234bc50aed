// Toasts: only for the results of the user's own actions.
import { SandmartinError } from '../../../src/client/calls.ts';
import { isOtherAccount } from '../api.ts';
import { toast } from './toasts.tsx';

export function tellDone(message: string): void {
  toast({ message, isFault: false, staysMs: 4000 });
}

export function tellFault(fault: unknown): void {
  // The shell asks for the password (shell/sign-in-again.tsx), or for the account.
  if (fault instanceof SandmartinError && (fault.status === 401 || isOtherAccount(fault))) return;
  const message = fault instanceof Error ? fault.message : String(fault);
  toast({ title: 'That did not work', message, isFault: true, staysMs: 10_000 });
}
