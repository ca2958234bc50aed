// An invitation: whoever holds the link chooses a password (or gives theirs) and joins the account.
import { Button, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction, useApi } from '../../api.ts';
import { useEnter } from '../../shell/menus.tsx';
import { Entrance, PASSWORD_RULE, tokenOfLink } from './entrance.tsx';

export function InvitationPage() {
  const [token] = useState(tokenOfLink);
  const enter = useEnter();
  const navigate = useNavigate();
  const invitation = useApi('showInvitation', { body: { token } });
  const accept = useAction('acceptInvitation', {
    onDone: (me) => {
      enter(me);
      void navigate({ to: '/' });
    },
  });
  if (invitation.isError) {
    return (
      <Entrance title="Invitation" fault={invitation.error}>
        <Text size="sm">Ask whoever invited you for a new link.</Text>
      </Entrance>
    );
  }
  if (!invitation.data) {
    return (
      <Entrance title="Invitation">
        <Skeleton height={220} />
      </Entrance>
    );
  }
  const { accountName, invitedBy, role, email, known } = invitation.data;
  return (
    <Entrance
      title={`Join ${accountName}`}
      lead={`${invitedBy} invited ${email} as ${role}.`}
      fault={accept.error}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          accept.mutate({
            body: {
              token,
              password: String(form.get('password')),
              ...(known ? {} : { name: String(form.get('name')) }),
            },
          });
        }}
      >
        <Stack>
          <TextInput label="E-mail" value={email} readOnly autoComplete="username" />
          {!known && (
            <TextInput
              label="Your name"
              name="name"
              autoComplete="name"
              required
              withAsterisk={false}
            />
          )}
          <PasswordInput
            label="Password"
            description={known ? 'The one you sign in with' : 'At least 10 characters'}
            name="password"
            autoComplete={known ? 'current-password' : 'new-password'}
            required
            withAsterisk={false}
            {...(known ? {} : PASSWORD_RULE)}
          />
          <Button type="submit" size="md" fullWidth loading={accept.isPending}>
            Join
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
