// "Are you sure?" before anything that cannot be undone. One dialog for the app, asked by
// `useConfirm`.
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { createContext, type ReactNode, useContext, useState } from 'react';

interface Question {
  title: string;
  /** What will happen, and that it cannot be undone. */
  body: ReactNode;
  /** The verb on the button. */
  act: string;
  /** To be typed first, for the gravest. */
  typed?: string;
  harmless?: boolean;
}

const Confirm = createContext<(question: Question) => Promise<boolean>>(async () => false);

export const useConfirm = () => useContext(Confirm);

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<{ question: Question; answer: (yes: boolean) => void }>();
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState('');

  const ask = (question: Question) =>
    new Promise<boolean>((answer) => {
      setTyped('');
      setAsked({ question, answer });
      setOpen(true);
    });
  const reply = (yes: boolean) => {
    // The question stays while the dialog fades out.
    setOpen(false);
    asked?.answer(yes);
  };
  const question = asked?.question;

  return (
    <Confirm value={ask}>
      {children}
      <Modal opened={open} onClose={() => reply(false)} title={question?.title}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            reply(true);
          }}
        >
          <Stack>
            <Text component="div" size="sm">
              {question?.body}
            </Text>
            {question?.typed !== undefined && (
              <TextInput
                label={`Type ${question.typed} to continue`}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                data-autofocus
              />
            )}
            <Group justify="flex-end">
              <Button variant="default" onClick={() => reply(false)}>
                Cancel
              </Button>
              <Button
                type="submit"
                color={question?.harmless ? undefined : 'red.8'}
                disabled={question?.typed !== undefined && typed !== question.typed}
              >
                {question?.act}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </Confirm>
  );
}
