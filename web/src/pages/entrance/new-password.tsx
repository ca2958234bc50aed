// The link that was mailed leads here: choose a new password, and be signed in with it.
import { Button, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction, useApi } from '../../api.ts';
import { useEnter } from '../../shell/menus.tsx';
import { Entrance, PASSWORD_RULE, tokenOfLink } from './entrance.tsx';

const TITLE = 'Choose a new password';

export function NewPasswordPage() {
  const [token] = useState(tokenOfLink);
  const enter = useEnter();
  const navigate = useNavigate();
  const reset = useApi('showReset', { body: { token } });
  const finish = useAction('resetPassword', {
    onDone: (me) => {
      enter(me);
      void navigate({ to: '/' });
    },
  });
  if (reset.isError) {
    return (
      <Entrance title={TITLE} fault={reset.error}>
        <Text size="sm">
          <Link to="/forgot-password" className="plain-link">
            Ask for a new link
          </Link>
        </Text>
      </Entrance>
    );
  }
  if (!reset.data) {
    return (
      <Entrance title={TITLE}>
        <Skeleton height={200} />
      </Entrance>
    );
  }
  return (
    <Entrance
      title={TITLE}
      lead="You are signed in with it at once, and signed out everywhere else."
      fault={finish.error}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          finish.mutate({ body: { token, password: String(form.get('password')) } });
        }}
      >
        <Stack>
          <TextInput label="E-mail" value={reset.data.email} readOnly autoComplete="username" />
          <PasswordInput
            label="New password"
            description="At least 10 characters"
            name="password"
            autoComplete="new-password"
            required
            withAsterisk={false}
            data-autofocus
            {...PASSWORD_RULE}
          />
          <Button type="submit" size="md" fullWidth loading={finish.isPending}>
            Set the password
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
