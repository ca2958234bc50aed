// Team: who belongs to this account, with which role, and who was invited.
import {
  ActionIcon,
  Avatar,
  Button,
  Group,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import type { Invitation, Member } from '../../../../src/client/operations.ts';
import { useChange, useRead } from '../../operations.ts';
import { useConfirm } from '../../parts/confirm.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useDialogInAddress } from '../../parts/dialog-in-address.ts';
import { ActionForm } from '../../parts/form.tsx';
import { CrossIcon, PlusIcon } from '../../parts/icons.tsx';
import { List, RowTable } from '../../parts/list.tsx';
import { LoadingRows, Page, Section } from '../../parts/page.tsx';
import { tellDone } from '../../parts/results.ts';
import { capital } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Tooltip } from '../../parts/tooltip.tsx';
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
  const [inviting, dialog] = useDialogInAddress('invitation', owner);
  return (
    <Page
      title="Team"
      lead="The people in this account."
      actions={
        owner && (
          <Button leftSection={<PlusIcon size={16} />} onClick={dialog.open}>
            Invite
          </Button>
        )
      }
    >
      <List asked={team} rows={team.data?.data ?? []} loading={<LoadingRows rows={3} />}>
        {(members) => (
          <Section title="Members">
            <RowTable label="Members" columns={['Who', 'Role', 'Last seen', 'Joined']} actions>
              {members.map((member) => (
                <MemberLine key={member.id} member={member} />
              ))}
            </RowTable>
          </Section>
        )}
      </List>
      {/* After the members, so that nothing jumps when they are loaded. */}
      {team.data && (
        <List asked={invited} rows={invited.data?.data ?? []} loading={null}>
          {(invitations) => (
            <Section title="Invited">
              <RowTable label="Invitations" columns={['Who', 'Role', 'Invited by', 'Ends']} actions>
                {invitations.map((invitation) => (
                  <InvitationLine key={invitation.id} invitation={invitation} />
                ))}
              </RowTable>
            </Section>
          )}
        </List>
      )}
      <InviteDialog opened={inviting} onClose={dialog.close} />
    </Page>
  );
}

function MemberLine({ member }: { member: Member }) {
  const owner = useMay('owner');
  const confirm = useConfirm();
  const change = useChange('team.update', {
    foresee: { 'team.list': (one, { id, role }) => (one.id === id ? { ...one, role } : one) },
    onDone: () => tellDone('The role was changed'),
  });
  const remove = useChange('team.remove', {
    foresee: { 'team.list': (one, { id }) => (one.id === id ? null : one) },
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
              {member.second_factor && ' · second factor'}
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
            onChange={(role) => change.mutate({ id: member.id, role: role as Role })}
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
                  body: 'They lose access to this account at once. Keys they created keep working.',
                  act: 'Remove',
                });
                if (yes) remove.mutate({ id: member.id });
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
    foresee: { 'team.listInvitations': (one, { id }) => (one.id === id ? null : one) },
    onDone: () => tellDone('The invitation was withdrawn'),
  });
  return (
    <Table.Tr>
      <Table.Td fw={500}>{invitation.email}</Table.Td>
      <Table.Td data-label="Role">{capital(invitation.role)}</Table.Td>
      <Table.Td data-label="Invited by">{invitation.invited_by}</Table.Td>
      <Table.Td data-label="Ends">
        <Time at={invitation.expires_at} />
      </Table.Td>
      <Table.Td className="to-the-right">
        {owner && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={async () => {
              const yes = await confirm({
                title: 'Withdraw the invitation?',
                body: `The link that ${invitation.email} got stops working.`,
                act: 'Withdraw',
              });
              if (yes) withdraw.mutate({ id: invitation.id });
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
    <Dialog
      opened={opened}
      onClose={close}
      title={invite.data ? 'Invited' : 'Invite someone'}
      size="lg"
      closeOnClickOutside={!invite.data}
      closeOnEscape={!invite.data}
    >
      {invite.data ? (
        <Stack>
          <Text size="sm">
            An email with the link went to {invite.data.email}. Only they get to see it; it works
            once, for a week.
            {invite.data.captured &&
              ' This service has no relay yet: an operator can find the email in the sandbox.'}
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
            label="Email"
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
    </Dialog>
  );
}
