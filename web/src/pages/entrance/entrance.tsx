// The card that holds sign-in, first set-up and invitations.
import {
  Alert,
  Box,
  Button,
  Center,
  Paper,
  PasswordInput,
  type PasswordInputProps,
  Stack,
  Text,
  TextInput,
  type TextInputProps,
  Title,
} from '@mantine/core';
import { type ReactNode, useEffect } from 'react';
import { SandmartinError } from '../../../../src/client/calls.ts';
import { Mark } from '../../parts/mark.tsx';

interface EntranceProps {
  title: string;
  lead?: ReactNode;
  fault?: Error | null;
  children: ReactNode;
}

export function Entrance({ title, lead, fault, children }: EntranceProps) {
  useEffect(() => {
    document.title = `${title} · Sandmartin`;
    document.querySelector<HTMLElement>('[data-autofocus]')?.focus();
  }, [title]);
  return (
    <Center component="main" className="entrance" mih="100vh" p="md">
      <Box w="100%" maw={420}>
        <Stack align="center" gap="md" mb="xl" ta="center">
          <Mark size={44} />
          <Box>
            <Title order={1} className="page-title">
              {title}
            </Title>
            {lead && (
              <Text c="dimmed" size="sm" mt={6}>
                {lead}
              </Text>
            )}
          </Box>
        </Stack>
        <Paper p="xl">
          {fault && (
            <Alert color="red" mb="md" role="alert">
              {fault.message}
            </Alert>
          )}
          {children}
        </Paper>
      </Box>
    </Center>
  );
}

interface AfterFaultProps {
  asked: { error: Error | null; isFetching: boolean; refetch: () => unknown };
  /** What to do if the link does not work. */
  children: ReactNode;
}

/** A link that cannot be checked now may be valid: it is tried again. */
export function AfterFault({ asked: { error, isFetching, refetch }, children }: AfterFaultProps) {
  const isRefused = error instanceof SandmartinError && error.status >= 400 && error.status < 500;
  if (isRefused) return children;
  return (
    <Button fullWidth loading={isFetching} onClick={() => refetch()}>
      Try again
    </Button>
  );
}

/** What follows the # in a link: it never reaches a server's log. */
export const tokenOfLink = (): string => decodeURIComponent(window.location.hash.slice(1));

/** The address someone signs in with. */
export const EmailField = (props: TextInputProps) => (
  <TextInput
    label="Email"
    name="email"
    type="email"
    autoComplete="username"
    required
    withAsterisk={false}
    {...props}
  />
);

/** The name someone wants to be called by. */
export const NameField = () => (
  <TextInput label="Your name" name="name" autoComplete="name" required withAsterisk={false} />
);

/** A password that is being chosen. */
export const NewPasswordField = (props: PasswordInputProps) => (
  <PasswordInput
    description="At least 10 characters"
    name="password"
    autoComplete="new-password"
    required
    withAsterisk={false}
    minLength={10}
    maxLength={200}
    {...props}
  />
);
