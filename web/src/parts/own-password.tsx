// The password of the signed-in person, asked for once more.
import { PasswordInput } from '@mantine/core';

export function OwnPassword({ email }: { email: string }) {
  return (
    <>
      {/* Tells password managers whose it is. */}
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
