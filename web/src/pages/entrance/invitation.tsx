// An invitation: whoever has the link chooses a password (or enters theirs) and joins the account.
import { Button, PasswordInput, Skeleton, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction, useApi } from '../../api.ts';
import { useEnter } from '../../enter.ts';
import { Form } from '../../parts/form.tsx';
import { SecondFactor, useEntered } from '../../parts/second-factor.tsx';
import { AfterFault, Entrance, NameField, NewPasswordField, tokenOfLink } from './entrance.tsx';

export function InvitationPage() {
  const [token] = useState(tokenOfLink);
  const enter = useEnter();
  const navigate = useNavigate();
  const invitation = useApi('showInvitation', { body: { token } });
  const step = useEntered((me) => {
    enter(me);
    void navigate({ to: '/' });
  });
  const accept = useAction('acceptInvitation', { onDone: step.entered });
  if (step.need) {
    return (
      <Entrance title="One more step" lead="Your password is correct.">
        <SecondFactor {...step} need={step.need} />
      </Entrance>
    );
  }
  if (invitation.isError) {
    return (
      <Entrance title="Invitation" fault={invitation.error}>
        <AfterFault asked={invitation}>
          <Text size="sm">Ask the person who invited you for a new link.</Text>
        </AfterFault>
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
      <Form
        onSend={(field) => {
          accept.mutate({
            body: {
              token,
              password: field('password'),
              ...(known ? {} : { name: field('name') }),
            },
          });
        }}
      >
        <TextInput label="Email" value={email} readOnly autoComplete="username" />
        {!known && <NameField />}
        {known ? (
          <PasswordInput
            label="Password"
            description="The one you sign in with"
            name="password"
            autoComplete="current-password"
            required
            withAsterisk={false}
          />
        ) : (
          <NewPasswordField label="Password" />
        )}
        <Button type="submit" size="md" fullWidth loading={accept.isPending}>
          Join
        </Button>
      </Form>
    </Entrance>
  );
}
