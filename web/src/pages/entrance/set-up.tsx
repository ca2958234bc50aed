// First run: the owner of the service sets a name and a password. The service printed the link with
// the token when it started.
import { Button, Code, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useAction } from '../../api.ts';
import { useEnter } from '../../enter.ts';
import { Form } from '../../parts/form.tsx';
import { EmailField, Entrance, NameField, NewPasswordField, tokenOfLink } from './entrance.tsx';

export function SetUpPage() {
  const [token] = useState(tokenOfLink);
  const setUp = useAction('setUp', { onDone: useEnter() });
  if (token === '') {
    return (
      <Entrance title="Set up Sandmartin">
        <Text size="sm">
          Nobody can sign in yet. The service printed a one-time link when it started: open that
          link. It looks like <Code>{`${document.baseURI}setup#…`}</Code>
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
