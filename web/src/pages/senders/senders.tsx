// Senders: who this account may send as. Domains with the DNS records that prove them, and single addresses.
import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useAction, useWatched } from '../../api.ts';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { PlusIcon, SendersIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, Section } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { useMay } from '../../session.ts';
import { AddressTable, tellAsked } from './addresses.tsx';
import { DomainCard } from './domain.tsx';

export function SendersPage() {
  const may = useMay('developer');
  const senders = useWatched('listSenders');
  const [addingDomain, domainDialog] = useDisclosure();
  const [addingAddress, addressDialog] = useDisclosure();
  const addDomain = may && (
    <Button leftSection={<PlusIcon size={16} />} onClick={domainDialog.open}>
      Add a domain
    </Button>
  );
  const addAddress = may && (
    <Button variant="default" leftSection={<PlusIcon size={16} />} onClick={addressDialog.open}>
      Add an address
    </Button>
  );
  return (
    <Page title="Senders" lead="Mail goes out from verified domains and addresses only.">
      {senders.isError && <Fault fault={senders.error} retry={senders.refetch} />}
      {senders.isPending && <LoadingRows />}
      {senders.data && (
        <>
          <Section
            title="Domains"
            lead="Any address at a verified domain may send, signed with the domain's own keys."
            actions={senders.data.domains.length > 0 && addDomain}
          >
            {senders.data.domains.length === 0 ? (
              <Empty icon={<SendersIcon />} title="No domain yet" action={addDomain}>
                Add yours, put a few records into its DNS, and mail from it is signed and trusted.
              </Empty>
            ) : (
              <Stack>
                {senders.data.domains.map((domain) => (
                  <DomainCard key={domain.domain} domain={domain} />
                ))}
              </Stack>
            )}
          </Section>
          <Section
            title="Addresses"
            lead="One address, proved by a link that is mailed to it."
            actions={senders.data.addresses.length > 0 && addAddress}
          >
            {senders.data.addresses.length === 0 ? (
              <Empty title="No single addresses" action={addAddress}>
                Good for a first try without touching DNS.
              </Empty>
            ) : (
              <AddressTable addresses={senders.data.addresses} />
            )}
          </Section>
        </>
      )}
      <AddDomain opened={addingDomain} onClose={domainDialog.close} />
      <AddAddress opened={addingAddress} onClose={addressDialog.close} />
    </Page>
  );
}

interface DialogProps {
  opened: boolean;
  onClose: () => void;
}

function AddDomain({ opened, onClose }: DialogProps) {
  const add = useAction('addDomain', {
    changes: ['listSenders', 'getOverview'],
    onDone: ({ domain }) => {
      onClose();
      tellDone(`${domain} was added. Now its records.`);
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Add a domain">
      <ActionForm
        action={add}
        act="Add"
        onSend={(field) => {
          add.mutate({ body: { domain: field('domain').trim() } });
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
    </Modal>
  );
}

function AddAddress({ opened, onClose }: DialogProps) {
  const add = useAction('addAddress', {
    changes: ['listSenders', 'getOverview'],
    onDone: (asked) => {
      onClose();
      tellAsked(asked);
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Add an address">
      <ActionForm
        action={add}
        act="Mail the link"
        onSend={(field) => {
          add.mutate({ body: { address: field('address').trim() } });
        }}
      >
        <TextInput
          label="Address"
          name="address"
          type="email"
          description="We mail it a link; whoever reads it proves that it is yours"
          placeholder="hello@example.com"
          required
          withAsterisk={false}
          data-autofocus
        />
      </ActionForm>
    </Modal>
  );
}
