// The dialog that asks (confirm.tsx), fetched for the first question.
import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Question } from './confirm.tsx';
import { Dialog } from './dialog.tsx';

interface DialogProps {
  question: Question;
  opened: boolean;
  onYes: () => void;
  onClose: () => void;
}

export function ConfirmDialog({ question, opened, onYes, onClose }: DialogProps) {
  const [typed, setTyped] = useState('');
  return (
    <Dialog opened={opened} onClose={onClose} title={question.title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onYes();
        }}
      >
        <Stack>
          <Text component="div" size="sm">
            {question.body}
          </Text>
          {question.typed !== undefined && (
            <TextInput
              label={`Type ${question.typed} to continue`}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              data-autofocus
            />
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              color={question.harmless ? undefined : 'red.8'}
              disabled={question.typed !== undefined && typed !== question.typed}
            >
              {question.act}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
