// The signed-in user: how they sign in, and where they are signed in.
import { Alert, Button, Group, Paper, PasswordInput, Stack } from '@mantine/core';
import { useRef } from 'react';
import { useAction } from '../../api.ts';
import { ActionFault } from '../../parts/fault.tsx';
import { WarningIcon } from '../../parts/icons.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { useMe } from '../../session.ts';
import { NewPasswordField } from '../entrance/entrance.tsx';
import { Factors } from './factors.tsx';
import { Sessions } from './sessions.tsx';

export function ProfilePage() {
  const { user, account, locked } = useMe();
  return (
    <Page title="Profile" lead={`${user.name} · ${user.email}`}>
      {locked && (
        <Alert
          color="yellow"
          icon={<WarningIcon />}
          mb="xl"
          title="One more thing before you continue"
        >
          {account?.name} requires a second factor. Add a passkey or an authenticator app below to
          continue.
        </Alert>
      )}
      <Factors />
      <Section title="Password">
        <PasswordForm email={user.email} />
      </Section>
      <Sessions />
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
    <Paper p="lg" maw={640}>
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
          <ActionFault fault={change.error} />
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
