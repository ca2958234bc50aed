// The password of the one who is signed in, asked for once more.
import { PasswordInput } from '@mantine/core';

export function OwnPassword({ email }: { email: string }) {
  return (
    <>
      {/* By which password managers know whose it is. */}
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus
      />
    </>
  );
}
