// Someone who forgot their password asks for a link. The answer never reveals whether the address
// has a login.
import { Button, Code, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../api.ts';
import { Form } from '../../parts/form.tsx';
import { EmailField, Entrance } from './entrance.tsx';

const backToSignIn = (
  <Text size="sm" ta="center">
    <Link to="/sign-in" className="plain-link">
      Back to sign-in
    </Link>
  </Text>
);

export function ForgotPasswordPage() {
  const ask = useAction('askForReset');
  if (ask.isSuccess) {
    return (
      <Entrance title="Check your email" lead={ask.variables.body.email}>
        <Stack>
          <Text size="sm" role="status">
            If this address has a login here, a password reset link is on its way. It works once,
            for an hour.
          </Text>
          {ask.data.captured && (
            <Text size="sm" c="dimmed">
              This service has no relay, so the email was captured:{' '}
              <Code>npx sandmartin sandbox list</Code> shows it.
            </Text>
          )}
          <Text size="sm" c="dimmed">
            Nothing there? The operator of the service can set a password:{' '}
            <Code>npx sandmartin user password</Code>
          </Text>
          {backToSignIn}
        </Stack>
      </Entrance>
    );
  }
  return (
    <Entrance
      title="Forgot your password?"
      lead="We will email you a link to choose a new one."
      fault={ask.error}
    >
      <Form
        onSend={(field) => {
          ask.mutate({ body: { email: field('email').trim() } });
        }}
      >
        <EmailField data-autofocus />
        <Button type="submit" size="md" fullWidth loading={ask.isPending}>
          Email me the link
        </Button>
        {backToSignIn}
      </Form>
    </Entrance>
  );
}
