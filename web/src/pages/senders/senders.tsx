// Senders: who this account may send as. Domains with the DNS records that prove them, and single
// addresses.
import { Button, Modal, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useChange, useRows } from '../../operations.ts';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { PlusIcon, SendersIcon } from '../../parts/icons.tsx';
import { Empty, LoadingRows, Page, Section, ShowMore } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { useMay } from '../../session.ts';
import { AddressTable, tellAsked } from './addresses.tsx';
import { DomainCard } from './domain.tsx';

export function SendersPage() {
  const domains = useDomains();
  return (
    <Page title="Senders" lead="Mail goes out from verified domains and addresses only.">
      <Domains pages={domains} />
      {/* After the domains, so that nothing jumps when they come. */}
      {!domains.isPending && <Addresses />}
    </Page>
  );
}

const useDomains = () => useRows('domains.list', {}, { watched: true });

function Domains({ pages }: { pages: ReturnType<typeof useDomains> }) {
  const may = useMay('developer');
  const [adding, dialog] = useDisclosure();
  const domains = pages.data?.pages.flatMap((page) => page.data) ?? [];
  const add = may && (
    <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
      Add a domain
    </Button>
  );
  return (
    <Section
      title="Domains"
      lead="Any address at a verified domain may send, signed with the domain's own keys."
      actions={domains.length > 0 && add}
    >
      {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
      {pages.isPending && <LoadingRows />}
      {pages.isSuccess && domains.length === 0 && (
        <Empty icon={<SendersIcon />} title="No domain yet" action={add}>
          Add yours, put a few records into its DNS, and mail from it is signed and trusted.
        </Empty>
      )}
      <Stack>
        {domains.map((domain) => (
          <DomainCard key={domain.domain} domain={domain} />
        ))}
      </Stack>
      <ShowMore pages={pages} />
      <AddDomain opened={adding} onClose={dialog.close} />
    </Section>
  );
}

function Addresses() {
  const may = useMay('developer');
  const pages = useRows('addresses.list', {}, { watched: true });
  const [adding, dialog] = useDisclosure();
  const addresses = pages.data?.pages.flatMap((page) => page.data) ?? [];
  const add = may && (
    <Button variant="default" leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
      Add an address
    </Button>
  );
  return (
    <Section
      title="Addresses"
      lead="One address, proved by a link that is mailed to it."
      actions={addresses.length > 0 && add}
    >
      {pages.isError && <Fault fault={pages.error} retry={pages.refetch} />}
      {pages.isPending && <LoadingRows rows={2} />}
      {pages.isSuccess && addresses.length === 0 && (
        <Empty title="No single addresses" action={add}>
          Good for a first try without touching DNS.
        </Empty>
      )}
      {addresses.length > 0 && <AddressTable addresses={addresses} />}
      <ShowMore pages={pages} />
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
      tellDone(`${domain} was added. Now its records.`);
    },
  });
  return (
    <Modal opened={opened} onClose={onClose} title="Add a domain">
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
    </Modal>
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
    <Modal opened={opened} onClose={onClose} title="Add an address">
      <ActionForm
        action={add}
        act="Mail the link"
        onSend={(field) => {
          add.mutate({ address: field('address').trim() });
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
