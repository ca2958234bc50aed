// "Are you sure?" before anything that cannot be undone. One dialog for the app, asked by
// `useConfirm`.
import { createContext, type ReactNode, useContext, useState } from 'react';
import { later, OnceOpened } from './later.tsx';

export interface Question {
  title: string;
  /** What will happen, and that it cannot be undone. */
  body: ReactNode;
  /** The verb on the button. */
  act: string;
  /** Must be typed first, for the gravest actions. */
  typed?: string;
  harmless?: boolean;
}

const ConfirmDialog = later(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog);

const Confirm = createContext<(question: Question) => Promise<boolean>>(async () => false);

export const useConfirm = () => useContext(Confirm);

interface Asked {
  /** Each question gets a new dialog: nothing is typed in it yet. */
  number: number;
  question: Question;
  answer: (yes: boolean) => void;
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Asked>();
  const [open, setOpen] = useState(false);

  const ask = (question: Question) =>
    new Promise<boolean>((answer) => {
      setAsked((before) => ({ number: (before?.number ?? 0) + 1, question, answer }));
      setOpen(true);
    });
  const reply = (yes: boolean) => {
    // The question stays while the dialog fades out.
    setOpen(false);
    asked?.answer(yes);
  };

  return (
    <Confirm value={ask}>
      {children}
      <OnceOpened opened={open}>
        {asked && (
          <ConfirmDialog
            key={asked.number}
            question={asked.question}
            opened={open}
            onYes={() => reply(true)}
            onClose={() => reply(false)}
          />
        )}
      </OnceOpened>
    </Confirm>
  );
}
