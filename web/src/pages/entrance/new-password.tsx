// The link that was emailed leads here: choose a new password, and be signed in with it.
import { Button, Skeleton, Text, TextInput } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAction, useApi } from '../../api.ts';
import { useEnter } from '../../enter.ts';
import { Form } from '../../parts/form.tsx';
import { SecondFactor, useEntered } from '../../parts/second-factor.tsx';
import { AfterFault, Entrance, NewPasswordField, tokenOfLink } from './entrance.tsx';

const TITLE = 'Choose a new password';

export function NewPasswordPage() {
  const [token] = useState(tokenOfLink);
  const enter = useEnter();
  const navigate = useNavigate();
  const reset = useApi('showReset', { body: { token } });
  const step = useEntered((me) => {
    enter(me);
    void navigate({ to: '/' });
  });
  const finish = useAction('resetPassword', { onDone: step.entered });
  if (step.need) {
    return (
      <Entrance title="One more step" lead="The new password is set.">
        <SecondFactor {...step} need={step.need} />
      </Entrance>
    );
  }
  if (reset.isError) {
    return (
      <Entrance title={TITLE} fault={reset.error}>
        <AfterFault asked={reset}>
          <Text size="sm">
            <Link to="/forgot-password" className="plain-link">
              Ask for a new link
            </Link>
          </Text>
        </AfterFault>
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
      lead="You will be signed in here and signed out everywhere else."
      fault={finish.error}
    >
      <Form
        onSend={(field) => {
          finish.mutate({ body: { token, password: field('password') } });
        }}
      >
        <TextInput label="Email" value={reset.data.email} readOnly autoComplete="username" />
        <NewPasswordField label="New password" data-autofocus />
        <Button type="submit" size="md" fullWidth loading={finish.isPending}>
          Set the password
        </Button>
      </Form>
    </Entrance>
  );
}
