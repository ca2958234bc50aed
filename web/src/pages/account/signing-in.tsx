// How people in the account must sign in: whether a password alone is enough.
import { Paper, Switch } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import type { SessionState } from '../../../../src/dashboard/views/session.ts';
import { SESSION_KEY, useAction } from '../../api.ts';
import { Section } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { useMay, useMe } from '../../session.ts';
import { ProofProvider, useProof } from '../profile/proof.tsx';

export function SigningIn() {
  return (
    <Section title="Signing in">
      <ProofProvider>
        <Paper p="lg">
          <RequireFactor />
        </Paper>
      </ProofProvider>
    </Section>
  );
}

function RequireFactor() {
  const owner = useMay('owner');
  const { account } = useMe();
  const queries = useQueryClient();
  const prove = useProof();
  const change = useAction('requireFactor', {
    onDone: (me) => {
      queries.setQueryData<SessionState>(SESSION_KEY, { state: 'signed-in', me });
      tellDone('Saved');
    },
  });
  const set = async (required: boolean) => {
    if (await prove()) change.mutate({ body: { required } }, { onError: tellFault });
  };
  return (
    <Switch
      label="Require a second factor for everyone"
      description="People without one must set it up before they can continue. API keys are not affected."
      checked={account?.secondFactorRequired ?? false}
      disabled={!owner || change.isPending}
      onChange={(event) => void set(event.currentTarget.checked).catch(tellFault)}
    />
  );
}
