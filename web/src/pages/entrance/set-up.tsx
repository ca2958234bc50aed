// First run: the owner of the service sets a name and a password. The link with the token was
// printed where it was started.
import { Button, Code, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAction } from '../../api.ts';
import { Form } from '../../parts/form.tsx';
import { useEnter } from '../../shell/menus.tsx';
import { EmailField, Entrance, NameField, NewPasswordField, tokenOfLink } from './entrance.tsx';

export function SetUpPage() {
  const [token] = useState(tokenOfLink);
  const setUp = useAction('setUp', { onDone: useEnter() });
  if (token === '') {
    return (
      <Entrance title="Set up Sandmartin">
        <Text size="sm">
          Nobody can sign in yet. The service printed a link when it started, to be used once: open
          that one. It looks like <Code>{`${window.location.origin}/setup#…`}</Code>
        </Text>
      </Entrance>
    );
  }
  return (
    <Entrance
      title="Set up Sandmartin"
      lead="You will be the owner of the first account and the operator of this service."
      fault={setUp.error}
    >
      <Form
        onSend={(field) => {
          setUp.mutate({
            body: {
              token,
              name: field('name'),
              accountName: field('accountName'),
              email: field('email'),
              password: field('password'),
            },
          });
        }}
      >
        <NameField />
        <TextInput
          label="Account"
          description="Your company or product, as your team will see it"
          name="accountName"
          autoComplete="organization"
          required
          withAsterisk={false}
        />
        <EmailField />
        <NewPasswordField label="Password" />
        <Button type="submit" size="md" fullWidth loading={setUp.isPending}>
          Create the account
        </Button>
      </Form>
    </Entrance>
  );
}
