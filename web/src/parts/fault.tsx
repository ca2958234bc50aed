// What a page shows when it could not be loaded, when there is no such page, and when an action
// failed.
import { Alert, Button, Center, Stack, Text, Title } from '@mantine/core';
import { type ErrorComponentProps, Link, useRouter } from '@tanstack/react-router';
import { SandmartinError } from '../../../src/client/calls.ts';
import { isInterruption } from '../api.ts';
import { RetryIcon } from './icons.tsx';

/** The service says that it does not exist, or no longer does. */
export const isAbsent = (fault: unknown): boolean =>
  fault instanceof SandmartinError && fault.status === 404;

export function Fault({ fault, retry }: { fault: unknown; retry?: () => unknown }) {
  const absent = isAbsent(fault);
  return (
    <Center py={64} px="md">
      <Stack align="center" gap="xs" maw={460} ta="center" role="alert">
        <Title order={2}>{absent ? 'Not found' : 'This could not be loaded'}</Title>
        <Text c="dimmed" size="sm">
          {fault instanceof Error ? fault.message : String(fault)}
        </Text>
        {retry && !absent && (
          <Button
            variant="default"
            mt="sm"
            leftSection={<RetryIcon size={16} />}
            onClick={() => retry()}
          >
            Try again
          </Button>
        )}
      </Stack>
    </Center>
  );
}

/** Why an action failed, beside its button. */
export function ActionFault({ fault, mt = 0 }: { fault: Error | null; mt?: number }) {
  if (fault === null || isInterruption(fault)) return null;
  return (
    <Alert color="red" role="alert" mt={mt}>
      {fault.message}
    </Alert>
  );
}

/** Reads everything the page depends on again, above all who is signed in. */
export function PageFault({ error }: ErrorComponentProps) {
  const router = useRouter();
  return <Fault fault={error} retry={() => router.invalidate()} />;
}

export function NotFound() {
  return (
    <Center py={96}>
      <Stack align="center" gap="xs">
        <Title order={1}>Nothing nests here</Title>
        <Text c="dimmed">There is no page at this address.</Text>
        <Link to="/" className="plain-link">
          Go to the overview
        </Link>
      </Stack>
    </Center>
  );
}
