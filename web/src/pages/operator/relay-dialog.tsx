// The dialog for a relay: a new one, which is tested before it is saved, or changes to an existing
// one.
import {
  Group,
  NumberInput,
  PasswordInput,
  Switch,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { Relay } from '../../../../src/client/operations.ts';
import { readRule, ruleInWords } from '../../../../src/relays/rule-words.ts';
import { useChange } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { tellDone } from '../../parts/results.ts';

interface RelayDialogProps {
  /** Undefined: closed. Null: a new one. */
  relay: Relay | null | undefined;
  onClose: () => void;
}

export function RelayDialog({ relay, onClose }: RelayDialogProps) {
  return (
    <Dialog
      opened={relay !== undefined}
      onClose={onClose}
      title={relay ? relay.name : 'Add a relay'}
      size="lg"
    >
      {relay !== undefined && <RelayForm relay={relay} onClose={onClose} />}
    </Dialog>
  );
}

function RelayForm({ relay, onClose }: { relay: Relay | null; onClose: () => void }) {
  const [untested, setUntested] = useState(false);
  const [fault, setFault] = useState<Error | null>(null);
  const done = {
    changes: ['relays.list' as const],
    onDone: ({ name }: Relay) => {
      onClose();
      tellDone(`${name} is saved. It will be used within seconds.`);
    },
  };
  const add = useChange('relays.add', done);
  const update = useChange('relays.update', done);
  const action = relay ? update : add;

  function send(field: (name: string) => string): void {
    setFault(null);
    try {
      const settings = settingsOf(field);
      const url = field('url').trim();
      if (relay === null) add.mutate({ name: field('name').trim(), url, untested, ...settings });
      else {
        const address = url === '' ? {} : { url, untested };
        update.mutate({ name: relay.name, ...address, ...settings });
      }
    } catch (error) {
      setFault(error as Error);
    }
  }
  const { error, isPending } = action;
  return (
    <ActionForm
      action={{ error: fault ?? error, isPending }}
      act={relay ? 'Save' : 'Test and add'}
      onSend={send}
    >
      {relay === null && (
        <TextInput
          label="Name"
          name="name"
          description="Lowercase letters, digits and hyphens, such as ses-eu"
          required
          withAsterisk={false}
          data-autofocus
        />
      )}
      {!relay?.from_settings && (
        <PasswordInput
          label="Address"
          name="url"
          description={
            relay
              ? `Now ${relay.url}. Leave it empty to keep it`
              : 'smtp://user:password@host:587, or smtps:// for TLS from the first byte'
          }
          required={relay === null}
          withAsterisk={false}
          autoComplete="off"
        />
      )}
      {!relay?.from_settings && (
        <Switch
          label="Save it even though the relay cannot be reached now"
          checked={untested}
          onChange={(event) => setUntested(event.currentTarget.checked)}
        />
      )}
      <Group grow align="flex-start">
        <NumberInput
          label="Weight"
          name="weight"
          min={0}
          description="0: only by rule, or as a last resort"
          defaultValue={relay?.weight ?? 1}
        />
        <NumberInput
          label="Connections"
          name="connections"
          min={1}
          description="Per delivery process"
          defaultValue={relay?.connections ?? ''}
        />
      </Group>
      <Group grow align="flex-start">
        <NumberInput
          label="Emails per second"
          name="rate"
          min={1}
          description="Leave it empty for no limit"
          defaultValue={relay?.rate_per_second ?? ''}
        />
        <NumberInput
          label="Emails per day"
          name="daily"
          min={1}
          description="Leave it empty for no limit"
          defaultValue={relay?.daily_limit ?? ''}
        />
      </Group>
      <Textarea
        label="For"
        name="rules"
        description="One rule per line: from=, stream=, account=, tag= or to=, separated by commas. Leave it empty for any email"
        placeholder="account=4,stream=product-news"
        defaultValue={relay?.rules.map(ruleInWords).join('\n') ?? ''}
      />
      <Text size="xs" c="dimmed">
        The password is encrypted and never shown again.
      </Text>
    </ActionForm>
  );
}

function settingsOf(field: (name: string) => string) {
  const limit = (name: string) => {
    const text = field(name).replaceAll(',', '');
    return text === '' ? null : Number(text);
  };
  return {
    weight: limit('weight') ?? 1,
    connections: limit('connections'),
    rate_per_second: limit('rate'),
    daily_limit: limit('daily'),
    rules: field('rules')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map(readRule),
  };
}
