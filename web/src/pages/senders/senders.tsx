// Senders: whom this account may send as. Domains with the DNS records that verify them, and single
// addresses.
import { Button, Stack, TextInput } from '@mantine/core';
import { useChange, useRows } from '../../operations.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { ActionForm } from '../../parts/form.tsx';
import { PlusIcon, SendersIcon } from '../../parts/icons.tsx';
import { List } from '../../parts/list.tsx';
import { LoadingRows, Page, Section } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { useMay } from '../../session.ts';
import { AddressTable, tellAsked } from './addresses.tsx';
import { DomainCard } from './domain.tsx';

export function SendersPage() {
  const domains = useDomains();
  return (
    <Page title="Senders" lead="You can send only from verified domains and addresses.">
      <Domains domains={domains} />
      {/* After the domains, so that nothing jumps when they are loaded. */}
      {!domains.isPending && <Addresses />}
    </Page>
  );
}

const useDomains = () => useRows('domains.list', {}, { watched: true });

function Domains({ domains }: { domains: ReturnType<typeof useDomains> }) {
  const may = useMay('developer');
  const [adding, dialog] = useDialogInAddress('domain', may);
  const add = may && (
    <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
      Add a domain
    </Button>
  );
  return (
    <Section
      title="Domains"
      lead="Any address at a verified domain can send, signed with the domain's own keys."
      actions={domains.rows.length > 0 && add}
    >
      <List
        asked={domains}
        rows={domains.rows}
        empty={{
          icon: <SendersIcon />,
          title: 'No domain yet',
          children:
            'Add yours and publish a few DNS records, and your emails are signed and trusted.',
          action: add,
        }}
      >
        {(rows) => (
          <Stack>
            {rows.map((domain) => (
              <DomainCard key={domain.domain} domain={domain} />
            ))}
          </Stack>
        )}
      </List>
      <AddDomain opened={adding} onClose={dialog.close} />
    </Section>
  );
}

function Addresses() {
  const may = useMay('developer');
  const addresses = useRows('addresses.list', {}, { watched: true });
  const [adding, dialog] = useDialogInAddress('address', may);
  const add = may && (
    <Button variant="default" leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
      Add an address
    </Button>
  );
  return (
    <Section
      title="Addresses"
      lead="A single address, verified by an emailed link."
      actions={addresses.rows.length > 0 && add}
    >
      <List
        asked={addresses}
        rows={addresses.rows}
        loading={<LoadingRows rows={2} />}
        empty={{
          title: 'No single addresses',
          children: 'Useful for a first try without changing DNS.',
          action: add,
        }}
      >
        {(rows) => <AddressTable addresses={rows} />}
      </List>
      <AddAddress opened={adding} onClose={dialog.close} />
    </Section>
  );
}

interface DialogProps {
  opened: boolean;
  onClose: () => void;
}

function AddDomain({ opened, onClose }: DialogProps) {
  const add = useChange('domains.put', {
    changes: ['domains.list'],
    onDone: ({ domain }) => {
      onClose();
      tellDone(`${domain} was added. Now publish its records.`);
    },
  });
  return (
    <Dialog opened={opened} onClose={onClose} title="Add a domain">
      <ActionForm
        action={add}
        act="Add"
        onSend={(field) => {
          add.mutate({ domain: field('domain').trim() });
        }}
      >
        <TextInput
          label="Domain"
          name="domain"
          placeholder="mail.example.com"
          description="The part after the @ of your senders"
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Dialog>
  );
}

function AddAddress({ opened, onClose }: DialogProps) {
  const add = useChange('addresses.put', {
    changes: ['addresses.list'],
    onDone: (asked) => {
      onClose();
      tellAsked(asked);
    },
  });
  return (
    <Dialog opened={opened} onClose={onClose} title="Add an address">
      <ActionForm
        action={add}
        act="Email the link"
        onSend={(field) => {
          add.mutate({ address: field('address').trim() });
        }}
      >
        <TextInput
          label="Address"
          name="address"
          type="email"
          description="We email it a link. Opening the link proves that the address is yours"
          placeholder="hello@example.com"
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Dialog>
  );
}
