// Asks which account this page is about, after another tab switched accounts or a new session began
// in another one (interruptions.tsx).
import { Button, Group, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { call, isRead, OTHER_ACCOUNT_KEY, useAction } from '../api.ts';
import { useEnter } from '../enter.ts';
import { Dialog } from '../parts/dialog.tsx';
import { tellFault } from '../parts/results.ts';
import { useMe } from '../session.ts';

export function OtherAccountDialog({ opened }: { opened: boolean }) {
  const { account } = useMe();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const enter = useEnter();
  const goOn = useAction('switchAccount', {
    onDone: () => {
      queries.setQueryData(OTHER_ACCOUNT_KEY, false);
      void queries.invalidateQueries({ predicate: isRead });
    },
  });
  const leave = async () => {
    const { me } = await call('getSession');
    queries.setQueryData(OTHER_ACCOUNT_KEY, false);
    if (me === null) return;
    enter(me);
    void navigate({ to: '/', ignoreBlocker: true });
  };
  if (account === null) return null;
  return (
    <Dialog
      opened={opened}
      onClose={() => undefined}
      // Over a dialog of the page, which may be open.
      zIndex={300}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="You are in another account now"
    >
      <Text size="sm" mb="md">
        This page is about <b>{account.name}</b>. Nothing was changed, and what you have written is
        still here.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={() => void leave().catch(tellFault)}>
          Leave this page
        </Button>
        <Button
          loading={goOn.isPending}
          data-autofocus
          onClick={() => goOn.mutate({ body: { accountId: account.id } }, { onError: tellFault })}
        >
          Continue in {account.name}
        </Button>
      </Group>
    </Dialog>
  );
}
