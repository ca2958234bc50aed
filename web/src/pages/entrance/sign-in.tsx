// Sign in with e-mail and password. The guard of the route sends whoever is in already to where they wanted to go.
import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useAction } from '../../api.ts';
import { useEnter } from '../../shell/menus.tsx';
import { Entrance } from './entrance.tsx';

export function SignInPage() {
  const signIn = useAction('signIn', { onDone: useEnter() });
  return (
    <Entrance title="Sign in" lead="Welcome back." fault={signIn.error}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          signIn.mutate({
            body: { email: String(form.get('email')), password: String(form.get('password')) },
          });
        }}
      >
        <Stack>
          <TextInput
            label="E-mail"
            name="email"
            type="email"
            autoComplete="username"
            required
            withAsterisk={false}
            data-autofocus
          />
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
        </Stack>
      </form>
    </Entrance>
  );
}
