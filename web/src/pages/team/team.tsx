// Team: who belongs to this account, with which role, and who was invited.
import {
  ActionIcon,
  Avatar,
  Button,
  Group,
  Modal,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Invitation, Member } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ActionForm } from '../../parts/form.tsx';
import { CrossIcon, PlusIcon } from '../../parts/icons.tsx';
import { LoadingRows, Page, Section, TableBox } from '../../parts/page.tsx';
import { tellDone, tellFault } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { useMay } from '../../session.ts';

type Role = Member['role'];

const roles: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'Viewer' },
  { value: 'developer', label: 'Developer' },
  { value: 'owner', label: 'Owner' },
];
const meaning: Record<Role, string> = {
  viewer: 'sees everything, changes nothing',
  developer: 'sends, edits templates, keys, senders and webhooks',
  owner: 'also manages the team and the account',
};

export function TeamPage() {
  const owner = useMay('owner');
  const team = useRead('team.list', {});
  const invited = useRead('team.listInvitations', {});
  const invitations = invited.data?.data ?? [];
  const [inviting, dialog] = useDisclosure();
  return (
    <Page
      title="Team"
      lead="The people of this account."
      actions={
        owner && (
          <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
            Invite
          </Button>
        )
      }
    >
      {invited.isError && <Fault fault={invited.error} retry={invited.refetch} />}
      {team.isError && <Fault fault={team.error} retry={team.refetch} />}
      {team.isPending && <LoadingRows rows={3} />}
      {team.data && (
        <>
          <Section title="Members">
            <TableBox label="Members">
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Who</Table.Th>
                    <Table.Th>Role</Table.Th>
                    <Table.Th>Last seen</Table.Th>
                    <Table.Th>Joined</Table.Th>
                    <Table.Th aria-label="Actions" />
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {team.data.data.map((member) => (
                    <MemberLine key={member.id} member={member} />
                  ))}
                </Table.Tbody>
              </Table>
            </TableBox>
          </Section>
          {invitations.length > 0 && (
            <Section title="Invited">
              <TableBox label="Invitations">
                <Table>
                  <Table.Tbody>
                    {invitations.map((invitation) => (
                      <InvitationLine key={invitation.id} invitation={invitation} />
                    ))}
                  </Table.Tbody>
                </Table>
              </TableBox>
            </Section>
          )}
        </>
      )}
      <InviteDialog opened={inviting} onClose={dialog.close} />
    </Page>
  );
}

function MemberLine({ member }: { member: Member }) {
  const owner = useMay('owner');
  const confirm = useConfirm();
  const change = useChange('team.update', {
    changes: ['team.list'],
    onDone: () => tellDone('The role was changed'),
  });
  const remove = useChange('team.remove', {
    changes: ['team.list'],
    onDone: () => tellDone(`${member.name} was removed`),
  });
  const name = member.name || member.email;
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="sm" wrap="nowrap">
          <Avatar size={32} radius="xl" color="martin" name={name} />
          <div>
            <Text size="sm" fw={500}>
              {name}
              {member.you && (
                <Text span c="dimmed" size="sm">
                  {' '}
                  (you)
                </Text>
              )}
            </Text>
            <Text size="xs" c="dimmed">
              {member.email}
              {member.operator && ' · operator'}
            </Text>
          </div>
        </Group>
      </Table.Td>
      <Table.Td data-label="Role">
        {owner && !member.you ? (
          <Select
            size="xs"
            w={130}
            aria-label={`Role of ${name}`}
            data={roles}
            value={member.role}
            onChange={(role) =>
              change.mutate({ id: member.id, role: role as Role }, { onError: tellFault })
            }
          />
        ) : (
          capital(member.role)
        )}
      </Table.Td>
      <Table.Td data-label="Last seen">
        {member.last_seen_at ? <Time at={member.last_seen_at} /> : 'Never'}
      </Table.Td>
      <Table.Td data-label="Joined">
        <Time at={member.joined_at} />
      </Table.Td>
      <Table.Td className="to-the-right">
        {owner && !member.you && (
          <Tooltip label="Remove">
            <ActionIcon
              aria-label={`Remove ${name}`}
              onClick={async () => {
                const yes = await confirm({
                  title: `Remove ${name}?`,
                  body: 'They are signed out of this account at once. Keys they made stay.',
                  act: 'Remove',
                });
                if (yes) remove.mutate({ id: member.id }, { onError: tellFault });
              }}
            >
              <CrossIcon size={16} />
            </ActionIcon>
          </Tooltip>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function InvitationLine({ invitation }: { invitation: Invitation }) {
  const owner = useMay('owner');
  const confirm = useConfirm();
  const withdraw = useChange('team.withdrawInvitation', {
    changes: ['team.listInvitations'],
    onDone: () => tellDone('The invitation was withdrawn'),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{invitation.email}</Table.Td>
      <Table.Td>{capital(invitation.role)}</Table.Td>
      <Table.Td c="dimmed">
        by {invitation.invited_by}, ends <Time at={invitation.expires_at} />
      </Table.Td>
      <Table.Td className="to-the-right">
        {owner && (
          <Button
            size="compact-sm"
            variant="default"
            loading={withdraw.isPending}
            onClick={async () => {
              const yes = await confirm({
                title: 'Withdraw the invitation?',
                body: `The link that ${invitation.email} got stops working.`,
                act: 'Withdraw',
              });
              if (yes) withdraw.mutate({ id: invitation.id }, { onError: tellFault });
            }}
          >
            Withdraw
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function InviteDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [role, setRole] = useState<Role>('developer');
  const invite = useChange('team.invite', { changes: ['team.listInvitations'] });
  const close = () => {
    onClose();
    invite.reset();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={invite.data ? 'Invited' : 'Invite somebody'}
      size="lg"
      closeOnClickOutside={!invite.data}
    >
      {invite.data ? (
        <Stack>
          <Text size="sm">
            A mail with the link went to {invite.data.email}. Only they get to see it; it works
            once, for a week.
            {invite.data.captured &&
              ' This service has no relay yet: an operator finds the mail in the sandbox.'}
          </Text>
          <Group justify="flex-end">
            <Button onClick={close}>Done</Button>
          </Group>
        </Stack>
      ) : (
        <ActionForm
          action={invite}
          act="Invite"
          onSend={(field) => {
            invite.mutate({ email: field('email').trim(), role });
          }}
        >
          <TextInput
            label="E-mail"
            name="email"
            type="email"
            required
            withAsterisk={false}
            data-autofocus
          />
          <Select
            label="Role"
            data={roles}
            value={role}
            onChange={(value) => setRole(value as Role)}
            description={`A ${role} ${meaning[role]}`}
          />
        </ActionForm>
      )}
    </Modal>
  );
}
