// Sends what the preview shows to one address, and follows it.
import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { TestSend } from '../../../../src/dashboard/views/previews.ts';
import { useAction } from '../../api.ts';
import { useMe } from '../../session.ts';
import { LiveStory } from '../messages/live-story.tsx';

interface TestSendProps {
  slug: string;
  /** What is on screen: a version, an unsaved draft, values. */
  request: Omit<TestSend, 'to' | 'from'>;
  opened: boolean;
  onClose: () => void;
}

export function TestSendDialog({ slug, request, opened, onClose }: TestSendProps) {
  const { user, service } = useMe();
  const send = useAction('testSend', { changes: ['searchMessages'] });
  const close = () => {
    onClose();
    send.reset();
  };
  return (
    <Modal opened={opened} onClose={close} title="Test send" size="lg">
      {send.data ? (
        <Stack>
          <LiveStory id={send.data.id} subject="Your test" />
          <Group justify="space-between">
            <Link to="/messages/$id" params={{ id: send.data.id }} className="plain-link">
              Everything about this mail
            </Link>
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const from = String(form.get('from')).trim();
            send.mutate({
              params: { slug },
              body: { ...request, to: String(form.get('to')).trim(), ...(from ? { from } : {}) },
            });
          }}
        >
          <Stack>
            {send.error && (
              <Alert color="red" role="alert">
                {send.error.message}
              </Alert>
            )}
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
              description="Empty: your first verified sender"
            />
            <Group justify="flex-end">
              <Button type="submit" loading={send.isPending}>
                Send
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}
