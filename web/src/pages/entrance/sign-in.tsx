// Sign in with email and password, or with a passkey. The route's guard sends people who are
// already signed in to where they wanted to go.
import { Button, PasswordInput, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../api.ts';
import { useEnter } from '../../enter.ts';
import { Form } from '../../parts/form.tsx';
import { SecondFactor, useEntered, usePasskeySignIn } from '../../parts/second-factor.tsx';
import { passkeysWork } from '../../passkeys.ts';
import { EmailField, Entrance } from './entrance.tsx';

export function SignInPage() {
  const step = useEntered(useEnter());
  const signIn = useAction('signIn', { onDone: step.entered });
  const show = usePasskeySignIn(step.enter);
  if (step.need) {
    return (
      <Entrance title="One more step" lead="Your password is correct.">
        <SecondFactor {...step} need={step.need} />
      </Entrance>
    );
  }
  return (
    <Entrance title="Sign in" lead="Welcome back." fault={show.error ?? signIn.error}>
      <Form
        onSend={(field) => {
          signIn.mutate({
            body: { email: field('email'), password: field('password') },
          });
        }}
      >
        <EmailField data-autofocus />
        <PasswordInput
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          withAsterisk={false}
        />
        <Button type="submit" size="md" fullWidth loading={signIn.isPending}>
          Sign in
        </Button>
        {passkeysWork() && (
          <Button
            variant="default"
            size="md"
            fullWidth
            loading={show.isPending}
            onClick={() => show.mutate()}
          >
            Sign in with a passkey
          </Button>
        )}
        <Text size="sm" ta="center">
          <Link to="/forgot-password" className="plain-link">
            Forgot your password?
          </Link>
        </Text>
      </Form>
    </Entrance>
  );
}
