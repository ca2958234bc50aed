// Sends what the preview shows to one address, and follows it.
import { Button, Group, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type Input, useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { useMe } from '../../session.ts';
import { LiveStory } from '../messages/live-story.tsx';

interface TestSendProps {
  slug: string;
  /** What is on screen: a version, an unsaved draft, values. */
  request: Pick<Input<'templates.testSend'>, 'version' | 'draft' | 'variables' | 'locale'>;
  opened: boolean;
  onClose: () => void;
}

export function TestSendDialog({ slug, request, opened, onClose }: TestSendProps) {
  const { user, service } = useMe();
  const send = useChange('templates.testSend', { changes: ['messages.list'] });
  const close = () => {
    onClose();
    send.reset();
  };
  return (
    <Dialog opened={opened} onClose={close} title="Test send" size="lg">
      {send.data ? (
        <Stack>
          <LiveStory id={send.data.id} subject="Your test" />
          <Group justify="space-between">
            <Link to="/messages/$id" params={{ id: send.data.id }} className="plain-link">
              Everything about this email
            </Link>
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <ActionForm
          action={send}
          act="Send"
          onSend={(field) => {
            const from = field('from').trim();
            send.mutate({
              slug,
              ...request,
              to: field('to').trim(),
              from_email: from || undefined,
            });
          }}
        >
          <TextInput
            label="To"
            name="to"
            type="email"
            defaultValue={service.sandbox ? 'opened@simulator.test' : user.email}
            required
            withAsterisk={false}
            data-autofocus
          />
          <TextInput
            label="From"
            name="from"
            placeholder="Your first verified sender"
            description="Leave it empty for your first verified sender"
          />
        </ActionForm>
      )}
    </Dialog>
  );
}
