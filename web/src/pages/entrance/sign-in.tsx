// Sign in with e-mail and password. The guard of the route sends whoever is in already to where
// they wanted to go.
import { Button, PasswordInput, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../api.ts';
import { Form } from '../../parts/form.tsx';
import { useEnter } from '../../shell/menus.tsx';
import { EmailField, Entrance } from './entrance.tsx';

export function SignInPage() {
  const signIn = useAction('signIn', { onDone: useEnter() });
  return (
    <Entrance title="Sign in" lead="Welcome back." fault={signIn.error}>
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
        <Text size="sm" ta="center">
          <Link to="/forgot-password" className="plain-link">
            Forgot your password?
          </Link>
        </Text>
      </Form>
    </Entrance>
  );
}
