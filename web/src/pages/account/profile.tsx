// The signed-in user: password, and signing out elsewhere.
import { Alert, Button, Group, Paper, PasswordInput, Stack, Text } from '@mantine/core';
import { useRef } from 'react';
import { useAction } from '../../api.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { useMe } from '../../session.ts';
import { NewPasswordField } from '../entrance/entrance.tsx';

export function ProfilePage() {
  const { user } = useMe();
  return (
    <Page title="Profile" lead={`${user.name} · ${user.email}`}>
      <Section title="Password">
        <PasswordForm email={user.email} />
      </Section>
      <Section title="Sessions">
        <Elsewhere />
      </Section>
    </Page>
  );
}

function PasswordForm({ email }: { email: string }) {
  const form = useRef<HTMLFormElement>(null);
  const change = useAction('changePassword', {
    onDone: () => {
      form.current?.reset();
      tellDone('The password was changed');
    },
  });
  return (
    <Paper p="lg" maw={460}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          const data = new FormData(event.currentTarget);
          change.mutate({
            body: { current: String(data.get('current')), password: String(data.get('password')) },
          });
        }}
      >
        <Stack>
          {change.error && (
            <Alert color="red" role="alert">
              {change.error.message}
            </Alert>
          )}
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
          <PasswordInput
            label="Current password"
            name="current"
            autoComplete="current-password"
            required
            withAsterisk={false}
          />
          <NewPasswordField label="New password" />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change the password
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

function Elsewhere() {
  const confirm = useConfirm();
  const end = useAction('signOutOthers', {
    onDone: ({ ended }) =>
      tellDone(ended === 1 ? 'One other session was ended' : `${ended} other sessions were ended`),
  });
  return (
    <Paper p="lg" maw={460}>
      <Text size="sm" mb="md">
        Lost a device, or used somebody else's? End every session but this one.
      </Text>
      <Button
        variant="default"
        loading={end.isPending}
        onClick={async () => {
          const yes = await confirm({
            title: 'Sign out everywhere else?',
            body: 'Your other browsers and devices must sign in again.',
            act: 'Sign out',
          });
          if (yes) end.mutate({}, { onError: tellFault });
        }}
      >
        Sign out everywhere else
      </Button>
    </Paper>
  );
}
